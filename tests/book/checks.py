"""What matters to readers, as one table: a page, what is done on it, and what is then to be seen.

Each check is made in Chromium, some in WebKit and Firefox too, and each night all. What is done is
done with a mouse and with keys. What is seen is the value of an expression in the page: it's asked
for until it's there, or time is up.
"""

from dataclasses import dataclass, replace
from typing import Literal

from pages import STICKING_OUT

Verb = Literal["click", "point", "press", "type", "see", "do", "reload"]
Step = tuple[Verb, str] | tuple[Verb, str, object]


@dataclass(frozen=True)
class Check:
    """One thing that readers can do or see.

    Attributes:
        name: What must be so.
        page: Where, relative to the root of the site.
        steps: What is done, and what is seen, in order.
        width: Of a frame that the page is shown in; 0 for the whole window.
        still: Whether the page's scripts don't run.
        everywhere: Whether browsers differ there, so that each change is checked in all of them.
    """

    name: str
    page: str
    steps: tuple[Step, ...]
    width: int = 0
    still: bool = False
    everywhere: bool = False


# Expressions may say $ for the first element that matches, $$ for all, and `page` for the document.
OPEN = "$('.proofbook-proof:popover-open')?.innerText.includes('Checked when this page was built')"
BOUND = "$('.proofbook-proof:popover-open')?.innerText.includes('built, within a bound')"
NONE_OPEN = "$$('.proofbook-proof').filter(p => p.matches(':popover-open')).length"
SCHEME = "page.body.dataset.mdColorScheme"
WITHOUT_LINK = "!e.querySelector('a') && e.checkVisibility()"
CLAIM = f"$$('article .proofbook-claim').find(e => {WITHOUT_LINK})"
RUNS = "$$('.proofbook-block:has(.proofbook-copy)')[1]"
BUTTON = f"{RUNS}.querySelector('[data-clipboard-target]')"
SWITCH = "$$('label.md-header__button[for^=__palette]').find(label => label.checkVisibility())"
MARKS = "$('.marks-switch')"
LINE = f"getComputedStyle({CLAIM}).textDecorationLine"


def view(kind: str, what: str) -> str:
    """An element inside the picture of a view."""
    return f"$('glassformer-view[data-kind={kind}]').shadowRoot.querySelector({what!r})"


def drawn(kind: str) -> tuple[Step, ...]:
    """Waits until a view is drawn."""
    where = f"$('glassformer-view[data-kind={kind}]')"
    return (("point", where), ("see", f"{where}.dataset.state", "drawn"))


# Claims and terms that have no line below them; null where there are none at all.
BARE = """(() => {
  const marked = $$('.proofbook-claim, .proofbook-fact, a.term');
  const bare = marked.filter(e => getComputedStyle(e).textDecorationLine !== 'underline');
  return marked.length > 50 ? bare.map(e => e.textContent) : null;
})()"""
# Signs of formulas that cover one another: more than half of the smaller one, both ways.
OVERLAPPING = """(() => {
  const range = page.createRange();
  const over = [];
  let seen = 0;
  for (const formula of $$('math')) {
    const signs = [...formula.querySelectorAll('mi, mn, mo, mtext')].map(sign => {
      range.selectNodeContents(sign);
      return [sign.textContent, range.getBoundingClientRect()];
    }).filter(([, box]) => box.width > 2 && box.height > 2);
    seen += signs.length;
    signs.forEach(([one, a], k) => signs.slice(k + 1).forEach(([other, b]) => {
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 0.5 * Math.min(a.width, b.width) && high > 0.5 * Math.min(a.height, b.height)) {
        over.push(`${one} ${other} in ${formula.textContent}`);
      }
    }));
  }
  return seen > 20 ? over : null;
})()"""
# Lines of code or output that end beyond their box; null where there is no code.
CUT = """(() => {
  const blocks = $$('pre > code').filter(code => code.checkVisibility());
  const cut = blocks.filter(code => code.scrollWidth > code.clientWidth + 1);
  return blocks.length ? cut.map(code => code.textContent.slice(0, 200)) : null;
})()"""
# The step that is shown, and whether all of its picture, or of what it prints, is in sight.
STEP = """(() => {
  const shown = $$('section.steps-step').filter(
    step => step.querySelector('h2').checkVisibility({ contentVisibilityAuto: true }));
  const step = shown[0].querySelector('h2').id;
  const output = shown[0].querySelector('.proofbook-output');
  if (!output) return [shown.length, step, null];
  const { top, bottom } = (output.querySelector('svg') ?? output).getBoundingClientRect();
  const bar = $('.steps-bar').getBoundingClientRect().bottom;
  const place = [bar, top, bottom, innerHeight].map(Math.round);
  const isInSight = bar <= top + 1 && top < bottom && bottom <= innerHeight + 1;
  return [shown.length, step, isInSight || place];
})()"""
# What has the focus is drawn around, and is in the window.
SEEN_FOCUS = """(() => {
  const one = page.activeElement;
  const around = one.matches('.proofbook-sign') ? one.parentElement
    : one.matches('.md-option') ? one.nextElementSibling : one;
  const box = around.getBoundingClientRect();
  const isIn = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
  const isDrawn = getComputedStyle(around).outlineStyle !== 'none';
  return isIn && isDrawn || one.outerHTML.slice(0, 200);
})()"""
FILLS = """new Set($$('.glassformer-heatmap rect').map(cell =>
  `${getComputedStyle(cell).fill} ${getComputedStyle(cell).fillOpacity}`)).size > 20"""
