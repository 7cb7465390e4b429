"""Defaults fit for use, and the environment that pages get."""

from proofbook.settings import Settings


def test_pages_run_one_a_cpu_unless_it_is_said_otherwise(tmp_path, monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0, 2, 5}, raising=False)
    assert Settings(tmp_path).side_by_side == 3
    assert Settings(tmp_path, jobs=2).side_by_side == 2


def test_the_device_is_the_variable_that_ends_so(tmp_path, monkeypatch):
    settings = Settings(tmp_path, environment=("A_CHECKPOINT", "A_DEVICE"))
    monkeypatch.setenv("A_CHECKPOINT", "folder")
    monkeypatch.delenv("A_DEVICE", raising=False)
    assert settings.device == "cpu"
    monkeypatch.setenv("A_DEVICE", "cuda")
    assert settings.device == "cuda"
    assert settings.watched_environment() == {"A_CHECKPOINT": "folder", "A_DEVICE": "cuda"}


def test_pages_may_speak_of_what_is_preloaded_and_of_the_project_s_own(tmp_path):
    for name in ("model/__init__.py", "tools.py", "_private.py", ".hidden/x.py"):
        (tmp_path / "src" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "src" / name).touch()
    sources = (tmp_path / "src", tmp_path / "none")
    settings = Settings(tmp_path, preload=("json.decoder", "json"), sources=sources)
    assert settings.packages() == ["json", "model", "tools"]
