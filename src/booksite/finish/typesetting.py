"""Keep together what no line may break, and place signs.

It is looked for in the finished page: the marks around a claim are put into its Markdown before
anybody knows what they will hold, and entries of the reference are put in after it.
"""

import re

SHAPE = re.compile(r"<code>(?=\[\d+(?:, \d+){1,4}\]</code>)")
SHORT_CLAIM = re.compile(r'(?<=<span class="proofbook-claim)(?=">(?:<\w+>)*[^<\s]{1,16}</)')
# A claim's ring stands above a narrow sign, not before it.
RING = re.compile(
    r'(?<=<button type="button" class="proofbook-sign)(?="[^>]*></button>(?:</\w+>)*[.,;:])'
)
SIGN = re.compile(r"(</math>(?:</a>)?)</span>([.,;:!?)]+)")
EMPTY_HEADER = re.compile(r"<th( [^>]*)?></th>")


def kept_together(html: str) -> str:
    """Keep on one line a shape, a claim of one short word, a formula and the sign behind it."""
    html = SHORT_CLAIM.sub(" short", SHAPE.sub('<code class="shape">', html))
    html = RING.sub(" above", html)
    return SIGN.sub(r"\1\2</span>", html)


def with_cells(html: str) -> str:
    """Make an empty cell of a header, which names nothing, an ordinary one."""
    return EMPTY_HEADER.sub(r"<td\1></td>", html)
