"""Convert the result of a run to HTML."""

import re
from collections.abc import Callable
from html import escape

from proofbook.model import BlockResult, Claim, Output, Run
from proofbook.problems import Problem
from proofbook.rendering.placeholders import Hold, at_once
from proofbook.text import readable, shown

LONG = 30  # the most lines of an output that are shown without a fold
FIRST = 20  # the lines of a longer output that are shown above the fold
TEXTS = ("stdout", "text", "raised")
"""The kinds of output that are shown as in a terminal."""
AssetUrl = Callable[[str, str], str]


def outputs_html(
    result: BlockResult,
    asset_url: AssetUrl,
    hold: Hold = at_once,
    written: Callable[[Output], str] = lambda output: escape(output.data),
) -> str:
    """Return the outputs of a block as HTML, in order.

    Args:
        result: The block's result.
        asset_url: Returns the URL of an asset, given its name and path.
        hold: Returns a placeholder for markup until the page is ready; by default, the markup.
        written: Returns the HTML of an output in Markdown or TeX; by default, its source.
    """
    inner = ""
    for output in result.outputs:
        if output.kind in TEXTS:
            inner += _output_html(output, asset_url)
        elif output.kind in ("markdown", "latex"):
            html = f'<div class="proofbook-{output.kind}">{written(output)}</div>'
            inner += hold(html, escape(output.data))
        else:
            inner += hold(_output_html(output, asset_url), "")
    return f'<div class="proofbook-output">{inner}</div>' if inner else ""


def _output_html(output: Output, asset_url: AssetUrl) -> str:
    if output.kind == "html":
        data = re.sub(
            r"asset://([\w.-]+)",
            lambda match: asset_url(match[1], output.assets[match[1]]),
            output.data,
        )
        return f'<div class="proofbook-html">{data}</div>'
    if output.kind in ("svg", "image"):
        return f'<figure class="proofbook-figure">{output.data}</figure>'
    text = output.data.rstrip("\n")
    if not text:
        return ""
    lines = text.split("\n")
    if len(lines) <= LONG:
        return _pre(output.kind, lines)
    shown, folded = _pre(output.kind, lines[:FIRST]), _pre(output.kind, lines[FIRST:])
    return f"{shown}<details><summary>Show all {len(lines)} lines</summary>{folded}</details>"


def _pre(kind: str, lines: list[str]) -> str:
    text = escape("\n".join(lines))
    return f'<pre class="proofbook-{kind}" tabindex="0"><code>{text}</code></pre>'


def problems_html(problems: list[Problem]) -> str:
    """Return problems as HTML: the file, line, code, and detail of each."""
    return "".join(
        f'<div class="proofbook-error" role="alert"><pre><code>{escape(str(problem))}</code>'
        "</pre></div>"
        for problem in problems
    )


def claim_marks(claim: Claim, target: str, number: int, run: Run) -> tuple[str, str, str]:
    """Return what goes before, in place of, and after the target of a claim that holds."""
    bounded = " proofbook-bounded" if claim.is_bounded else ""
    opening = f'<span class="proofbook-claim{bounded}">'
    if claim.value is not None:
        value = readable(str(run.values[claim.value, claim.place].data))
        return f"{opening}{_opened(target)}{escape(value)}{_closed(target)}", "", _sign(number)
    return opening, target, _sign(number)


def fact_marks(number: int) -> tuple[str, str]:
    """Return what goes before and after the phrase of a fact that holds."""
    return '<span class="proofbook-fact">', _sign(number)


def _sign(number: int) -> str:
    return (
        '<button type="button" class="proofbook-sign" aria-label="How this is checked" '
        f'popovertarget="proof-{number}"></button></span>'
    )


def _tags(target: str) -> list[str]:
    mark = re.match(r"`|\*+|_+", target)
    if not mark:
        return []
    return {"`": ["code"]}.get(
        mark[0], {1: ["em"], 2: ["strong"]}.get(len(mark[0]), ["em", "strong"])
    )


def _opened(target: str) -> str:
    return "".join(f"<{tag}>" for tag in _tags(target))


def _closed(target: str) -> str:
    return "".join(f"</{tag}>" for tag in reversed(_tags(target)))


def proof_html(claim: Claim, number: int, run: Run) -> str:
    """Return the popover that a claim's sign opens: the checked expressions and their values."""
    rows = "".join(
        f"<div><code>{escape(expression)}</code> {_meaning(claim, expression)} "
        f"<code>{escape(shown(run.values[expression, claim.place].data))}</code></div>"
        for expression in claim.expressions
    )
    bound = ", within a bound" if claim.is_bounded else ""
    head = f"<p>Checked when this page was built{bound}</p>"
    return f'<div popover id="proof-{number}" class="proofbook-proof">{head}{rows}</div>'


def _meaning(claim: Claim, expression: str) -> str:
    return "was asserted and is" if expression == claim.holds else "gave"
