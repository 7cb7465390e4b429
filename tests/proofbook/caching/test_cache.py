"""Stored results: given back while they are true, never when they are not, never half."""

import os
import subprocess
import sys
import threading
from dataclasses import replace

import pytest

from proofbook.caching.cache import KEPT, Cache
from proofbook.model import Block, BlockResult, Chapter, Claim, Example, Output, Run, Value
from tables import table

NOTHING_READ = {
    "files": {},
    "folders": {},
    "modules": {},
    "packages": {},
    "declared": {},
}
PAGE = Chapter(
    "docs/page.md",
    (Block("python", "x = 1", 5), Block("pycon", ">>> x\n1", 9)),
    (Claim("1", 12, 2, equals="x"), Claim("", 13, 1, holds="x > 0", value="f'{x}'")),
)
RUN = Run(
    blocks=(
        BlockResult((Output("html", "<b>ü</b>", {"a.js": "/a.js"}),), (), None, 0.25),
        BlockResult((), (Example("x\n", "1\n", "1\n", 0),)),
    ),
    values={("x", 2): Value([1, [2.5, None]], 2), ("x > 0", 1): Value(True, 1)},
    device="cuda",
    seconds=1.5,
)

WORLD = {"python": "3"}


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache", WORLD)


def _entries(cache, tmp_path):
    return sorted((tmp_path / "cache").glob("*/*"))


def test_what_was_stored_comes_back_whole(cache):
    assert cache.load(PAGE) is None
    cache.store(PAGE, RUN, NOTHING_READ)
    assert cache.load(PAGE) == replace(RUN, cached=True)


def test_prose_lines_texts_and_time_limits_are_not_asked_for(cache):
    cache.store(PAGE, RUN, NOTHING_READ)
    blocks = tuple(replace(b, line=b.line + 7, timeout=9.0) for b in PAGE.blocks)
    claims = tuple(replace(c, line=c.line + 7, text="other") for c in reversed(PAGE.claims))
    assert cache.load(Chapter(PAGE.path, blocks, claims)) is not None


def test_names_of_the_prose_are_asked_for_where_they_are_needed(cache):
    page = replace(PAGE, names=("x", "y.z"))
    cache.store(page, replace(RUN, names={"x": True, "y.z": False}), NOTHING_READ)
    assert cache.load(page, names=True).names == {"x": True, "y.z": False}
    assert cache.load(PAGE, names=True) is not None
    more = replace(PAGE, names=("x", "y.z", "z"))
    assert cache.load(more) is not None
    assert cache.load(more, names=True) is None


@table(
    "other",
    [
        replace(PAGE, path="docs/other.md"),
        replace(PAGE, blocks=PAGE.blocks[:1]),
        replace(PAGE, blocks=(replace(PAGE.blocks[0], code="x = 2"), PAGE.blocks[1])),
        replace(PAGE, blocks=(PAGE.blocks[0], replace(PAGE.blocks[1], kind="python"))),
        replace(PAGE, claims=PAGE.claims[:1]),
        replace(PAGE, claims=(replace(PAGE.claims[0], equals="x + 0"), PAGE.claims[1])),
        replace(PAGE, claims=(replace(PAGE.claims[0], place=1), PAGE.claims[1])),
        replace(PAGE, reads=("data.txt",)),
    ],
)
def test_another_question_has_another_answer(cache, other):
    cache.store(PAGE, RUN, NOTHING_READ)
    assert cache.load(other) is None


def test_two_books_that_share_a_cache_keep_their_own_entries(tmp_path):
    books = [Cache(tmp_path / "cache", {"root": root}) for root in ("/one", "/other")]
    books[0].store(PAGE, RUN, NOTHING_READ)
    assert books[1].load(PAGE) is None
    for n in range(KEPT + 2):
        page = replace(PAGE, blocks=(Block("python", f"x = {n}", 1),))
        books[1].store(page, RUN, NOTHING_READ)
    assert books[0].load(PAGE) is not None


