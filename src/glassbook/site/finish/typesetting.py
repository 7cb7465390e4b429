"""Keep together what must not be broken across lines, and leave out what no reader sees.

This works on the finished page, since entries of the reference are added after the Markdown.
"""

import re

SHAPE = re.compile(r"<code>(?=\[\d+(?:, \d+){1,4}\]</code>)")
SIGN = re.compile(r"(</math>(?:</a>)?)</span>([.,;:!?)]+)")
PLAIN = re.compile(r'<span class="[nw]">([^<]*)</span>(?!</a>)')
INDENT = re.compile(r"\s*\n\s*")
TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
WRAPPED = r'<div class="md-typeset__scrollwrap"><div class="md-typeset__table">\g<0></div></div>'
EMPTY_HEADER = re.compile(r"<th( [^>]*)?></th>")


def kept_together(html: str) -> str:
    """Keep a shape on one line, and a formula with the punctuation after it."""
    html = SHAPE.sub('<code class="shape">', html)
    return SIGN.sub(r"\1\2</span>", html)


def with_cells(html: str) -> str:
    """Turn an empty header cell, which names nothing, into an ordinary one."""
    return EMPTY_HEADER.sub(r"<td\1></td>", html)


def wrapped(html: str) -> str:
    """Give each table the frame in which it scrolls where it is too wide.

    The theme's script would do that, once the page is drawn, and all of it would be drawn again.
    """
    return TABLE.sub(WRAPPED, html)


def plain_code(html: str) -> str:
    """Take names and spaces out of their elements, since they have the default color anyway.

    In a long chapter, the elements are a tenth of the bytes. A name that is a link keeps its own.
    """
    return PLAIN.sub(r"\1", html)


def without_indents(html: str) -> str:
    """Remove the indentation of the theme's templates around the text of a page.

    A space is left after each line break: for axe, a line break alone doesn't separate words.
    """
    before, begin, rest = html.partition("<article")
    inside, end, after = rest.rpartition("</article>")
    return INDENT.sub("\n ", before) + begin + inside + end + INDENT.sub("\n ", after)
