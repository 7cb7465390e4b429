"""The translator in the page: the same words, logits, and attention as in Python."""

import re

import numpy as np
import pytest
import torch

from browser import launched, served
from glassbook.corpora.translation_corpus import make_corpus
from glassbook.live.translator import ShownTranslator, translator
from glassbook.recipes import trained
from glassbook.recipes.translation import END, START, encode, tokenizers
from glassformer import generate, record
from live_pages import write_site

TRANSLATE = """async german => {
  const { tokens, logits, crossAttentions } = await glassformer.translate(german);
  return { tokens, logits: [...logits.data], weights: [...crossAttentions.data] };
}"""
GERMAN = "Das Kind , das heute singt , hört die Tante nicht ."


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("translator")
    write_site(translator(GERMAN, ["Das ist ein Beispiel ."]), folder)
    with served(folder) as root, launched() as browser:
        page = browser.new_page(viewport={"width": 360, "height": 900})
        page.goto(root)
        page.wait_for_selector("glass-translator form")
        yield page


def read(page, german, english=""):
    page.fill("[name=german]", german)
    page.fill("[name=english]", english)
    page.evaluate("document.querySelector('.translator-state').dataset.kind = ''")
    page.click("[name=start]")
    page.wait_for_selector(".translator-state:is([data-kind=read], [data-kind=error])")


def text(page, part):
    return page.inner_text(f".translator-{part}")


def test_it_returns_what_the_translator_computes():
    model = trained("translator").model
    source, target = encode(tokenizers()[0], [GERMAN]), torch.tensor([[START, 7, 11]])
    with record(model) as tape, torch.no_grad():
        logits = model(source, target)
    with torch.no_grad():
        found, weights = ShownTranslator(model)(source, target)
    torch.testing.assert_close(found, logits[0])
    torch.testing.assert_close(weights, torch.cat(tape.cross_attentions))


@pytest.mark.browser
@pytest.mark.slow
def test_it_translates_as_python_does(page):
    model, (_, english) = trained("translator").model, tokenizers()
    corpus = make_corpus()
    for pair in corpus.by_sentence[:10] + corpus.by_structure[:10]:
        source = encode(tokenizers()[0], [pair.german])
        written = generate(
            model, source, max_new_tokens=40, eos_token_id=END, decoder_start_token_id=START
        )
        with record(model) as tape, torch.no_grad():
            logits = model(source, written[:, :-1])[0]
        found = page.evaluate(TRANSLATE, pair.german)
        assert found["tokens"] == [english.id_to_token(i) for i in written[0, 1:].tolist()]
        off = np.abs(np.reshape(found["logits"], logits.shape) - logits.numpy()).max()
        assert off < 1e-4, pair.german
        weights = torch.cat(tape.cross_attentions).numpy()
        assert np.abs(np.reshape(found["weights"], weights.shape) - weights).max() < 1e-4


@pytest.mark.browser
@pytest.mark.slow
def test_a_reader_writes_word_by_word(page):
    read(page, "Das ist ein Beispiel.")
    assert text(page, "state") == "0 words written."
    assert page.locator(".translator-picture svg rect").count() == 6
    page.click("[name=write]")
    page.wait_for_function("document.querySelector('.translator-text').innerText === 'this'")
    page.locator(".translator-next button").nth(1).click()
    page.wait_for_function("document.querySelector('.translator-text').innerText.includes(' ')")
    assert not text(page, "text").startswith("this is")
    page.click("[name=back]")
    page.wait_for_function("document.querySelector('.translator-text').innerText === 'this'")
    page.click("[name=on]")
    page.wait_for_function("document.querySelector('[name=on]').disabled")
    assert text(page, "text") == "this is an example."
    assert text(page, "state") == "Done after 5 words."
    assert page.locator(".translator-picture svg rect").count() == 6 * 6
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")


@pytest.mark.browser
@pytest.mark.slow
def test_teacher_forcing_stands_beside_it(page):
    read(page, "Das ist ein Beispiel.", "This is a dog.")
    page.wait_for_selector(".translator-forced td")
    rows = page.locator(".translator-forced tbody tr").all_inner_texts()
    assert rows[0].endswith("the same")
    assert re.match(r"a\t(< )?0\.0\d\tan \(0\.\d\d\)", rows[2])


@pytest.mark.browser
@pytest.mark.slow
def test_what_it_cannot_read_is_said(page):
    read(page, "Das ist ein Flugzeug.")
    assert "It doesn’t know “flugzeug”: it reads [UNK] instead." in text(page, "state")
    for german, said in (("  ", "Type a German sentence first."), ("das " * 41, "at most 40 fit")):
        read(page, german)
        assert said in text(page, "state")
