"""What runs of a block: all of it, or what follows the prompts of a doctest."""

from doctest import DocTestParser

from proofbook.model import Block


def sources_of(block: Block) -> list[str]:
    """Return the pieces of code that run one after the other.

    Raises:
        SyntaxError: It is a doctest that cannot be read.
    """
    if block.kind == "python":
        return [block.code]
    try:
        return [example.source for example in DocTestParser().get_examples(block.code)]
    except ValueError as error:
        raise SyntaxError(str(error)) from error
