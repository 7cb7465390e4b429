"""The reader's own sentence, in real browsers: the same ids and weights as in Python."""

import json
import re
import time
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch

from browser import launched, served
from glassbook.live.encoder import SwitchedEncoder
from glassbook.live.page import live, walk
from glassformer import default_checkpoint, load, read
from glassformer.inference.sentence_embeddings import embed
from live_pages import PAIRS, TEXTS, write_site
from webdriver import firefox

pytestmark = [pytest.mark.browser, pytest.mark.slow]

DONE = "glass-encoder .live-state:is([data-kind=error], [data-kind=read])"
MOST, MEAN = 0.05, 0.002  # by which the page's attention may differ: its weights have eight bits
TOKENS = "document.querySelector('glass-encoder').result.tokens"
READ = """async ([text, pair]) => {
  const { tokens, attentions } = await glassformer.attend(text, pair);
  return { tokens, dims: attentions.dims, weights: [...attentions.data] };
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A page with the element, and every file that it asks for."""
    folder = tmp_path_factory.mktemp("live")
    write_site(live("time flies like an arrow", layer=1, head=3), folder)
    return folder


@pytest.fixture(scope="module")
def root(folder):
    with served(folder) as url:
        yield url


@pytest.fixture(scope="module")
def browser():
    with launched() as browser:
        yield browser