NARROW = (
    ("see", f"({STICKING_OUT.replace('document', 'page').replace('innerWidth', '390')})()", []),
    ("see", "page.documentElement.scrollWidth <= 390", True),
)


def is_narrow(page: str) -> Check:
    """Nothing of a page sticks out of a phone's window."""
    return Check(f"at 390 pixels nothing sticks out of {page or 'home'}", page, NARROW, width=390)


def is_whole(page: str) -> Check:
    """No line of a page's code is cut off."""
    return Check(f"no line of code is cut off: {page or 'home'}", page, (("see", CUT, []),))


def shown_lines(kind: str, where: str) -> str:
    """How many lines of a view can be seen."""
    return (
        f"[...$('glassformer-view[data-kind={kind}]').shadowRoot.querySelectorAll('{where} path')]"
        ".filter(path => getComputedStyle(path).visibility === 'visible')"
        ".map(path => path.getAttribute('d').split('M').length - 1).reduce((a, b) => a + b, 0)"
    )


ALL_LINES = shown_lines("head", "#attention")

CHECKS = (
    Check(
        "the search opens by a key, answers, and closes",
        "encoder/attention/",
        (
            ("press", "/"),
            ("see", "page.activeElement.matches('.md-search__input')", True),
            ("type", "softmax"),
            ("see", "/softmax/i.test($('.md-search-result__link')?.textContent)", True),
            ("press", "Escape"),
            ("see", "$('#__search').checked", False),
        ),
        everywhere=True,
    ),
    Check(
        "a click on checked words opens the check, and Escape closes it",
        "encoder/attention/",
        (
            ("see", NONE_OPEN, 0),
            ("click", CLAIM),
            ("see", OPEN, True),
            ("press", "Escape"),
            ("see", NONE_OPEN, 0),
        ),
        everywhere=True,
    ),
    Check(
        "a click anywhere on a phrase opens its check",
        "encoder/attention/",
        (
            (
                "click",
                f"$$('.proofbook-fact').find(e => e.textContent.length > 20 && {WITHOUT_LINK})",
            ),
            ("see", OPEN, True),
        ),
    ),
    Check(
        "keys open the check of a claim, and Escape closes it",
        "encoder/attention/",
        (
            ("do", f"{CLAIM}.querySelector('.proofbook-sign').focus()"),
            ("press", "Enter"),
            ("see", OPEN, True),
            ("press", "Escape"),
            ("see", NONE_OPEN, 0),
        ),
    ),
    Check(
        "without scripts a check opens too",
        "encoder/attention/",
        (
            ("see", "$('.proofbook-sign').getBoundingClientRect().width > 4", True),
            ("do", "$('.proofbook-sign').click()"),
            ("see", OPEN, True),
        ),
        still=True,
    ),
    Check(
        "claims and terms have their lines",
        "encoder/attention/?checks=shown",
        (
            ("see", BARE, []),
            ("see", f"getComputedStyle({CLAIM}).textDecorationStyle", "dotted"),
            ("see", "getComputedStyle($('.proofbook-sign'), '::before').content", "none"),
        ),
        everywhere=True,
    ),
    Check(
        "the lines of checked words are shown on demand, by mouse and by key, which is remembered",
        "encoder/attention/",
        (
            ("see", LINE, "none"),
            ("see", f"{MARKS}.ariaPressed", "false"),
            ("click", CLAIM),
            ("see", OPEN, True),
            ("press", "Escape"),
            ("click", MARKS),
            ("see", LINE, "underline"),
            ("see", f"{MARKS}.ariaPressed", "true"),
            ("see", "location.search", "?checks=shown"),
            ("do", "history.replaceState(null, '', location.pathname)"),
            ("reload", ""),
            ("see", LINE, "underline"),
            ("see", "location.search", "?checks=shown"),
            ("do", f"{MARKS}.focus()"),
            ("press", "Enter"),
            ("see", LINE, "none"),
            ("see", "location.search", ""),
            ("reload", ""),
            ("see", LINE, "none"),
        ),
    ),
    Check(
        "a number that is only bounded has another line than one that is equal",
        "language-models/quantization/?checks=shown",
        (
            ("see", "getComputedStyle($('.proofbook-bounded')).textDecorationStyle", "dashed"),
            ("click", "$('.proofbook-bounded')"),
            ("see", BOUND, True),
        ),
    ),
    Check(
        "without scripts there is no switch that does nothing, and the lines are there",
        "encoder/attention/",
        (("see", f"{MARKS}.checkVisibility()", False), ("see", LINE, "underline")),
        still=True,
    ),
    Check(
        "the theme can be switched",
        "encoder/attention/",
        (
            ("click", SWITCH),
            ("see", SCHEME, "default"),
            ("click", SWITCH),
            ("see", SCHEME, "slate"),
        ),
    ),
    Check(
        "a block is copied as it's seen, or with what it needs, by the keyboard too",
        "encoder/attention/",
        (
            ("do", "navigator.clipboard.writeText = async text => { page.copied = text; }"),
            ("point", RUNS),
            ("see", f"!!{BUTTON}", True),
            ("do", f"{RUNS}.querySelector('.proofbook-copy').focus()"),
            ("press", "Enter"),
            ("see", "$('.proofbook-said').textContent", "Copied with what it needs"),
            ("see", f"page.copied.includes({RUNS}.querySelector('code').innerText.trim())", True),
            (
                "see",
                "page.copied.startsWith(JSON.parse($('.proofbook-program').textContent).start)",
                True,
            ),
            ("click", BUTTON),
            ("see", "$('.md-dialog').textContent.trim()", "Copied to clipboard"),
            ("see", f"{BUTTON}.dataset.clipboardText", None),
        ),
    ),
    Check(
        "Next and keys lead from step to step, and each picture is in sight",
        "one-sentence/",
        (
            ("see", f"{STEP}.slice(0, 2)", [1, "step-run"]),
            ("click", "$('.steps-next')"),
            ("see", STEP, [1, "step-ids", True]),
            ("press", "ArrowRight"),
            ("see", f"{STEP}[0]", 1),
            ("see", f"{STEP}[2]", True),
            ("press", "ArrowLeft"),
            ("see", STEP, [1, "step-ids", True]),
        ),
        everywhere=True,
    ),
    Check(
        "the head view draws, and a click on a word leaves only its lines",
        "encoder/seeing-attention/",
        (
            *drawn("head"),
            ("do", f"page.body.dataset.lines = {ALL_LINES}"),
            ("click", view("head", "#left text")),
            ("see", f"{ALL_LINES} < +page.body.dataset.lines && {ALL_LINES} > 0", True),
        ),
        everywhere=True,
    ),
    Check(
        "the model view draws, and a click on a head shows its words",
        "encoder/seeing-attention/",
        (
            *drawn("model"),
            ("click", view("model", "[data-thumbnail='5']")),
            ("see", f"/Head 5/.test({view('model', 'svg')}.textContent)", True),
        ),
    ),
    Check(
        "the neuron view draws, and its button shows queries and keys",
        "encoder/seeing-attention/",
        (
            *drawn("neuron"),
            ("see", f"{view('neuron', '#expanded')}?.getAttribute('visibility')", "hidden"),
            ("click", view("neuron", "button[aria-pressed]")),
            ("see", f"{view('neuron', '#expanded')}.getAttribute('visibility')", "visible"),
        ),
    ),
    Check(
        "the cells of a heatmap have their colors",
        "encoder/many-heads/",
        (("see", FILLS, True), ("see", "$$('.glassformer-heatmap text').length > 20", True)),
    ),
    Check(
        "signs of formulas do not cover each other",
        "encoder/attention/",
        (("see", OVERLAPPING, []),),
        everywhere=True,
    ),
    Check(
        "signs of formulas do not cover each other on a page of few letters",
        "gpt/rotary-positions/",
        (("see", OVERLAPPING, []),),
        everywhere=True,
    ),
    *map(
        is_whole,
        ("", "encoder/attention/", "one-sentence/", "gpt/generation/", "labs/anatomy/"),
    ),
    *map(
        is_narrow,
        ("", "encoder/attention/", "encoder/seeing-attention/", "one-sentence/", "reference/map/"),
    ),
    replace(is_narrow("whole-transformer/"), everywhere=True),
    Check(
        "the contents beside a page lead to its sections",
        "encoder/attention/",
        (
            ("click", "$$('.md-sidebar--secondary a.md-nav__link').at(3)"),
            ("see", "location.hash.length > 1", True),
            (
                "see",
                "(top => top > 0 && top < 300)"
                "($(`[id='${location.hash.slice(1)}']`).getBoundingClientRect().top)",
                True,
            ),
        ),
    ),
    Check(
        "a missing page searches, and leads on",
        "404.html",
        (
            ("see", "$$('article a').length >= 6", True),
            ("click", "$('#missing-search')"),
            ("type", "rotary"),
            ("press", "Enter"),
            ("see", "/rotary/i.test($('.md-search-result__link')?.textContent)", True),
        ),
    ),
    Check(
        "the first Tab reaches a link past the header",
        "encoder/attention/",
        (
            ("press", "Tab"),
            ("see", "page.activeElement.textContent.trim()", "Skip to content"),
            ("see", SEEN_FOCUS, True),
            ("press", "Enter"),
            ("see", "location.hash.length > 1", True),
        ),
    ),
    Check(
        "what has the focus can be seen",
        "encoder/attention/",
        tuple(step for _ in range(12) for step in (("press", "Tab"), ("see", SEEN_FOCUS, True))),
    ),
    Check(
        "the whole transformer zooms by a click and by a key",
        "whole-transformer/",
        (
            ("click", "$('.glassformer-whole .in')"),
            ("see", "$('.glassformer-whole .zoom [aria-current]').textContent.trim()", "2 Layer"),
            ("press", "ArrowRight"),
            (
                "see",
                "$('.glassformer-whole .zoom [aria-current]').textContent.trim()",
                "3 Attention",
            ),
        ),
    ),
    Check(
        "the book's own fonts are there",
        "encoder/attention/",
        (
            (
                "see",
                "['Source Serif 4', 'Source Sans 3', 'STIX Two Math']"
                ".filter(name => !page.fonts.check(`16px '${name}'`))",
                [],
            ),
        ),
    ),
    Check(
        "a page of source numbers its lines and prints nothing over them",
        "source/glassformer/layers/attention/",
        (
            ("see", "$$('.source .line > a[data-n]').length > 20", True),
            (
                "see",
                "$$('.source .line > a:not([data-n])').filter(a => "
                "getComputedStyle(a).display !== 'inline').length",
                0,
            ),
        ),
    ),
)
