"""Data types shared by the whole engine: a chapter, its parts, and the result of running it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Block:
    """One fence that runs.

    Attributes:
        kind: `python` runs and shows its last expression; `pycon` is a doctest.
        code: The text between the fences, without the fence's own indentation.
        line: Line of the chapter (from 1) on which `code` begins.
        timeout: Seconds until the block counts as hanging; `None` for the book's default.
        raises: The last line of the traceback that its last statement must raise; `None` if the
            block must run to the end.
        shows: Whether the page shows its output.
    """

    kind: Literal["python", "pycon"]
    code: str
    line: int
    timeout: float | None = None
    raises: str | None = None
    shows: bool = True


@dataclass(frozen=True)
class Claim:
    """One checked place in the prose.

    Attributes:
        text: What the reader sees (empty for `value=`, which is filled in); for a fact, its phrase.
        line: The claim's line in the chapter, from 1.
        place: Number of blocks that come before it on the page.
        equals: Expression whose value must agree with `text`.
        holds: Expression that must be true (the text itself for a bare `holds`).
        value: Expression whose value becomes the text.
        fact: Whether it binds a phrase in the prose before its fence.
    """

    text: str
    line: int
    place: int
    equals: str | None = None
    holds: str | None = None
    value: str | None = None
    fact: bool = False

    @property
    def is_bounded(self) -> bool:
        """Whether it shows a number that a condition bounds, and none that equals its text."""
        if self.value is not None:
            return True
        states = self.equals is None and not self.fact and self.text != self.holds
        return states and any(map(str.isdigit, self.text))

    @property
    def expressions(self) -> tuple[str, ...]:
        """The expressions to evaluate, in a fixed order."""
        return tuple(e for e in (self.equals, self.holds, self.value) if e is not None)


@dataclass(frozen=True)
class Chapter:
    """A parsed Markdown page without its prose: editing the prose changes only line numbers here.

    Attributes:
        path: The file, as the author would name it (relative to the project).
        blocks: The fences that run, in reading order.
        claims: The claims, in reading order.
        names: Words that the prose uses as names from the code.
        shows: The symbols whose source it shows, as `module` or `module:name`.
        reads: The file patterns that its front matter lists under `reads`.
    """

    path: str
    blocks: tuple[Block, ...]
    claims: tuple[Claim, ...]
    names: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()

    @property
    def assertions(self) -> list[str]:
        """The expressions that must be true, except those that bound a `value`."""
        return sorted({c.holds for c in self.claims if c.holds and c.value is None})


@dataclass(frozen=True)
class Output:
    """One thing a block showed.

    Attributes:
        kind: `stdout` (everything printed, including to stderr and by imported functions), `text`
            (repr of the last expression), `html`, `svg`, `image` (an element that embeds its
            picture), `markdown`, `latex`, or `raised` (the last line of a traceback).
        data: The text or markup itself. In `html`, `asset://NAME` stands for the URL of an asset.
        assets: File name to absolute path, for each asset the markup mentions.
        plain: For markup, the text that replaces it where markup can't be shown.
    """

    kind: Literal["stdout", "text", "html", "svg", "image", "markdown", "latex", "raised"]
    data: str
    assets: dict[str, str] = field(default_factory=dict)
    plain: str = ""


@dataclass(frozen=True)
class Example:
    """One prompt of a doctest: its source, the output on the page, and the output of the run.

    Attributes:
        source: The statement, without prompts.
        want: The output as the chapter writes it.
        got: The output of this run; for an expected exception, its traceback without the stack.
        offset: Line within the block (from 0) of the prompt.
        follows: Whether it depends on something that an earlier block failed to do.
    """

    source: str
    want: str
    got: str
    offset: int
    follows: bool = False


@dataclass(frozen=True)
class Failure:
    """Why a block or an expression failed.

    Attributes:
        reason: One line, such as `ValueError: num_heads (10) must divide d_model (768)`.
        line: Line within the block (from 0) where it happened, if known.
        detail: The traceback as readers of the chapter should see it, or "".
        follows: Whether it only follows from the failure of an earlier block.
    """

    reason: str
    line: int | None = None
    detail: str = ""
    follows: bool = False


@dataclass(frozen=True)
class BlockResult:
    """The result of running a block.

    Attributes:
        outputs: Its outputs, in order.
        examples: The prompts of a doctest.
        failure: Set if it did not run to the end.
        seconds: How long it took.
        prints: Indices of its statements, or prompts, whose values it shows as text.
        draws: The random generators that it advanced.
        raised: The last lines of its error's traceback, if its fence says that it raises one.
    """

    outputs: tuple[Output, ...] = ()
    examples: tuple[Example, ...] = ()
    failure: Failure | None = None
    seconds: float = 0.0
    prints: tuple[int, ...] = ()
    draws: tuple[str, ...] = ()
    raised: str = ""


@dataclass(frozen=True)
class Value:
    """The value of one claim's expression, or why it has none.

    Attributes:
        data: JSON data: None, bool, int, float, str, or nested lists of these (tensors, arrays,
            `torch.Size`, and tuples become lists); any other object as its repr.
        after: Number of blocks that had run when it was evaluated.
        failure: Set when the expression raised, reads nothing that the page computed or
            imported (a constant), or uses a name that no block defines.
    """

    data: Any = None
    after: int = 0
    failure: Failure | None = None


@dataclass(frozen=True)
class Origin:
    """Where the code that a page loaded under a name comes from.

    Attributes:
        file: The file of its module, relative to the project if it is inside.
        found: Whether the module has such a name.
        lines: The lines of that file where the functions behind the name begin, decorated or not.
        plain: The line where the function begins, if the name is a function without a wrapper.
    """

    file: str
    found: bool = True
    lines: tuple[int, ...] = ()
    plain: int | None = None


@dataclass(frozen=True)
class Run:
    """The result of running a chapter; nothing here depends on the prose around the blocks.

    Attributes:
        blocks: One result per block; if the page died, only for the blocks up to then.
        values: The value of each (expression, place), except those that depend on something that
            a failed block didn't do.
        failure: Set when the page as a whole died: a killed child, a hang, an exit.
        failed_block: Index of the block that was running then; `None` if a claim was being
            evaluated (the failure names it) or nothing had run yet.
        device: The device that the page ran on, such as `cpu`.
        seconds: How long the run took; for a cached run, how long the original run took.
        names: For each name of the chapter, whether it exists once all blocks have run.
        origins: For each symbol that the chapter shows, where the code that the page loaded comes
            from; `None` if the page didn't load the symbol's module.
        cached: Whether the result comes from the cache, so nothing was executed.
        unkept: The reasons why the result wasn't cached, if any.
        pending: Whether the chapter is still to be run, so there are no results yet.
    """

    blocks: tuple[BlockResult, ...]
    values: dict[tuple[str, int], Value]
    failure: Failure | None = None
    failed_block: int | None = None
    device: str = "cpu"
    seconds: float = 0.0
    names: dict[str, bool] = field(default_factory=dict)
    origins: dict[str, Origin | None] = field(default_factory=dict)
    cached: bool = False
    unkept: tuple[str, ...] = ()
    pending: bool = False

    @property
    def sound(self) -> int:
        """How many blocks ran before the first one that failed; their results are complete."""
        failed = (number for number, block in enumerate(self.blocks) if block.failure)
        return next(failed, len(self.blocks))


dump = asdict
"""Convert a result to JSON data."""


def load_block(data: Mapping[str, Any]) -> BlockResult:
    """Rebuild a block's result."""
    return BlockResult(
        outputs=tuple(Output(**one) for one in data["outputs"]),
        examples=tuple(Example(**example) for example in data["examples"]),
        failure=_load_failure(data["failure"]),
        seconds=data["seconds"],
        prints=tuple(data["prints"]),
        draws=tuple(data["draws"]),
        raised=data["raised"],
    )


