"""Keep together what no line may break, and leave out what no reader sees.

It is looked for in the finished page, since entries of the reference are put in after the Markdown.
"""

import re

SHAPE = re.compile(r"<code>(?=\[\d+(?:, \d+){1,4}\]</code>)")
SIGN = re.compile(r"(</math>(?:</a>)?)</span>([.,;:!?)]+)")
PLAIN = re.compile(r'<span class="[nw]">([^<]*)</span>(?!</a>)')
INDENT = re.compile(r"\s*\n\s*")
EMPTY_HEADER = re.compile(r"<th( [^>]*)?></th>")


def kept_together(html: str) -> str:
    """Keep on one line a shape, and a formula with the sign behind it."""
    html = SHAPE.sub('<code class="shape">', html)
    return SIGN.sub(r"\1\2</span>", html)


def with_cells(html: str) -> str:
    """Make an empty cell of a header, which names nothing, an ordinary one."""
    return EMPTY_HEADER.sub(r"<td\1></td>", html)


def plain_code(html: str) -> str:
    """Take names and spaces out of their elements, which have the color of code without any.

    In a long chapter, they are a tenth of its bytes. A name that is a link keeps its own.
    """
    return PLAIN.sub(r"\1", html)


def without_indents(html: str) -> str:
    """Take out the indents of the theme's templates, around the text of a page.

    A space is left after each line: axe takes a line's end alone for no space between words.
    """
    before, begin, rest = html.partition("<article")
    inside, end, after = rest.rpartition("</article>")
    return INDENT.sub("\n ", before) + begin + inside + end + INDENT.sub("\n ", after)
