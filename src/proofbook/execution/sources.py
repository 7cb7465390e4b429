"""Extract the code of a block that runs: all of it, or the lines after a doctest's prompts."""

from doctest import DocTestParser

from proofbook.model import Block


def sources_of(block: Block) -> list[str]:
    """Return the pieces of code that run, in order.

    Raises:
        SyntaxError: The block is a doctest that can't be parsed.
    """
    if block.kind == "python":
        return [block.code]
    try:
        return [example.source for example in DocTestParser().get_examples(block.code)]
    except ValueError as error:
        raise SyntaxError(str(error)) from error
