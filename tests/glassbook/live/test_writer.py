"""The language models in a page, in a real browser, against the same models in Python."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from browser import WEBGPU, executable, launched, served, visit
from fixtures import without_hook
from glassbook.corpora import stories
from glassbook.live.element import SCRIPTS as SHARED
from glassbook.live.writer import LANGUAGES, SCRIPTS, writer
from glassformer.inference.generation import generate, token_probabilities
from live_pages import write_site

STORY = "ben painted a picture of a"
PROMPTS = [
    STORY,
    "",
    "the",
    "Anna has a RED kite,",
    "max laughed. then",
    "on monday , ben",
    "zebras café 12 naïve?",
    "the the the the the the",
    "in the evening, they all went home. they were tired, but",
    " ".join(["the dog ran."] * 14),
]
ENGLISH = [
    "She opened the door and saw",
    "The capital of France is",
    "def add(a, b):\n    return",
    "Two plus two equals",
    "naïve café 😀 in 2026, it cost 3.50 €:",
    "The opposite of hot is",
    "Once upon a time",
    "Ingredients:\n- 2 eggs\n- 100 g of flour\n-",
    "A B C D E",
    "Der Hund läuft",
    "My favorite color",
    "  two spaces",
    "It was raining, so we",
    "1, 2, 3, 4,",
    "The president said that",
    "Q: What is a cat?\nA:",
    "to be or not to be",
    "The cat sat on the mat. The cat sat on",
    "HTML stands for",
    "In the year 1969, humans",
]
LOOK = "document.querySelector('glass-writer')"


@pytest.fixture(scope="module")
def view():
    with without_hook():
        return writer(STORY)


@pytest.fixture(scope="module")
def site(view, tmp_path_factory):
    folder = tmp_path_factory.mktemp("gpt")
    write_site(view, folder)
    return folder


@pytest.fixture(scope="module")
def gpt():
    return LANGUAGES["gpt"]()


@pytest.fixture(scope="module")
def browser():
    with launched() as started:
        yield started


@pytest.fixture
def seen(browser, site):
    with served(site) as url, visit(browser, url) as opened:
        yield opened
        assert opened.foreign == []
        assert opened.complaints == []


def start(page):
    """Start the model, and wait for the first result."""
    page.click("glass-writer form button")
    page.wait_for_selector(".writer-live:not([hidden])", timeout=120_000)
    wait_for(page, "tokens, the last step")


def wait_for(page, words):
    page.wait_for_function(
        "words => document.querySelector('.writer-state').textContent.includes(words)",
        arg=words,
        timeout=120_000,
    )


def ids_of(page, text):
    return page.evaluate(f"text => {LOOK}.model.encode(text)", text)


def logits_of(page, ids):
    step = f"ids => {LOOK}.model.step(ids).then(({{ logits }}) => Array.from(logits))"
    return torch.tensor(page.evaluate(step, ids))


def strip(page):
    """Each token, and how dark it is: its weight, relative to the largest."""
    spans = "spans => spans.map(span => [span.textContent, Number(span.lastChild.style.opacity)])"
    return page.eval_on_selector_all(".writer-tokens span", spans)


def bars(page):
    """Each likely token, and its probability as it's written."""
    rows = "rows => rows.map(row => [row.children[0].textContent, row.children[2].textContent])"
    return page.eval_on_selector_all(".writer-next button", rows)


def move(page, **settings):
    """Move sliders, as a reader would."""
    for name, value in settings.items():
        page.eval_on_selector(
            f"[name={name}]",
            "(input, value) => { input.value = value; input.dispatchEvent(new Event('input')) }",
            str(value),
        )


# --- without JavaScript


def test_the_view_has_a_still_picture_and_says_what_it_is(view):
    assert STORY in view.text
    assert "all others" in view.text
    assert view._repr_html_() in view.element
    assert view.downloads < 5_000_000
    html, files = view._repr_page_()
    assert {*re.findall(r"asset://([\w.-]+)", html)} == {*files}
    assert {*SHARED.values(), *SCRIPTS.values()} < {*files}
    assert all(Path(path).is_file() for path in files.values())


def test_a_model_must_be_one_of_two():
    with pytest.raises(ValueError, match=r"model \('bert'\) must be one of gpt, smollm"):
        writer("the", "bert")


@pytest.mark.browser
def test_without_javascript_the_picture_stays(browser, site):
    with served(site) as url, visit(browser, url, javascript=False) as seen:
        assert seen.page.is_visible("glass-writer svg")
        assert seen.page.query_selector("glass-writer button") is None


# --- the small GPT


@pytest.mark.browser
def test_the_page_computes_what_python_computes(seen, gpt):
    """Ids, logits, and attention of the last token, whatever the page has read before."""
    start(seen.page)
    for prompt in PROMPTS:
        ids = [*gpt.start, *gpt.encode(prompt)]
        assert ids_of(seen.page, prompt) == ids
        with torch.inference_mode():
            wanted = gpt.model(torch.tensor([ids]))[0, -1]
        torch.testing.assert_close(logits_of(seen.page, ids), wanted, atol=1e-4, rtol=0)


