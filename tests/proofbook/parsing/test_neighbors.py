"""A claim is compared as it is read: its letters, and what beside it makes another number of it."""

import re
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st
from markdown import Markdown

from proofbook.parsing.page import parse
from proofbook.parsing.readings import readings
from tables import table

EXTENSIONS = [
    *("abbr", "admonition", "attr_list", "def_list", "footnotes", "md_in_html", "tables"),
    *("pymdownx.highlight", "pymdownx.superfences", "proofbook.maths"),
]
WITH_TILDES = [*EXTENSIONS, "pymdownx.tilde", "pymdownx.caret", "pymdownx.mark", "pymdownx.critic"]


def problems(text: str, extensions=EXTENSIONS) -> list[str]:
    return [problem.message for problem in parse("p.md", text, extensions).problems]


@table(
    "text",
    [
        "-[5]{C}", "It is -[5]{C}", "−[5]{C}", "It is −[5]{C}.", "+[5]{C}", "±[5]{C}",
        "**-**[5]{C}", "[-]{ .literal reason='name' }[5]{C}", "\\-[5]{C}",
        "x = − [5]{C}", "(- [5]{C})", "is minus [5]{C}",
        "It is − [5]{C}", "[5]{C} squared", "−\u200b[5]{C}", "negative [5]{C}",
        "1[5]{C}", "**1**[5]{C}",
        "0.[5]{C}", ".[5]{C}", "1,[500]{C}", "1e[5]{C}", "1e-[5]{C}", "10<sup>[6]{C}</sup>",
        "10<sup>-[6]{C}</sup>", "x[5]{C}", "!=[5]{C}", "1/[5]{C}", "[1]{C}[5]{C}", "&#49;[5]{C}",
        "<b>1</b>[5]{C}", "`1`[5]{C}", "$-$[5]{C}", "1<!-- so -->[5]{C}", "1\u00a0[500]{C}",
        "[5]{C}%", "[5]{C} %", "[5]{C}&nbsp;%", "[5]{C} percent", "[5]{C} per cent", "[5]{C}‰",
        "[5]{C}0", "[5]{C}.3", "[5]{C},000", "[5]{C} 000", "[5]{C}&nbsp;000", "[5]{C}k", "[5]{C} k",
        "[5]{C}e6", "[5]{C}s", "[5]{C}**0**", "[5]{C}<b>%</b>", "[5]{C}&#37;", "[5]{C}\\%",
        "[5]{C}`0`", "[5]{C}²", "[5]{C}<sup>2</sup>", "[5]{C}^2", "[5]{C}½", "[5]{C} ½", "[5]{C}+",
        "[5]{C} million", "[5]{C} thousand", "[five]{C} hundred", "[five]{C}-million", "[5]{C} M",
        "[5]{C} and a half", "[five]{C} and a half", "[three]{C} quarters", "[one]{C}-third",
        "[5]{C} × 10<sup>6</sup>", "[5]{C}·10⁶", "[5]{C}/7", "[5]{C}-7", "[5]{C}$\\%$", "[5]{C}°",
        "twenty [one]{C}", "twenty-[one]{C}", "a hundred and [five]{C}", "one hundred [five]{C}",
        "[twenty]{C}-one", "[twenty]{C} one", "[two]{C} hundred and six", "[six]{C}teen",
        "[two]{C} **hundred**", "[two thousand]{C} and six", "[5]{C}[%]{ .literal reason='name' }",
        "-[…]{V}", "[…]{V}%", "1[…]{V}", "[…]{V}0", "*5*{C}%", "-`5`{C}",
        "| a |\n|---|\n| -[5]{C} |", "| a |\n|---|\n| – [5]{C} |",
        "the width minus [5]{C}", "*minus* [5]{C}", "gives $-$ [5]{C}", "gives ${-}$ [5]{C}",
        "gives `-` [5]{C}", ":heavy_minus_sign: [5]{C}", "gives &minus; [5]{C}",
        "mi\u00adnus [5]{C}",
        "gives (−) [5]{C}", '<img alt="➖" src="m.png"> [5]{C}', "gives minus\n[5]{C}",
        "[is]{ .literal reason='name' } minus [5]{C}", "$n \\ne$ [5]{C}", "`n >` [5]{C}",
        "$n \\not=$ [5]{C}", "[5]{C} $\\le n$", "n &gt; [5]{C}", "n ≠ **[5]{C}**",
        "[7]{C} > [5]{C}",
        "n < […]{V}", "[5]{C} $\\times 10^6$", "[5]{C} × $10^6$", "$10^3 \\cdot$ [5]{C}",
        "1'[500]{C}",
        "[5]{C} $\\%$", "[5]{C} $\\text{million}$", "$\\sqrt{}$ [5]{C}", "[1]{C}'000", "[1]{C}’000",
        "1‘[500]{C}", "[5]{C}! = 120", "[5]{C} 1/2", "[5]{C}\u200b million", "half a [5]{C}",
        "so <math><mi>n</mi><mo>&ne;</mo></math> [5]{C}", "(n ≠) [5]{C}", "so ($-$) [5]{C}",
        "![minus](m.png) [5]{C}",
        "[5]{C} <math><mo>×</mo><msup><mn>10</mn><mn>6</mn></msup></math>",
        "so <math><mi>n</mi></math>[5]{C}",
        "[5]{C} [million]{ .literal reason='name' }", "1 / [5]{C}",
        "12 − [5]{C}", "`width` minus [5]{C}", "$n$ − [5]{C}", "f(x) minus [5]{C}",
    ],
)  # fmt: skip
def test_what_changes_a_number_beside_it_is_refused(text):
    [message, *_] = problems(with_claims(text))
    assert re.search(r"readers see ['\"].*['\"] here, but only '.*' is compared", message), message