@contextmanager
def opening(browser, url, *, changed=None, worker=""):
    """The page in a fresh profile, some files changed, with code before the worker's."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.asked = []
    page.on("request", lambda request: page.asked.append(request.url.rpartition("/")[2]))
    for name, answer in (changed or {}).items():
        context.route(f"**/{name}", answer)
    if worker:
        context.route(
            "**/glassformer-live-worker.js",
            lambda route: route.fulfill(
                body=f"{worker};{route.fetch().text()}", content_type="text/javascript"
            ),
        )
    try:
        page.goto(url)
        page.wait_for_selector(".live-one svg")
        yield page
    finally:
        context.close()


@pytest.fixture(scope="module")
def started(browser, root):
    """A page whose model has been started."""
    with opening(browser, root) as page:
        start(page)
        yield page


def start(page):
    page.click("glass-encoder form button")
    page.wait_for_selector(DONE, timeout=60_000)


def said(page):
    return page.inner_text(".live-state")


def type_in(page, text, pair=""):
    page.fill("[name=text]", text)
    page.fill("[name=pair]", pair)
    page.evaluate("document.querySelector('.live-state').dataset.kind = ''")
    page.click("glass-encoder form button")
    page.wait_for_selector(DONE, timeout=60_000)


# --- the same as in Python


def differences(found, text, pair):
    """What one reading in a page has that Python's doesn't; empty if nothing."""
    reading = read(text, pair or None, model=MODEL)
    if found["tokens"] != reading.tokens:
        return f"{text!r}, {pair!r}: tokens {found['tokens']} instead of {reading.tokens}"
    weights = np.reshape(found["weights"], found["dims"])
    off = np.abs(weights - reading.attentions.numpy())
    if off.max() > MOST or off.mean() > MEAN:
        return f"{text!r}, {pair!r}: attention off by {off.max():.4f}, {off.mean():.5f} on average"
    return ""


MODEL = load(default_checkpoint())


def test_chromium_reads_as_python_does(started):
    texts = [*((text, "") for text in TEXTS), *PAIRS]
    assert len(texts) >= 100
    wrong = [differences(started.evaluate(READ, each), *each) for each in texts]
    assert not [each for each in wrong if each]


def test_firefox_reads_as_python_does(root, tmp_path):
    texts = [*((text, "") for text in TEXTS[::12]), *islice(PAIRS, 3)]
    with firefox(tmp_path) as driven:
        driven.open(root)
        wrong = []
        for number, each in enumerate(texts):
            # To a dialog of WebDriver, only text gets through; the page says when it's there.
            driven.evaluate(
                f"void ({READ})({json.dumps(each)}).then(found => window.found{number} = found,"
                f" error => window.found{number} = {{ tokens: [String(error)] }})"
            )
            deadline = time.monotonic() + 60
            while not driven.evaluate(f"Boolean(window.found{number})"):
                assert time.monotonic() < deadline, f"no answer to {each}"
                time.sleep(0.05)
            wrong.append(differences(driven.evaluate(f"window.found{number}"), *each))
    assert not [each for each in wrong if each]


def test_switches_do_in_the_page_what_they_do_in_python(started, subtests):
    type_in(started, "time flies like an arrow")
    switched = SwitchedEncoder(load(default_checkpoint()))
    on = switched.all_on(7) | {"input_ids": read("time flies like an arrow").encoding["input_ids"]}
    off = {
        "heads": ("heads", (5, 11)),
        "attention": ("residuals", (5, 0)),
        "network": ("residuals", (5, 1)),
        "positions": ("positions", 0),
        "scale": ("scale", 0),
    }
    started.select_option("[name=layer]", index=5)
    started.select_option("[name=head]", index=11)
    for name, (switch, place) in off.items():
        with subtests.test(switch=name):
            inputs = {key: value.clone() for key, value in on.items()}
            inputs[switch][place] = 32**0.5 if name == "scale" else 0
            with torch.no_grad():
                vectors, whole = switched(**inputs)[-1][-1], switched(**on)[-1][-1]
            wanted = torch.nn.functional.cosine_similarity(vectors, whole, dim=-1)
            before = started.inner_text(".live-tokens")
            started.check(f"[name={name}]")
            started.wait_for_function(
                "before => document.querySelector('.live-tokens').innerText !== before", arg=before
            )
            found = [
                float(each) for each in started.locator(".live-tokens small").all_inner_texts()
            ]
            assert found == pytest.approx(wanted.tolist(), abs=0.02)
            started.click("[name=reset]")
            started.wait_for_selector(".live-tokens small", state="detached")


# --- what a reader does


def test_nothing_is_downloaded_before_the_button_and_nothing_twice(browser, root):
    heavy = {"encoder.weights", "encoder.graph", "encoder.tokenizer", "runtime.bin"}
    with opening(browser, root) as page:
        assert not heavy & set(page.asked)
        assert re.search(r"downloads 2\d\.\d MB", page.inner_text("glass-encoder form button"))
        start(page)
        assert heavy < set(page.asked)
        page.asked.clear()
        page.reload()
        page.wait_for_selector(DONE, timeout=60_000)
        assert "read in" in said(page)
        assert not heavy & set(page.asked)


def test_an_address_leads_back_to_a_sentence_and_a_head(browser, root):
    with opening(browser, f"{root}?text=fruit+flies&pair=like&layer=3&head=4&view=arcs") as page:
        start(page)
        tokens = page.locator(".live-tokens button").all_inner_texts()
        assert tokens == ["[CLS]", "fruit", "flies", "[SEP]", "like", "[SEP]"]
        chosen = [page.input_value(f"[name={name}]") for name in ("layer", "head", "view")]
        assert chosen == ["3", "4", "arcs"]
        page.select_option("[name=head]", index=6)
        page.wait_for_function("location.search.includes('head=6')")


def test_keys_move_the_cursor_and_choose_heads(started):
    type_in(started, "time flies")
    started.select_option("[name=view]", "heatmap")
    started.focus(".live-one")
    for _ in range(4):
        started.keyboard.press("ArrowDown")
    started.keyboard.press("ArrowLeft")
    assert started.inner_text(".live-cell").startswith("“[SEP]” attends to “")
    started.focus(".live-all")
    before = int(started.input_value("[name=layer]"))
    started.keyboard.press("ArrowDown")
    assert int(started.input_value("[name=layer]")) == min(before + 1, 5)


def test_the_table_and_the_csv_have_the_weights(started):
    type_in(started, 'time "flies"')
    found = started.evaluate(READ, ['time "flies"', ""])
    layer, head = (int(started.input_value(f"[name={name}]")) for name in ("layer", "head"))
    weights = np.reshape(found["weights"], found["dims"])[layer, head]
    started.click(".live-table summary")
    started.wait_for_selector(".live-table td")
    cells = started.locator(".live-table td").all_inner_texts()
    assert cells == [f"{w:.2f}" if w >= 0.005 else "< 0.01" for w in weights.flatten()]
    started.click(".live-table summary")
    with started.expect_download() as download:
        started.click("[name=csv]")
    lines = Path(download.value.path()).read_text().splitlines()
    assert lines[3].startswith('"""",')
    assert len(lines) == 1 + len(found["tokens"])
    assert [float(n) for n in lines[3].split(",")[1:]] == pytest.approx(weights[2].tolist())


