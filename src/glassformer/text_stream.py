"""Training rows from text files of any size: streamed by `datasets` and split among processes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from datasets import IterableDataset, load_dataset
from datasets.distributed import split_dataset_by_node
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
) -> IterableDataset:
    """Read text files as rows of token ids, over and over; each process gets its share.

    If the files can be divided evenly among the processes, each process reads its own files.
    Otherwise, each reads all of them and keeps every `size`-th row; all shares combined are
    then the same rows in the same order for any number of processes.

    Every `LINES` lines are joined, encoded, and cut into rows of `seq` tokens; leftover tokens are
    dropped.

    Raises:
        ValueError: there is no file, one is missing, or all of them together don't fill a row.

    Source: datasets 5.2, `split_dataset_by_node`.
    """
    if missing := [str(path) for path in files if not path.is_file()] or (not files and "none"):
        raise ValueError(f"a stream needs existing text files, got {missing}")
    names = [str(path) for path in files]
    with TemporaryDirectory() as folder:  # nothing is cached there, but it is locked
        lines = load_dataset(
            "text",
            data_files=names,
            split="train",
            streaming=True,
            keep_linebreaks=True,
            cache_dir=folder,
        )
    cut = partial(cut_rows, encode=encode, seq=seq)
    rows = lines.map(cut, batched=True, batch_size=LINES, remove_columns=["text"])
    if next(iter(rows), None) is None:
        raise ValueError(f"{names} have less text than one row of {seq} tokens")
    mixed = rows.shuffle(seed=0, buffer_size=BUFFER).repeat(None)
    return split_dataset_by_node(mixed, rank=rank, world_size=size)


def cut_rows(
    lines: Mapping[str, list[str]], encode: Callable[[str], list[int]], seq: int
) -> dict[str, list[list[int]]]:
    """Join lines, encode them, and cut their ids into rows.

    >>> cut_rows({"text": ["ab", "cde"]}, lambda text: [*text.encode()], seq=2)
    {'ids': [[97, 98], [99, 100]]}
    """
    ids = encode("".join(lines["text"]))
    return {"ids": [ids[start : start + seq] for start in range(0, len(ids) - seq + 1, seq)]}


def batches(
    rows: IterableDataset, size: int, *, first: int = 0
) -> Iterator[Int[Tensor, "size seq"]]:
    """Yield a process's batches, starting with number `first`.

    The earlier ones are read and dropped. `rows.skip` wouldn't work: called on a share of every
    n-th row, it counts the rows of all shares.
    """
    own = islice(iter(rows), first * size, None)
    while batch := [row["ids"] for row in islice(own, size)]:
        yield torch.tensor(batch)