@table(
    "text",
    [
        "[5]{C}.", "[5]{C}, and", "([5]{C})", "“[5]{C}”", "[5]{C}: so", "[5]{C}; so", "[5]{C}!",
        "- [5]{C} of them", "1. [5]{C} of them", "a — [5]{C} — b", "n = [5]{C}",
        "≈[5]{C}", "~[5]{C}", "[5]{C}-fold", "[five]{C}-fold", "[5]{C}×", "[5]{C}× as many",
        "[5]{C}th", "[2]{C}-dimensional", "[1]{C}–[5]{C}", "[1]{C}-[5]{C}", "[9]{C}/[10]{C}",
        "[1]{C} × [5]{C}", "1 to [5]{C}", "3–[5]{C}", "[5]{C} MB", "[5]{C} tokens", "[5]{C}<br>7",
        "[5]{C}[^1] so\n\n[^1]: Yes.", "| a | b |\n|---|---|\n| 1 | [5]{C} |",
        "of four [two]{C} are",
        "one or [two]{C}", "between four and [five]{C}", "[5]{C} of 10",
        "10.\n\n[5]{C}", "**[5]{C}**%".replace("%", ""), "x[some of them]{C}", "-[so]{C}",
        "[so]{C}0",
        "[**5**]{C}", "[`5`]{C}", "[[5](a.md)]{C}", "*[5]{C} in all*", "Only [one]{C} and not two",
        "[5]{C}…", "e.g. [5]{C}", "[5]{C} 3D views", "[5%]{C}.", "layer-[5]{C}", "[…]{V}.",
        "€[5]{C}", "[a\\_b \\*5]{C}", "[\\-5]{C}",
        "[one hundred]{C} and more", "`x`[^1] [5]{C}\n\n[^1]: Yes.", "# Title [5]{C}", "[5]{C}'s",
        "[5]{C}’s", "layers – [5]{C} of them", "layers -- [5]{C} of them",
        "all it has – [5]{C} – are",
        "[9]{C} − [5]{C}",
        "[…]{V} ± [5]{C}", "[3]{C} × 5", "[3]{C} $\\times$ [5]{C}", "[9]{C} / [3]{C}",
        "5! = [120]{C}",
        "n → [5]{C}", "n -> [5]{C}", "n ≈ [5]{C}", "$n =$ [5]{C}", "$\\ln$ [5]{C}",
        "`<b>` [5]{C} times",
        "[5]{C} → [7]{C}", "[5]{C} `<b>` tags", "[five]{C} seconds", "[one]{C} second",
        "[5]{C} BN layers",
        "the [two]{C} first rows", "[seven]{C}-word", "a [thirty]{C}-second clip",
        "[5]{C} tokens / second",
        "[5]{C} score above", "[5]{C} times as large", "[5 million]{C} words",
        "from [5]{C} to the sixth.",
        "[5]{C} dot products", "half of [12]{C}", "between one hundred and [200]{C}",
        "[5]{C} ’90s songs",
        "![so](m.png) [5]{C}",
        "right on 3/4 ([5]{C} words)", "the [12]{C} (K) keys", "n ∈ [5]{C}",
    ],
)  # fmt: skip
def test_what_leaves_a_number_as_it_is_may_stand_beside_it(text):
    assert problems(with_claims(text)) == []


def with_claims(text: str) -> str:
    return text.replace("{C}", '{ equals="x" }').replace("{V}", '{ value="x" holds="x > 1" }')