def test_saved_pictures_are_whole(started):
    type_in(started, "time flies")
    started.evaluate("document.querySelector('glass-encoder').show({ query: 2, key: 1 })")
    for view in ("heatmap", "arcs", "score"):
        started.select_option("[name=view]", view)
        with started.expect_download() as download:
            started.click("[name=svg]")
        svg = Path(download.value.path()).read_text()
        assert svg.startswith('<svg xmlns="http:')
        assert "var(" not in svg
        assert "flies" in svg
        with started.expect_download() as download:
            started.click("[name=png]")
        assert Path(download.value.path()).read_bytes()[:4] == b"\x89PNG"


def test_a_score_in_detail_adds_up(started):
    type_in(started, "time flies")
    started.select_option("[name=view]", "score")
    said = started.inner_text(".live-cell")
    total, score = map(float, re.findall(r"-?\d+\.\d\d", said)[:2])
    assert score == pytest.approx(total / 32**0.5, abs=0.01)
    products = started.locator(".live-one svg g, .live-one svg rect title").all_text_contents()[
        -32:
    ]
    assert sum(map(float, products)) == pytest.approx(total, abs=0.02)
    started.select_option("[name=view]", "heatmap")


def test_a_sentence_can_be_kept_beside_another(started):
    type_in(started, "time flies")
    started.click("[name=pin]")
    type_in(started, "fruit flies like a banana")
    assert "Kept: 4 tokens" in started.inner_text(".live-kept")
    assert started.locator(".live-kept svg").count() == 1
    started.click("[name=pin]")
    assert started.locator(".live-kept").is_hidden()


TYPED_AND_SUBMITTED = """() => {
  const live = document.querySelector("glass-encoder"), { model, parts } = live;
  const encode = model.encode.bind(model);
  live.texts = [];
  model.encode = (text, pair) => (live.texts.push(text), encode(text, pair));
  parts.text.value = "a dog";
  parts.text.dispatchEvent(new Event("input"));
  parts.form.requestSubmit();
  return new Promise((done) => setTimeout(() => (delete model.encode, done(live.texts)), 500));
}"""


def test_a_sentence_that_is_typed_and_submitted_is_read_once(started):
    assert started.evaluate(TYPED_AND_SUBMITTED) == ["a dog"]


# --- what can go wrong


def test_too_much_or_nothing_is_said(started):
    type_in(started, "   ")
    assert said(started) == "Type a sentence first."
    for text, pair, tokens in (
        ("word " * 2000, "", 2002),
        ("a" * 10_000, "", None),
        ("long " * 300, "short", 304),
    ):
        type_in(started, text, pair)
        assert len(started.evaluate(TOKENS)) == 256 or tokens is None
        if tokens:
            assert f"has {tokens} tokens: only 256 of them are read" in said(started)
    ids = started.evaluate(TOKENS)
    assert ids[-3:] == ["[SEP]", "short", "[SEP]"]
    type_in(started, "time flies")