def load_value(data: Mapping[str, Any]) -> Value:
    """Rebuild a claim's value."""
    return Value(data["data"], data["after"], _load_failure(data["failure"]))


def dump_run(run: Run) -> dict[str, Any]:
    """Convert the run of a page that didn't die to JSON data."""
    return {
        "blocks": [dump(block) for block in run.blocks],
        "values": [[*claim, dump(value)] for claim, value in run.values.items()],
        "device": run.device,
        "seconds": run.seconds,
        "names": run.names,
        "origins": {name: one and dump(one) for name, one in run.origins.items()},
    }


def load_run(data: Mapping[str, Any]) -> Run:
    """Rebuild a stored run; it counts as cached."""
    return Run(
        blocks=tuple(load_block(block) for block in data["blocks"]),
        values={(text, place): load_value(value) for text, place, value in data["values"]},
        device=data["device"],
        seconds=data["seconds"],
        names=data["names"],
        origins=load_origins(data["origins"]),
        cached=True,
    )


def load_origins(data: Mapping[str, Any]) -> dict[str, Origin | None]:
    """Rebuild the origins of shown symbols."""
    return {
        name: one and Origin(**{**one, "lines": tuple(one["lines"])}) for name, one in data.items()
    }


def _load_failure(data: Mapping[str, Any] | None) -> Failure | None:
    return None if data is None else Failure(**data)
