"""Keep together what no line may break.

It is looked for in the finished page, since entries of the reference are put in after the Markdown.
"""

import re

SHAPE = re.compile(r"<code>(?=\[\d+(?:, \d+){1,4}\]</code>)")
SIGN = re.compile(r"(</math>(?:</a>)?)</span>([.,;:!?)]+)")
EMPTY_HEADER = re.compile(r"<th( [^>]*)?></th>")


def kept_together(html: str) -> str:
    """Keep on one line a shape, and a formula with the sign behind it."""
    html = SHAPE.sub('<code class="shape">', html)
    return SIGN.sub(r"\1\2</span>", html)


def with_cells(html: str) -> str:
    """Make an empty cell of a header, which names nothing, an ordinary one."""
    return EMPTY_HEADER.sub(r"<td\1></td>", html)
