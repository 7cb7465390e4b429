"""Training rows from text files of any size, read as they are needed and split among processes."""

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import torch
from jaxtyping import Int
from torch import Tensor

LINES = 1000  # joined, encoded, and cut into rows at a time
BUFFER = 1000  # rows from which the next one is drawn


def stream(
    files: Sequence[Path],
    encode: Callable[[str], list[int]],
    seq: int,
    *,
    rank: int = 0,
    size: int = 1,
) -> Iterator[list[int]]:
    """Read text files as rows of token ids, over and over; each process gets its share.

    If the files can be divided evenly among the processes, each process reads its own files.
    Otherwise, each reads all of them and keeps every `size`-th row; all shares combined are
    then the same rows in the same order for any number of processes.

    Raises:
        ValueError: There is no file, or one is missing; or, once the first row is asked for: all
            of them together don't fill a row.
    """
    if missing := [str(path) for path in files if not path.is_file()] or (not files and "none"):
        raise ValueError(f"a stream needs existing text files, got {missing}")
    if len(files) % size == 0:
        return shuffled(files[rank::size], encode, seq)
    return islice(shuffled(files, encode, seq), rank, None, size)


def shuffled(
    files: Sequence[Path], encode: Callable[[str], list[int]], seq: int
) -> Iterator[list[int]]:
    """Yield rows endlessly, each once per pass through the files, in an order drawn anew.

    Raises:
        ValueError: All files together don't fill a row.
    """
    draw = random.Random(0)  # alike in all processes
    while True:
        buffer: list[list[int]] = []
        for row in rows_of(files, encode, seq):
            if len(buffer) < BUFFER:
                buffer.append(row)
            else:
                place = draw.randrange(BUFFER)
                yield buffer[place]
                buffer[place] = row
        if not buffer:
            names = [str(path) for path in files]
            raise ValueError(f"{names} have less text than one row of {seq} tokens")
        draw.shuffle(buffer)
        yield from buffer


def rows_of(
    files: Sequence[Path], encode: Callable[[str], list[int]], seq: int
) -> Iterator[list[int]]:
    """Join every `LINES` lines, encode them, and cut them into rows of `seq` tokens.

    Leftover tokens are dropped.
    """
    lines = lines_of(files)
    while text := "".join(islice(lines, LINES)):
        ids = encode(text)
        yield from (ids[start : start + seq] for start in range(0, len(ids) - seq + 1, seq))


def lines_of(files: Sequence[Path]) -> Iterator[str]:
    """Yield the lines of files, one file after the other, with their line breaks."""
    for path in files:
        with path.open(encoding="utf-8") as file:
            yield from file


def batches(
    rows: Iterator[list[int]], size: int, *, first: int = 0
) -> Iterator[Int[Tensor, "size seq"]]:
    """Yield a process's batches, starting with number `first`; the earlier ones are dropped."""
    own = islice(rows, first * size, None)
    while batch := list(islice(own, size)):
        yield torch.tensor(batch)