@pytest.mark.browser
def test_scripts_write_the_likeliest_tokens(seen, gpt):
    for prompt in PROMPTS[:9]:
        found = seen.page.evaluate("text => glassformer.write(text, 12)", prompt)
        ids = torch.tensor([[*gpt.start, *gpt.encode(prompt)]])
        wanted = generate(gpt.model, ids, max_new_tokens=12, eos_token_id=gpt.end)
        wanted = wanted[0, ids.shape[1] :].tolist()
        assert found["ids"] == wanted
        assert found["tokens"] == [gpt.decode(token) for token in wanted]
        assert found["text"].replace("[END]", "").strip() == stories.read(wanted)


@pytest.mark.browser
def test_sliders_and_bars_follow_token_probabilities(seen, gpt):
    page = seen.page
    start(page)
    logits = logits_of(page, page.evaluate(f"{LOOK}.ids"))
    rows = [
        ({"temperature": 1, "topK": 8, "topP": 1}, {}),
        ({"temperature": 0.5}, {"temperature": 0.5}),
        ({"topK": 2}, {"temperature": 0.5, "top_k": 3}),
        ({"temperature": 1.5, "topP": 0.8}, {"temperature": 1.5, "top_k": 3, "top_p": 0.8}),
        ({"topK": 8, "topP": 0.35}, {"temperature": 1.5, "top_p": 0.35}),
        ({"topP": 0.05}, {"temperature": 1.5, "top_p": 0.05}),
    ]
    for moved, settings in rows:
        move(page, **moved)
        found = page.evaluate(f"Array.from({LOOK}.chances({LOOK}.settings()))")
        wanted = token_probabilities(logits, **settings)
        torch.testing.assert_close(
            torch.tensor(found, dtype=torch.float32), wanted, atol=1e-5, rtol=0
        )
        best = logits.sort(descending=True).indices[:10].tolist()
        assert [token for token, _ in bars(page)] == [gpt.decode(token) for token in best]
        shown = [0.0 if "<" in number else float(number) for _, number in bars(page)]
        assert shown == pytest.approx(wanted[best].tolist(), abs=0.0051)


@pytest.mark.browser
def test_a_reader_can_write_and_take_back(seen, gpt):
    page = seen.page
    start(page)
    before = page.evaluate(f"{LOOK}.ids")
    second = bars(page)[1][0]
    page.focus(".writer-next li:nth-child(2) button")
    page.keyboard.press("Enter")
    wait_for(page, f"{len(before) + 1} tokens")
    assert strip(page)[-1][0] == second
    page.click("[name=write]")
    wait_for(page, f"{len(before) + 2} tokens")
    page.click("[name=back]")
    page.click("[name=back]")
    wait_for(page, f"{len(before)} tokens")
    assert page.evaluate(f"{LOOK}.ids") == before
    assert page.is_disabled("[name=back]")
    move(page, topK=0)  # only the likeliest token
    page.click("[name=on]")
    page.wait_for_function(f"!{LOOK}.isLooping && {LOOK}.ids.length > {len(before)}")
    ids = torch.tensor([before])
    most = min(40, gpt.most - len(before))
    wanted = generate(gpt.model, ids, max_new_tokens=most, eos_token_id=gpt.end)[0].tolist()
    assert page.evaluate(f"{LOOK}.ids") == wanted


@pytest.mark.browser
def test_the_strip_shows_the_chosen_heads_attention(seen, gpt):
    page = seen.page
    start(page)
    page.select_option("[name=layer]", index=1)
    page.select_option("[name=head]", index=2)
    weights = []
    attention = gpt.model.decoder.layers[1].attention
    attention.recorder = lambda name, tensor: name == "weights" and weights.append(tensor)
    try:
        ids = page.evaluate(f"{LOOK}.ids")
        gpt.model(torch.tensor([ids]))
    finally:
        attention.recorder = None
    wanted = weights[0][0, 2, -1]
    tokens, dark = zip(*strip(page), strict=True)
    assert tokens == tuple(map(gpt.decode, ids))
    assert dark == pytest.approx((wanted / wanted.max()).tolist(), abs=0.001)
    assert f"a weight of {wanted.max():.2f}" in page.inner_text(".writer-head")


@pytest.mark.browser
def test_the_lens_ends_on_what_the_model_says(seen):
    page = seen.page
    start(page)
    page.click(".writer-lens summary")
    page.wait_for_selector(".writer-lens td")
    words = "cells => cells.map(cell => cell.firstChild.textContent.trim())"
    cells = page.eval_on_selector_all(".writer-lens td", words)
    assert len(cells) == 2 * 3
    assert cells[3:] == [token for token, _ in bars(page)[:3]]


@pytest.mark.browser
def test_bad_texts_are_explained(seen, gpt):
    page = seen.page
    start(page)
    page.fill("[name=text]", " ".join(["the"] * 63))
    wait_for(page, "This text has 63 tokens, and at most 62 fit.")
    page.fill("[name=text]", "the zebra")
    wait_for(page, "[UNK] is a word that this model doesn’t know.")