BESIDE = st.lists(
    st.sampled_from([*"0 5.,-−+%k)(/", "**", "<b>", "</b>", "&#48;", "\\%", "<!-- 0 -->", " so "]),
    max_size=4,
).map("".join)


@given(BESIDE, BESIDE)
def test_no_digit_or_sign_gets_near_a_number(before, after):
    text = f"so {before}[7]{{C}}{after} so"
    if problems(with_claims(text)):
        return
    html = Markdown(extensions=EXTENSIONS).convert(f"so {before}§7§{after} so")
    seen = re.sub(r"\s", " ", shown(html)).replace("*", "")
    left, _, right = seen.partition("§7§")
    assert not re.search(r"(?:\d|\.|,|\d/|%|\+|−|(?:^|[^\w)])-|k)$", left), (seen, text)
    assert not re.match(r"\d|[.,]\d|\s?%|\+|k|/\d| \d{3}\b", right), (seen, text)


class _Text(HTMLParser):
    """What a reader sees: letters, and a sign for each tag that changes what they say."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.seen = ""

    def handle_starttag(self, tag, attrs):
        if tag in ("kbd", "del", "s", "sup", "sub", "img", "svg", "math") or "style" in dict(attrs):
            self.seen += f"⟨{tag}⟩"

    def handle_endtag(self, tag):
        self.seen += "⟨/kbd⟩" if tag == "kbd" else ""

    def handle_data(self, data):
        self.seen += data


def shown(html: str) -> str:
    parser = _Text()
    parser.feed(html)
    parser.close()
    return parser.seen


MARKS = [
    *((mark, mark) for mark in (*"*_`~^$", "**", "***", "__", "``", "~~", "==")),
    *(("{++", "++}"), ("{--", "--}"), ("[", "](a.md)"), ("![", "](a.png)"), ("(", ")")),
    *(("<del>", "</del>"), ("<sup>", "</sup>"), ("<b>", "</b>"), ("<s>", "</s>")),
    *(('<span style="display:none">', "</span>"), ("<http://a.b/", ">")),
]
INLINE = st.recursive(
    st.one_of(
        st.sampled_from(
            ["5", "12", "0.5", "a", "x y", "&lt;", "&nbsp;", "&amp;lt;", "\\*", "\\_", "\\"]
        ),
        st.sampled_from(
            ["<", ">", "*", "_", "~", "^", "==", "$", "!", "  ", "'", "<!-- 5 -->", "<br>"]
        ),
        st.text("0123 abc&_*.,-", min_size=1, max_size=5),
    ),
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map("".join),
        st.builds(
            lambda marks, text: f"{marks[0]}{text}{marks[-1]}",
            st.sampled_from(MARKS),
            inner,
        ),
    ),
    max_leaves=6,
)


@table("extensions", [EXTENSIONS, WITH_TILDES])
@given(
    target=INLINE, frame=st.sampled_from(["so {} so", "*so {} so*", "so *{} so", "{}", "a_{}_b"])
)
def test_what_is_compared_is_what_is_read(extensions, target, frame):
    page = parse("p.md", frame.format(f'[{target}]{{ equals="x" }}'), extensions)
    if page.problems:
        return
    [claim] = page.chapter.claims
    html = Markdown(extensions=extensions).convert(frame.format(f"<kbd>{target}</kbd>"))
    seen = shown(html).partition("⟨kbd⟩")[2].partition("⟨/kbd⟩")[0]
    assert claim.text.split() == seen.split(), html


@table(
    ("target", "message"),
    [("<del>1</del>5", "with <del>, readers"), ("10<sup>6</sup>", "with <sup>, readers"),
     ("![5](a.png)", "claim cannot be in an attribute|, readers"),
     ("$5$", "readers see '5' here"), ("*5**5*", "hide it"),
     ('<span style="display:none">1</span>5', "with <span>, readers"), ("5<br>6", "with <br>"),
     ("1 *5", None), ("5[^1]", "here, but '5.*' is compared")],
)  # fmt: skip
def test_what_a_claim_may_not_hold(target, message):
    found = problems(f'so [{target}]{{ equals="x" }} so\n\n[^1]: Yes.')
    assert re.search(message, " ".join(found)) if message else not found


def test_a_struck_number_is_refused_where_an_extension_strikes_it():
    assert problems('[1~~2~~]{ equals="x" }') == []
    assert "with <del>, readers" in problems('[1~~2~~]{ equals="x" }', WITH_TILDES)[0]


def test_a_claim_is_read_within_its_block():
    html = "<p>a 1</p><p>⟦claim 0⟧5⟦end 0⟧</p><p>% b</p>"
    assert (readings(html)[0].before, readings(html)[0].after) == ("", "")
