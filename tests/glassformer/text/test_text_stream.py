"""Rows from text files, alone and shared, against cutting the texts by hand."""

import re
from itertools import islice
from pathlib import Path

import pytest
import torch
from torchrun import torchrun, trained_alone

from glassbook.apps.parallel_training import BATCH, SEQ
from glassformer.text.text_stream import LINES, batches, stream

WIDTH = 7


def encode(text):
    return [*text.encode()]


@pytest.fixture
def files(tmp_path):
    """Three files of 40, 29 and 23 lines, each line of another text."""
    paths = [tmp_path / f"{name}.txt" for name in "abc"]
    for path, lines in zip(paths, (40, 29, 23), strict=True):
        path.write_text("".join(f"{path.stem} has the line {k}\n" for k in range(lines)))
    return paths


def cut(text):
    ids = encode(text)
    return [tuple(ids[k * WIDTH : (k + 1) * WIDTH]) for k in range(len(ids) // WIDTH)]


def first(rows, count):
    return [tuple(row) for row in islice(rows, count)]


def test_each_row_comes_once_a_pass_and_not_in_the_order_of_the_text(files):
    wanted = cut(files[0].read_text())
    rows = stream(files[:1], encode, WIDTH)
    told = first(rows, 2 * len(wanted))
    assert sorted(told[: len(wanted)]) == sorted(wanted)
    assert sorted(told[len(wanted) :]) == sorted(wanted)
    assert told[: len(wanted)] != wanted
    assert told[: len(wanted)] != told[len(wanted) :]
    assert told == first(stream(files[:1], encode, WIDTH), 2 * len(wanted))


def test_ids_are_joined_across_lines_and_cut_anew_after_so_many(tmp_path):
    path = tmp_path / "long.txt"
    path.write_text("abcde\n" * (LINES + 13))
    wanted = cut("abcde\n" * LINES) + cut("abcde\n" * 13)
    assert sorted(first(stream([path], encode, WIDTH), len(wanted))) == sorted(wanted)


def test_a_row_is_drawn_from_as_many_as_the_buffer_holds(files, monkeypatch):
    wanted = cut(files[0].read_text())
    monkeypatch.setattr("glassformer.text.text_stream.BUFFER", 5)
    told = first(stream(files[:1], encode, WIDTH), len(wanted))
    assert sorted(told) == sorted(wanted)
    early = {row: wanted.index(row) - place for place, row in enumerate(told)}
    assert max(early.values()) == 4
    assert told[-5:] != wanted[-5:]


def test_shares_of_undivided_files_are_every_nth_row(files):
    for number, size in [(1, 2), (1, 3), (3, 2), (2, 5)]:
        alone = first(stream(files[:number], encode, WIDTH), 30 * size)
        for rank in range(size):
            rows = stream(files[:number], encode, WIDTH, rank=rank, size=size)
            assert first(rows, 30) == alone[rank::size], (number, size, rank)


def test_files_that_can_be_divided_are(files):
    texts = {path.stem.encode()[0]: cut(path.read_text()) for path in files}
    found = {}
    for rank in range(3):
        told = first(stream(files, encode, WIDTH, rank=rank, size=3), 200)
        name = next(ids[ids.index(ord("\n")) + 1] for ids in told if ord("\n") in ids[:-1])
        found[name] = told[: len(texts[name])]
    assert found.keys() == texts.keys()
    assert all(sorted(found[name]) == sorted(texts[name]) for name in texts)


def test_a_stream_goes_on_at_any_batch(files):
    for number, rank in [(1, 0), (1, 1), (2, 0), (2, 1)]:
        whole, again = (stream(files[:number], encode, WIDTH, rank=rank, size=2) for _ in range(2))
        nine = list(islice(batches(whole, 5), 9))
        assert nine[0].shape == (5, WIDTH)
        five = list(islice(batches(again, 5, first=4), 5))
        assert torch.stack(five).equal(torch.stack(nine[4:])), (number, rank)


def test_bad_files(files, tmp_path):
    with pytest.raises(ValueError, match=r"needs existing text files, got none"):
        stream([], encode, WIDTH)
    with pytest.raises(ValueError, match=r"existing text files, got \['.*absent\.txt'\]"):
        stream([files[0], tmp_path / "absent.txt"], encode, WIDTH)
    short = tmp_path / "short.txt"
    short.write_text("abc")
    with pytest.raises(ValueError, match=r"short\.txt'\] have less text than one row of 7 tokens"):
        next(stream([short], encode, WIDTH))


@pytest.mark.nightly
def test_the_program_trains_on_files_as_one_process_would(tmp_path):
    """Two processes, then one that goes on from their checkpoint, against a loop in torch alone."""
    path = tmp_path / "own.txt"
    path.write_text(Path(__file__).read_text())
    losses = trained_alone(islice(batches(stream([path], encode, SEQ + 1), BATCH), 4))
    program = ("-m", "glassbook.apps.parallel_training")
    given = ("--every=3", "--files", path)
    told = torchrun(2, *program, "data", tmp_path / "run", "--steps=3", *given)
    told += torchrun(1, *program, "tensor", tmp_path / "run", "--steps=4", *given)
    found = re.findall(r"step (\d): loss (\S+)", told)
    assert [int(step) for step, _ in found] == [0, 1, 2, 3]
    assert [float(loss) for _, loss in found] == pytest.approx(losses, abs=1e-4)