@pytest.mark.browser
def test_failures_are_said_and_can_be_tried_again(browser, site):
    with served(site) as url, visit(browser, url) as seen:
        page = seen.page
        page.route("**/gpt.weights", lambda route: route.abort())
        page.click("glass-writer form button")
        wait_for(page, "gpt.weights could not be downloaded. Press the button to try again.")
        page.unroute("**/gpt.weights")
        page.route("**/gpt.weights", lambda route: route.fulfill(body=b"short"))
        page.click("glass-writer form button")
        wait_for(page, "arrived damaged (5 of")
        page.unroute("**/gpt.weights")
        start(page)


@pytest.mark.browser
def test_it_fits_a_phone_in_the_dark(browser, site):
    with served(site) as url, visit(browser, url, width=360, dark=True) as seen:
        start(seen.page)
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 360
        low = seen.page.eval_on_selector_all(
            ".writer-next button", "all => Math.min(...all.map(one => one.offsetHeight))"
        )
        assert low >= 24


# --- WebGPU, which Chromium imitates


REAL = "Object.defineProperty(GPUAdapterInfo.prototype, 'isFallbackAdapter', { get: () => false })"


@pytest.fixture(scope="module")
def gpu_site(gpt, tmp_path_factory):
    """A page with the small GPT, which runs on a graphics processor where there is one."""
    folder = tmp_path_factory.mktemp("gpu")
    with pytest.MonkeyPatch.context() as patch, without_hook():
        patch.setitem(LANGUAGES, "gpt", lambda: replace(gpt, on_gpu=True))
        write_site(writer(STORY), folder)
    return folder


@pytest.fixture(scope="module")
def gpu_browser(browser):
    chromium = browser.browser_type
    with chromium.launch(executable_path=executable(), args=WEBGPU) as started:
        yield started


def runtimes(seen):
    """Which runtimes a page has downloaded."""
    return {Path(url).name for url in seen.requests if url.endswith(".bin")}


@pytest.mark.browser
def test_a_graphics_processor_computes_the_same(gpu_browser, gpu_site, gpt):
    with served(gpu_site) as url, visit(gpu_browser, url) as seen:
        page = seen.page
        page.add_init_script(REAL)
        page.reload()
        start(page)
        wait_for(page, "on the graphics processor")
        assert runtimes(seen) == {"runtime-gpu.bin"}
        for prompt in PROMPTS[:4]:
            ids = [*gpt.start, *gpt.encode(prompt)]
            with torch.inference_mode():
                wanted = gpt.model(torch.tensor([ids]))[0, -1]
            torch.testing.assert_close(logits_of(page, ids), wanted, atol=1e-4, rtol=0)
        assert seen.complaints == []


@pytest.mark.browser
def test_an_imitated_or_failing_graphics_processor_is_left_alone(gpu_browser, gpu_site):
    with served(gpu_site) as url, visit(gpu_browser, url) as seen:
        start(seen.page)
        assert runtimes(seen) == {"runtime.bin"}
    with served(gpu_site) as url, visit(gpu_browser, url) as seen:
        seen.page.add_init_script(REAL)
        seen.page.route("**/ort.jspi.bundle.min.mjs", lambda route: route.fulfill(body="no"))
        seen.page.reload()
        start(seen.page)
        assert runtimes(seen) == {"runtime-gpu.bin", "runtime.bin"}
        assert "graphics" not in seen.page.inner_text(".writer-state")


# --- SmolLM2


@pytest.fixture(scope="module")
def smol_site(tmp_path_factory):
    """A page with SmolLM2: exported before the test's time counts."""
    folder = tmp_path_factory.mktemp("smollm")
    with without_hook():
        write_site(writer(ENGLISH[0], "smollm"), folder)
    return folder


def same_tokens(browser, folder, prompts):
    """The page's greedy tokens are Python's, and it has nothing else to say than Python has."""
    smol = LANGUAGES["smollm"]()
    with served(folder) as url, visit(browser, url) as seen:
        for prompt in prompts:
            found = seen.page.evaluate("text => glassformer.write(text, 12)", prompt)
            ids = torch.tensor([smol.encode(prompt)])
            wanted = generate(smol.model, ids, max_new_tokens=12, eos_token_id=smol.end)
            wanted = wanted[0, ids.shape[1] :].tolist()
            assert (prompt, found["ids"]) == (prompt, wanted)
            assert found["tokens"] == [smol.decode(token) for token in wanted]
        assert seen.complaints == []
        assert seen.foreign == []


@pytest.mark.browser
@pytest.mark.language_model
@pytest.mark.slow
def test_smollm_writes_what_it_writes_in_python(browser, smol_site):
    same_tokens(browser, smol_site, ENGLISH[:2])


@pytest.mark.browser
@pytest.mark.language_model
@pytest.mark.nightly
def test_smollm_writes_what_it_writes_in_python_for_all_prompts(browser, smol_site):
    same_tokens(browser, smol_site, ENGLISH)
