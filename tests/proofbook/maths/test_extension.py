"""Formulas: TeX in, MathML out, and what cannot be shown is refused."""

import markdown
import pytest

from proofbook.maths.mathml import to_mathml
from tables import table


def page(text: str) -> str:
    return markdown.markdown(text, extensions=["proofbook.maths", "tables", "toc"])


def words(text: str) -> list[str]:
    """The letters and signs of a formula, in reading order."""
    return [part.text for part in to_mathml(text).iter() if part.text]


def test_formula_in_the_line():
    html = page(r"The root $\sqrt{d}$ and \(a<b\).")
    assert "<mrow><msqrt><mrow><mi>d</mi></mrow></msqrt></mrow></math></span> and" in html
    assert "<mi>a</mi><mo>&lt;</mo><mi>b</mi>" in html
    assert "$" not in html
    assert "\\" not in html


def test_money_and_code_are_left_alone():
    html = page("From $5 to $6, or `$x$`.")
    assert "From $5 to $6" in html
    assert "<code>$x$</code>" in html
    assert "<math" not in html


@table("source", ["$$\nx < y\n$$", "\\[ x < y \\]", "\\begin{split} x &< y \\end{split}"])
def test_displayed_formula(source):
    html = page(f"Before\n\n{source}\n\nafter")
    assert '<div class="maths-block">' in html
    assert 'display="block"' in html
    assert "<mo>&lt;</mo><mi>y</mi>" in html


def test_underscores_and_stars_are_not_emphasis():
    assert "<em>" not in page("$x_i * y_j * z_k$")


def test_in_tables_and_headings():
    html = page("# On $\\sqrt{d}$\n\n| a |\n|---|\n| $x^2$ |")
    assert '<h1 id="on-d">' in html
    assert "<td>" in html
    assert "<msup><mi>x</mi><mn>2</mn></msup>" in html


def test_bars_of_a_norm_grow_only_between_left_and_right():
    small = [part.get("stretchy") for part in to_mathml(r"\lVert A^\top \rVert").iter("mo")]
    assert small == ["false", None, "false"]
    large = [part.get("stretchy") for part in to_mathml(r"\left\Vert A \right\Vert").iter("mo")]
    assert large == ["true", "true"]


def test_a_bar_stands_at_what_it_encloses():
    bars = [part for part in to_mathml("|A| + |B|").iter("mo") if part.text == "|"]
    assert [(bar.get("lspace"), bar.get("rspace")) for bar in bars] == [("0", "0")] * 4


def test_code_words_keep_their_underscore():
    math = to_mathml(r"\sqrt{\texttt{head\_dim}}")
    text = next(math.iter("mtext"))
    assert (text.text, text.get("class")) == ("head_dim", "maths-code")


def test_signs_are_letters_not_entities():
    assert words(r"Q K^\top \in \mathbb{R}^{5}") == ["Q", "K", "⊤", "∈", "ℝ", "5"]


@table(
    ("source", "reason"),
    [
        (r"\frac{a", "braces do not balance"),
        ("a}{", "braces do not balance"),
        (r"\nosuch{a}", r"unknown command \\nosuch"),
        (r"\begin{tikzpicture} a \end{tikzpicture}", "unknown environment tikzpicture"),
        (r"\left( a", "ExtraLeftOrMissingRightError"),
        (r"\boldsymbol{x}", "letters in bold-italic"),
    ],
)
def test_what_cannot_be_shown_is_refused(source, reason):
    with pytest.raises(ValueError, match=rf"^formula: {reason}.*, in "):
        to_mathml(source)
