"""The memo returns what a function would, calls it once, and forgets when anything else changes."""

import importlib
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from proofbook.caching import fingerprint
from proofbook.caching import memo as module
from proofbook.caching.memo import Memo, plain

CALLS = []


@dataclass(frozen=True)
class Pair:
    name: str
    ways: tuple[int, ...]


def called(*inputs):
    CALLS.append(inputs)
    return [inputs, len(CALLS)]


def other(*inputs):
    return called(*inputs)


def nothing(value):
    CALLS.append(value)


def failing():
    raise LookupError(f"call {len(CALLS)}")


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    CALLS.clear()
    monkeypatch.setattr(fingerprint, "everything", lambda: "here")  # tests change the real one
    module._world.cache_clear()
    module._source.cache_clear()
    yield
    module._world.cache_clear()
    module._source.cache_clear()


def test_a_result_comes_back_after_the_file_was_closed(tmp_path):
    memo = Memo(tmp_path / "cache")
    first = memo.get(called, "ü", {"a": [1, None]}, Pair("p", (1, 2)))
    memo.close()
    assert memo.get(called, "ü", {"a": [1, None]}, Pair("p", (1, 2))) == first
    assert Memo(tmp_path / "cache").get(called, "ü", {"a": [1, None]}, Pair("p", (1, 2))) == first
    assert len(CALLS) == 1
    assert (tmp_path / "cache" / ".gitignore").read_text() == "*\n"


def test_none_is_a_result_too(tmp_path):
    memo = Memo(tmp_path)
    assert [memo.get(nothing, 1), memo.get(nothing, 1), len(CALLS)] == [None, None, 1]


def test_each_other_input_is_another_question(tmp_path):
    memo = Memo(tmp_path)
    questions = [
        *[(), (1,), (1.0,), (True,), ("1",), (b"1",), (None,), (1, 2), ((1, 2),), ([1, 2],)],
        *[({1, 2},), ({"a": 1},), ({"a": 2},), (Pair("a", ()),), (Pair("b", ()),), (Path("a"),)],
        *[("a",), (called,), (other,)],
    ]
    for question in questions:
        memo.get(called, *question)
    memo.get(other)
    assert len(CALLS) == len(questions) + 1
    for question in questions:
        memo.get(called, *question)
    assert len(CALLS) == len(questions) + 1


@pytest.mark.parametrize("value", [object(), partial(called), lambda: 0, Path, [{"a": object()}]])
def test_what_is_not_plain_data_is_refused(tmp_path, value):
    with pytest.raises(TypeError, match="is not plain data"):
        Memo(tmp_path).get(called, value)
    with pytest.raises(TypeError, match="is not plain data"):
        Memo(tmp_path).get(value)


def test_another_environment_or_another_source_knows_nothing(tmp_path, monkeypatch):
    memo = Memo(tmp_path)
    memo.get(called)
    for name, known in (("everything", module._world), ("content", module._source)):
        with monkeypatch.context() as patch:
            known.cache_clear()
            patch.setattr(fingerprint, name, lambda *_: "other")
            memo.get(called)
        known.cache_clear()
        memo.get(called)  # as before, so it's known
    assert len(CALLS) == 3


def test_a_failure_is_not_kept(tmp_path):
    memo = Memo(tmp_path)
    for number in (0, 1):
        with pytest.raises(LookupError, match=f"call {number}"):
            memo.get(failing)
        CALLS.append(None)


@pytest.mark.parametrize("damage", [b"", b"no database" * 100, None])
def test_a_damaged_file_is_begun_anew(tmp_path, damage):
    memo = Memo(tmp_path)
    memo.get(called, 1)
    memo.close()
    file = tmp_path / "memo.sqlite"
    begin = file.read_bytes()[:4096]
    file.write_bytes(begin + b"x" * 8192 if damage is None else damage)
    for _ in range(3):  # the first may find the damage only when it writes
        memo.get(called, 1)
    memo.close()
    known = len(CALLS)
    assert Memo(tmp_path).get(called, 1)[0] == (1,)
    assert len(CALLS) == known


def test_a_memo_that_cannot_be_written_keeps_nothing(tmp_path):
    (tmp_path / "file").write_text("")
    memo = Memo(tmp_path / "file")
    assert [memo.get(called)[1], memo.get(called)[1]] == [1, 2]
    assert (tmp_path / "file").read_text() == ""


def test_the_older_half_is_dropped_once_there_is_too_much(tmp_path, monkeypatch):
    memo = Memo(tmp_path)
    for number in range(6):
        memo.get(called, number, "x" * 10_000)
    memo.close()
    monkeypatch.setattr(module, "LIMIT", 30_000)
    for number in (5, 4):
        memo.get(called, number, "x" * 10_000)
    assert len(CALLS) == 6
    memo.get(called, 0, "x" * 10_000)
    assert len(CALLS) == 7


def test_of_a_namespace_only_the_module_itself_counts(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "space").mkdir()
    (tmp_path / "space/part.py").write_text("def made():\n    return 1\n")
    made = importlib.import_module("space.part").made
    first = plain(made)
    (tmp_path / "other.py").write_text("")
    (tmp_path / "space/sibling.py").write_text("")
    module._source.cache_clear()
    assert plain(made) == first
    (tmp_path / "space/part.py").write_text("def made():\n    return 2\n")
    module._source.cache_clear()
    assert plain(made) != first
