"""What a run gave is shown as text where it is text, as markup where it is markup."""

from proofbook.model import BlockResult, Claim, Output, Run, Value
from proofbook.rendering.html import claim_marks, outputs_html, proof_html
from tables import table


def html(*outputs: Output) -> str:
    return outputs_html(BlockResult(outputs), lambda name, path: f"up/{name}?{path}")


def test_text_is_never_markup():
    shown = html(Output("stdout", "a </script> & b\n"), Output("text", "'<b>'"))
    assert "a &lt;/script&gt; &amp; b</code>" in shown
    assert "&lt;b&gt;" in shown
    assert shown.index("script") < shown.index("&lt;b&gt;")


def test_long_text_is_folded():
    """Up to thirty lines are whole; of more, twenty are shown, and all are in the page."""
    short = html(Output("stdout", "line\n" * 30))
    assert "<details>" not in short
    long = html(Output("stdout", "".join(f"line {n}\n" for n in range(1, 32))))
    above, fold, below = long.partition("<details><summary>Show all 31 lines</summary>")
    assert fold
    assert "line 20</code>" in above
    assert "<code>line 21\n" in below
    assert "line 31</code></pre></details>" in below


def test_markup_stays_and_its_assets_get_their_address():
    shown = html(
        Output("html", '<b>x</b><script src="asset://d3.js">', {"d3.js": "/a/d3.js"}),
        Output("svg", "<svg/>"),
    )
    assert '<b>x</b><script src="up/d3.js?/a/d3.js">' in shown
    assert "<svg/></figure>" in shown


@table(
    ("target", "inner"),
    [("…", "94%"), ("`…`", "<code>94%</code>"), ("*…*", "<em>94%</em>"),
     ("__…__", "<strong>94%</strong>")],
)  # fmt: skip
def test_a_value_is_filled_in_where_its_text_stood(target, inner):
    claim = Claim("", 1, 2, value="a", holds="b")
    run = Run((), {("a", 2): Value("94%"), ("b", 2): Value(True)})
    before, between, after = claim_marks(claim, target, 3, run)
    assert before + between == f'<span class="proofbook-claim proofbook-bounded">{inner}'
    assert 'popovertarget="proof-3"' in after
    assert "<code>b</code> was asserted and is <code>True</code>" in proof_html(claim, 3, run)


def test_a_claim_keeps_its_target_and_opens_its_expression():
    claim = Claim("five", 1, 0, equals="len('<b>')")
    run = Run((), {("len('<b>')", 0): Value(5)})
    assert claim_marks(claim, "**five**", 0, run)[1] == "**five**"
    assert "<code>len(&#x27;&lt;b&gt;&#x27;)</code> gave <code>5</code>" in proof_html(
        claim, 0, run
    )