def test_each_corruption_is_a_miss(cache, tmp_path):
    cache.store(PAGE, RUN, NOTHING_READ)
    [entry] = _entries(cache, tmp_path)
    good = entry.read_bytes()
    flipped = bytearray(good)
    flipped[len(good) // 2] ^= 1
    other = good.replace(b"<b>", b"<i>")
    for bad in (b"", b"\xff\xfe", good[:-1], good[: len(good) // 2], flipped, other, b"{}\n{}"):
        entry.write_bytes(bad)
        assert cache.load(PAGE) is None
    cache.store(PAGE, RUN, NOTHING_READ)
    assert cache.load(PAGE) is not None


def test_results_of_several_states_live_side_by_side(cache, tmp_path):
    data = tmp_path / "data"
    for text in ("one", "two"):
        data.write_text(text)
        run = replace(RUN, device=text)
        cache.store(PAGE, run, {**NOTHING_READ, "files": {str(data): [None, _content(data)]}})
    known = {}
    for text in ("one", "two", "one"):  # each in a build of its own
        data.write_text(text)
        assert Cache(tmp_path / "cache", WORLD, known=known).load(PAGE).device == text
    data.write_text("three")
    assert Cache(tmp_path / "cache", WORLD, known=known).load(PAGE) is None


def test_an_entry_that_is_replaced_is_not_the_one_that_was_read(cache, tmp_path):
    known = {}
    for device in ("one", "two"):
        cache.store(PAGE, replace(RUN, device=device), NOTHING_READ)
        for _ in range(2):
            again = Cache(tmp_path / "cache", WORLD, known=known)
            assert again.load(PAGE).device == device
    assert len(known) <= 2


def test_an_entry_that_was_read_is_not_read_again(cache, tmp_path, monkeypatch):
    cache.store(PAGE, RUN, NOTHING_READ)
    known = {}
    first = Cache(tmp_path / "cache", WORLD, known=known).load(PAGE)
    monkeypatch.setattr("proofbook.caching.cache.load_run", lambda _: pytest.fail("read again"))
    assert first == replace(RUN, cached=True)
    assert Cache(tmp_path / "cache", WORLD, known=known).load(PAGE) is first


def _content(path):
    from proofbook.caching.fingerprint import content

    return content(str(path))


def test_the_oldest_entries_of_a_chapter_go_and_a_used_one_stays(cache, tmp_path):
    cache.store(PAGE, RUN, NOTHING_READ)
    [first] = _entries(cache, tmp_path)
    other = replace(PAGE, path="docs/other.md")
    cache.store(other, RUN, NOTHING_READ)
    for n in range(KEPT + 2):
        os.utime(first, ns=(n, n))  # long ago …
        assert cache.load(PAGE) is not None  # … but used just now
        page = replace(PAGE, blocks=(Block("python", f"x = {n}", 1),))
        cache.store(page, RUN, NOTHING_READ)
    assert len([e for e in _entries(cache, tmp_path) if e.parent == first.parent]) == KEPT
    assert first.exists()
    assert cache.load(other) is not None


def test_the_key_is_the_same_in_another_process(cache, tmp_path):
    page = replace(PAGE, claims=tuple(Claim("", 1, 2, holds=f"x > -{n}") for n in range(9)))
    cache.store(page, RUN, NOTHING_READ)
    program = f"""if True:
        from pathlib import Path
        from proofbook.caching.cache import Cache
        from proofbook.model import *
        cache = Cache(Path({str(tmp_path / "cache")!r}), {{"python": "3"}})
        print(cache.load({page!r}) is not None)
    """
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", program]
        assert subprocess.check_output(command, env=environment, text=True) == "True\n"


def test_two_builds_at_once_do_not_harm_each_other(cache, tmp_path):
    errors = []

    def build(n):
        try:
            mine = Cache(tmp_path / "cache", {"python": "3"})
            for i in range(40):
                mine.store(PAGE, RUN, {**NOTHING_READ, "folders": {f"/none/{n}/{i}": "x"}})
                mine.store(PAGE, RUN, NOTHING_READ)
                assert mine.load(PAGE) == replace(RUN, cached=True)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=build, args=(n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert not [e for e in _entries(cache, tmp_path) if e.suffix != ".json"]


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "cache", {})
    cache.store(PAGE, RUN, NOTHING_READ)
    assert cache.load(PAGE) is None


def test_the_folder_keeps_itself_out_of_git(cache, tmp_path):
    cache.store(PAGE, RUN, NOTHING_READ)
    assert (tmp_path / "cache" / ".gitignore").read_text() == "*\n"
