"""What is exported once and kept, and what a page is told of it."""

import hashlib

from glassbook.live.downloads import download, exported


def written(times):
    """A function that writes a model's files, and notes each time that it does."""

    def write(folder):
        times.append(folder)
        for name in ("graph.onnx", "graph.onnx.data", "graph.onnx.gz", "tokenizer.gz"):
            (folder / name).write_bytes(b"")
        for name in ("weights.gz", "weights-2.gz"):
            (folder / name).write_bytes(name.encode())
        return {"total": 4, "parts": []}

    return write


def test_a_model_is_exported_once_for_the_same_weights(tmp_path, monkeypatch):
    monkeypatch.setenv("GLASSFORMER_CACHE", str(tmp_path))
    times = []
    packing, files = exported("small", "these", written(times))
    assert exported("small", "these", written(times)) == (packing, files)
    assert len(times) == 1
    exported("small", "others", written(times))
    assert len(times) == 2
    assert packing == {"total": 4, "parts": []}
    names = ["graph", "tokenizer", "weights", "weights-2"]
    assert sorted(files) == [f"small.{name}" for name in names]
    assert files["small.weights-2"].read_bytes() == b"weights-2.gz"
    kept = sorted(path.name for path in files["small.graph"].parent.iterdir())
    assert "graph.onnx.data" not in kept
    assert len([path for path in (tmp_path / "live").iterdir() if path.is_dir()]) == 2


def test_the_last_three_versions_are_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("GLASSFORMER_CACHE", str(tmp_path))
    exported("other", "0", written([]))
    found = [exported("small", str(n), written([]))[1]["small.graph"] for n in range(5)]
    assert [path.is_file() for path in found] == [False, False, True, True, True]
    assert len([path for path in (tmp_path / "live").iterdir() if path.is_dir()]) == 4


def test_a_page_is_told_size_and_hash(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"seven..")
    sha256 = hashlib.sha256(b"seven..").hexdigest()
    assert download("a", path) == {"name": "a", "url": "asset://a", "size": 7, "sha256": sha256}
