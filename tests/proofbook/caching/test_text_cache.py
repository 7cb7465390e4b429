"""Answers come back as they were put there, and only as long as nothing else has changed."""

import json

import pytest

from proofbook.caching import fingerprint, text_cache
from proofbook.caching.text_cache import TextCache


@pytest.fixture
def file(tmp_path):
    return tmp_path / "cache" / "texts.json"


def filled(file, **answers):
    kept = TextCache(file)
    for question, answer in answers.items():
        kept.put(answer, question)
    kept.save()


def test_an_answer_comes_back_in_another_process(file):
    kept = TextCache(file)
    kept.put(["ü", {"a": [1, None]}], "colors", 'x = "\n"', {"title": "t"})
    kept.save()
    again = TextCache(file)
    assert again.get("colors", 'x = "\n"', {"title": "t"}) == ["ü", {"a": [1, None]}]
    assert again.get("colors", 'x = "\n"', {"title": "u"}) is None
    assert again.get("colors", 'x = "\n"') is None
    assert (file.parent / ".gitignore").read_text() == "*\n"


def test_another_environment_knows_nothing_and_begins_anew(file, monkeypatch):
    filled(file, x=1)
    monkeypatch.setattr(fingerprint, "environment", lambda: "other")
    other = TextCache(file)
    assert other.get("x") is None
    other.put(2, "x")
    other.save()
    assert TextCache(file).get("x") == 2
    monkeypatch.undo()
    assert TextCache(file).get("x") is None


@pytest.mark.parametrize("damage", ["", "{}", "\n{}", "\n[]", "checksum"])
def test_what_was_written_half_counts_for_nothing(file, damage):
    filled(file, x=1)
    text = file.read_text()
    file.write_text(text.replace(": 1", ": 2") if damage == "checksum" else damage)
    assert TextCache(file).get("x") is None


def test_what_was_not_asked_for_longest_goes_first(file, monkeypatch):
    filled(file, a=1, b=2, c=3)
    monkeypatch.setattr(text_cache, "KEPT", 3)
    kept = TextCache(file)
    assert kept.get("a") == 1
    kept.put(4, "d")
    kept.save()
    again = TextCache(file)
    assert [again.get(name) for name in "abcd"] == [1, None, 3, 4]


def test_nothing_new_is_nothing_to_write(file):
    filled(file, x=1)
    before = fingerprint.signature(str(file))
    kept = TextCache(file)
    assert kept.get("x") == 1
    kept.save()
    assert fingerprint.signature(str(file)) == before
    assert json.loads(file.read_text().partition("\n")[2])["answers"].keys()


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "file").write_text("")
    filled(tmp_path / "file" / "texts.json", x=1)
    assert (tmp_path / "file").read_text() == ""