def damaged(route):
    body = bytearray(route.fetch().body())
    body[len(body) // 2] ^= 1
    route.fulfill(body=bytes(body))


TROUBLES = {
    "arrived damaged": {"changed": {"encoder.weights": damaged}},
    "the server answered 404": {"changed": {"encoder.graph": lambda r: r.fulfill(status=404)}},
    "could not be downloaded": {"changed": {"runtime.bin": lambda r: r.abort()}},
    "no WebAssembly": {"worker": "delete self.WebAssembly"},
    "enough free memory": {
        "worker": "self.Float32Array = class { constructor() { throw new RangeError('Array "
        "buffer allocation failed') } }"
    },
    "in a thread of its own": {"worker": "throw new Error('forbidden')"},
}


@pytest.mark.parametrize("message", TROUBLES)
def test_what_goes_wrong_is_said_and_the_recording_stays(browser, root, message):
    with opening(browser, root, **TROUBLES[message]) as page:
        start(page)
        assert message in said(page)
        assert page.locator(".live-one svg").is_visible()
        assert page.locator("glass-encoder form button").is_enabled()


def test_a_download_can_be_tried_again(browser, root):
    answers = [lambda route: route.abort(), lambda route: route.continue_()]
    changed = {"encoder.graph": lambda route: answers.pop(0)(route)}
    with opening(browser, root, changed=changed) as page:
        start(page)
        assert "try again" in said(page)
        page.evaluate("document.querySelector('.live-state').dataset.kind = ''")
        start(page)
        assert "read in" in said(page)


def test_where_nothing_can_be_kept_it_runs_and_says_so(browser, root):
    worker = "Object.defineProperty(self, 'caches', { value: { open: () => Promise.reject() } })"
    with opening(browser, root, worker=worker) as page:
        start(page)
        assert re.search("read in .* didn’t keep the model", said(page))


def test_without_scripts_there_is_a_picture(browser, root):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(root)
    assert page.locator("glass-encoder svg").first.is_visible()
    context.close()


# --- a page that follows one sentence

OTHERS = ["fruit flies like a banana", "an arrow"]
NORMED = "normed, scaled, shifted"
STEPS = {  # the names that the page has for a step's vectors, and where they come from
    "embeddings": {"token": "embeddings.tokens.output"},
    "positions": {
        "token": "embeddings.tokens.output",
        "position": "embeddings.positions.output",
        "type": "embeddings.token_types.output",
        "sum": None,
    },
    "embedding-norm": {"sum": None, NORMED: "embeddings.output"},
    "query": {"query of head 2": "layers.0.attention.query"},
    "key-value": {"key": "layers.0.attention.key", "value": "layers.0.attention.value"},
    "output": {"value": "layers.0.attention.value", "output": "layers.0.attention.output"},
    "merge": {"what attention found": "layers.0.attention.out_proj.output"},
    "norm": {"sum": None, NORMED: "layers.0.attention_norm.output"},
    "feed-forward": {
        "widened": "layers.0.feed_forward.up_proj.output",
        "after GELU": "layers.0.feed_forward.activation.output",
    },
    "narrow": {"what the network found": "layers.0.feed_forward.output"},
    "layer": {
        "before": "layers.0.attention_norm.output",
        "added": "layers.0.feed_forward.output",
        f"sum, {NORMED}": "layers.0.output",
    },
    "sentence": {"mean, scaled to length 1": None},
}
LATER = {"norm", "narrow", "layer"}  # steps that show later numbers than the first
MATRICES = ("scores", "weights", "layers", "heads", "compare")


@pytest.fixture(scope="module")
def followed(browser, tmp_path_factory):
    """A page with a heading and a picture for each step, and the reader's sentence in them."""
    folder = tmp_path_factory.mktemp("walk")
    write_site(walk("time flies like an arrow", OTHERS, head=2), folder)
    index = folder / "index.html"
    ours = "".join(
        f'<h2 id="step-{step}">{step}</h2><div class="proofbook-output"><p>ours</p>'
        f"{''.join(f'<i class=title>{name}</i>' for name in STEPS.get(step, ()))}</div>"
        for step in ("ids", *STEPS, *MATRICES)
    )
    index.write_text(index.read_text("utf-8").replace("</body>", f"{ours}</body>"), "utf-8")
    with served(folder) as url:
        page = browser.new_page()
        page.goto(url)
        page.click("glass-walk summary")
        page.fill("[name=text]", "the old bank by the river")
        page.click("[name=start]")
        page.wait_for_selector(".walk-own", timeout=60_000)
        yield page
        page.close()


def table_of(page, step):
    """What a step's picture says to those who don't see it: words, then numbers."""
    cells = "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
    return page.eval_on_selector_all(f"#step-{step} + .walk-own tr", cells)[1:]


def test_each_step_shows_what_python_computes_for_the_readers_sentence(followed):
    reading = read("the old bank by the river", model=MODEL)
    ids = reading.encoding["input_ids"][0].tolist()
    assert followed.inner_text("#step-ids + .walk-own").split() == [
        word for pair in zip(reading.tokens, map(str, ids), strict=True) for word in pair
    ]
    for step, tensors in STEPS.items():
        rows = table_of(followed, step)
        for name, path in tensors.items():
            if path is None:
                continue
            found = [row for row in rows if row[0].startswith(f"{name}: ")]
            tensor = reading.tape[path][0]
            tensor = tensor[2] if tensor.ndim == 3 else tensor  # (heads, seq, head_dim)
            shown = tensor[:, 88:91] if step in LATER else tensor[:, :3]
            wanted = torch.cat([tensor.norm(dim=-1, keepdim=True), shown], dim=1)
            assert [row[0] for row in found] == [f"{name}: {token}" for token in reading.tokens]
            numbers = torch.tensor([[float(cell) for cell in row[1:]] for row in found])
            torch.testing.assert_close(numbers, wanted, atol=0.2, rtol=0.02, msg=f"{step}, {name}")


def test_matrices_of_the_steps_are_those_of_the_readers_sentence(followed):
    reading = read("the old bank by the river", model=MODEL)
    states = torch.stack(reading.tape.hidden_states)[:, 0]
    mean, others = states[-1].mean(dim=0), embed(MODEL, OTHERS)
    wanted = {
        "scores": reading.tape["layers.0.attention.scores"][0, 2],
        "weights": reading.attentions[0, 2],
        "layers": torch.cosine_similarity(states[:1], states, dim=-1).mT,
        "heads": reading.attentions[:, :, 1, 2],
        "compare": torch.cosine_similarity(mean, others, dim=-1)[:, None],
    }
    for step in MATRICES:
        rows = table_of(followed, step)
        found = torch.tensor([[float(cell) for cell in row[1:]] for row in rows])
        close = {"atol": 0.2 if step == "scores" else 0.06, "rtol": 0}
        torch.testing.assert_close(found, wanted[step], msg=step, **close)
    [(name, *numbers)] = table_of(followed, "sentence")
    assert (name, numbers[0]) == ("mean, scaled to length 1: yours", "1.0")
    assert list(map(float, numbers[1:])) == pytest.approx(
        (mean / mean.norm())[:3].tolist(), abs=0.011
    )


def test_the_pages_own_sentence_comes_back(followed):
    assert not any(one.is_visible() for one in followed.get_by_text("ours", exact=True).all())
    followed.fill("[name=text]", "word " * 30)
    followed.click("[name=start]")
    followed.wait_for_selector(".walk-state[data-kind=error]")
    assert "has 32 tokens, and the pictures have room for 24" in followed.inner_text(".walk-state")
    followed.click("[name=back]")
    assert followed.locator(".walk-own").count() == 0
    assert all(one.is_visible() for one in followed.locator(".proofbook-output").all())
