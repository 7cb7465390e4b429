"""The state of the world as short texts."""

import os
import sys

import pytest

from proofbook.caching import fingerprint
from tables import table


def test_what_is_installed(tmp_path):
    import numpy

    assert fingerprint.is_installed(numpy.__file__)
    assert fingerprint.is_installed(os.__file__)
    assert fingerprint.is_installed(os.path.dirname(os.__file__))
    assert fingerprint.is_installed(fingerprint.__file__)
    assert not fingerprint.is_installed(str(tmp_path / "module.py"))
    assert not fingerprint.is_installed(__file__)
    assert not fingerprint.is_installed(os.path.dirname(os.__file__) + "-not")


def test_the_environment_changes_with_python_and_not_with_modules(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    first = fingerprint.environment()
    (tmp_path / "module.py").write_text("x = 1\n")
    assert fingerprint.environment() == first
    monkeypatch.setattr(sys, "version", "3.99")
    assert fingerprint.environment() != first


def test_the_environment_changes_with_the_places_where_modules_lie(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    seen = {fingerprint.environment()}
    for name in ("a.pth", "__editable___a_finder.py"):
        for place in ("/here", "/there"):
            (tmp_path / name).write_text(place)
            seen.add(fingerprint.environment())
    monkeypatch.setenv("PYTHONPATH", "/here")
    seen.add(fingerprint.environment())
    assert len(seen) == 6


def test_the_environment_knows_what_the_processor_can_do(monkeypatch):
    first = fingerprint.environment()
    monkeypatch.setattr(fingerprint, "_processor", lambda: "flags: sse avx512f")
    assert fingerprint.environment() != first


def test_the_environment_knows_each_module_of_the_engine_however_deep_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(fingerprint, "_ENGINE", str(tmp_path))
    (tmp_path / "execution").mkdir()
    seen = {fingerprint.environment()}
    for text in ("x = 1\n", "x = 2\n"):
        (tmp_path / "execution" / "session.py").write_text(text)
        seen.add(fingerprint.environment())
    assert len(seen) == 3


def test_packages_of_an_environment_behind_this_one_are_installed_too(tmp_path, monkeypatch):
    behind = tmp_path / "behind" / "lib" / "site-packages"
    module = str(behind / "package" / "module.py")
    assert not fingerprint.is_installed(module)
    monkeypatch.setattr(sys, "path", [*sys.path, str(behind)])
    fingerprint._installed_folders.cache_clear()
    try:
        assert fingerprint.is_installed(module)
        assert not fingerprint.is_installed(str(behind.parent / "module.py"))
    finally:
        fingerprint._installed_folders.cache_clear()


def test_a_package_is_known_by_what_was_installed(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    names = ("package", "other", "native", "part", "missing")
    none = {name: [] for name in names}
    assert fingerprint.packages(names) == none
    info = tmp_path / "package-1.0.dist-info"
    info.mkdir()
    seen = []
    for digest in ("one", "two", "one"):
        (info / "RECORD").write_text(
            f"package/part.py,sha256={digest},3\nother.py,,\nnative.cpython-311.so,,\n"
            "../../bin/missing,,\npackage-1.0.dist-info/RECORD,,\n"
        )
        seen.append(fingerprint.packages(names))
    assert seen[0] == seen[2] != seen[1]
    assert [name for name, found in seen[0].items() if found] == ["native", "other", "package"]
    info.rename(tmp_path / "package-1.1.dist-info")
    assert fingerprint.packages(names) != seen[2]
    assert fingerprint.installed()["package-1.1.dist-info"]


@table("where", ["MATPLOTLIBRC", "the file", "MPLCONFIGDIR", "home", "here"])
def test_the_environment_knows_how_matplotlib_draws(tmp_path, monkeypatch, where):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("MATPLOTLIBRC", "MPLCONFIGDIR", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / {"home": ".config/matplotlib", "here": "."}.get(where, "given")
    folder.mkdir(parents=True, exist_ok=True)
    if where in ("MATPLOTLIBRC", "MPLCONFIGDIR"):
        monkeypatch.setenv(where, str(folder))
    if where == "the file":
        monkeypatch.setenv("MATPLOTLIBRC", str(folder / "matplotlibrc"))
    seen = []
    for width in (1, 2, 1):
        (folder / "matplotlibrc").write_text(f"lines.linewidth: {width}\n")
        seen.append(fingerprint.environment())
    assert seen[0] == seen[2] != seen[1]


def test_a_pattern_that_goes_down_endlessly_names_no_file(tmp_path):
    assert fingerprint.matching(str(tmp_path), "/".join("*" * 5000)) == []


@pytest.fixture
def reads(monkeypatch):
    """List the files that are read, of which none is remembered from elsewhere."""
    found = []
    read = fingerprint.content
    monkeypatch.setattr(fingerprint, "content", lambda path: found.append(path) or read(path))
    monkeypatch.setattr(fingerprint, "_remembered", {})
    return found


def test_a_file_that_was_left_alone_is_read_once(tmp_path, monkeypatch, reads):
    monkeypatch.setattr(fingerprint, "SETTLED", -1)
    file = tmp_path / "file"
    file.write_text("one")
    first, second = (fingerprint.remembered_content(str(file)) for _ in range(2))
    assert first == second == fingerprint.digest(b"one")
    assert reads == [str(file)]


def test_a_file_with_the_size_and_time_of_before_is_read_again(tmp_path, monkeypatch, reads):
    monkeypatch.setattr(fingerprint, "SETTLED", -1)
    file = tmp_path / "file"
    for text in ("one", "two"):
        file.write_text(text)
        os.utime(file, (1, 1))
        assert fingerprint.remembered_content(str(file)) == fingerprint.digest(text.encode())


def test_a_file_that_changed_a_moment_ago_is_not_remembered(tmp_path, monkeypatch, reads):
    monkeypatch.setattr(fingerprint, "SETTLED", 10**9)  # however long the test takes
    file = tmp_path / "file"
    file.write_text("one")
    state = fingerprint.signature(str(file))
    monkeypatch.setattr(fingerprint, "signature", lambda _: state)  # a clock too coarse to tell
    for text in ("one", "two"):
        file.write_text(text)
        assert fingerprint.remembered_content(str(file)) == fingerprint.digest(text.encode())
