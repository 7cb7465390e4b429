"""What settings of sampling do to real distributions: the still picture, and the sliders."""

import re

import pytest
import torch
from transformers.generation import (
    LogitsProcessorList,
    MinPLogitsWarper,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from browser import visit
from glassformer.views import sampling
from glassformer.views.sampling import ALONE, SHOWN, pack

VOCAB = 5003
WARPERS = {
    "temperature": TemperatureLogitsWarper,
    "top_k": TopKLogitsWarper,
    "top_p": TopPLogitsWarper,
    "min_p": MinPLogitsWarper,
}
TOP_K = [1, 2, 3, 5, 10, 20, 50, 100]


def logits(spread):
    torch.manual_seed(11)
    return spread * torch.randn(VOCAB, dtype=torch.float64)


def by_transformers(scores, settings):
    """Its probabilities, and how much those that stay had before the filters."""
    heat = settings.get("temperature", 1.0)
    warpers = LogitsProcessorList(WARPERS[name](value) for name, value in settings.items())
    after = warpers(torch.zeros(1, 1).long(), scores[None])[0].softmax(-1)
    return after, (scores / heat).softmax(-1)[after > 0].sum().item()


def test_the_still_picture_has_the_probabilities_of_transformers(subtests):
    given = {"sure": logits(5.0), "unsure": logits(2.0)}
    lines = str(sampling(given, lambda token: f"t{token}")).splitlines()[1:]
    still = [
        ("as-is", {}),
        ("τ = 0.5", {"temperature": 0.5}),
        ("τ = 2", {"temperature": 2.0}),
        ("k = 10", {"top_k": 10}),
        ("p = 0.9", {"top_p": 0.9}),
        ("min 0.1", {"min_p": 0.1}),
    ]
    rows = [(title, *setting) for title in given for setting in still]
    for found, (title, name, settings) in zip(lines, rows, strict=True):
        with subtests.test(f"{title}, {name}"):
            after, had = by_transformers(given[title], settings)
            best = given[title].argsort(descending=True)[:SHOWN].tolist()
            expected = [f"t{token} {after[token]:.3f}" for token in best]
            expected.append(f"all others {1 - after[best].sum():.3f}")
            start = f"{title} {name} {int((after > 0).sum()):,} {had:.3f}"
            read = re.sub("< 0.001|-0.000|\\b0(?=,|$)", "0.000", " ".join(found.split()))
            assert read == f"{start} {', '.join(expected)}".replace("-0.000", "0.000")


def test_a_page_gets_each_token_once_and_all_others_in_narrow_bins():
    ranked = logits(3.0).sort(descending=True).values
    groups = pack(ranked)
    assert sum(tokens for _, tokens in groups) == VOCAB
    assert [tokens for _, tokens in groups[:ALONE]] == [1] * ALONE
    relative = ranked - ranked[0]
    assert torch.tensor(groups)[:ALONE, 0].allclose(relative[:ALONE].float(), atol=1e-5)
    for heat in (0.1, 0.7, 1, 2):
        exact = (relative / heat).exp().sum().item()
        packed = sum(tokens * torch.tensor(value / heat).exp().item() for value, tokens in groups)
        assert packed == pytest.approx(exact, rel=3e-4)


@pytest.fixture(scope="module")
def address(shelf):
    given = {"sure": logits(5.0), "unsure": logits(2.0)}
    return shelf.page(*2 * [sampling(given, "t{}".format)])


def value(written):
    return 0.0 if written == "< 0.001" else float(written)


@pytest.mark.browser
@pytest.mark.xdist_group("views-browser")
def test_sliders_give_the_probabilities_of_transformers(browser, address, subtests):
    with visit(browser, address) as seen:
        figure = seen.page.locator("figure").last
        for settings in (
            {"temperature": 0.3},
            {"temperature": 2.0},
            {"top_k": 5},
            {"top_p": 0.73},
            {"min_p": 0.07},
            {"top_k": 20, "top_p": 0.8},
            {"temperature": 1.7, "top_k": 50, "top_p": 0.6, "min_p": 0.3},
            {"temperature": 1.5, "top_p": 0.95, "min_p": 0.02},
        ):
            figure.locator("button").click()
            for name, setting in {"temperature": 1.0, **settings}.items():
                slider = figure.locator(f'input[name="{name}"]')
                slider.fill(str(TOP_K.index(setting) if name == "top_k" else setting))
            for k, scores in enumerate((logits(5.0), logits(2.0))):
                with subtests.test(f"{settings} {k}"):
                    panel = figure.locator("[data-logits]").nth(k)
                    after, had = by_transformers(scores, settings)
                    best = scores.argsort(descending=True)[:SHOWN]
                    expected = [*after[best].tolist(), 1 - after[best].sum().item()]
                    rows = panel.locator("[data-row]")
                    read = [value(words) for words in rows.locator("text").all_text_contents()]
                    assert read == pytest.approx(expected, abs=6e-4)
                    bars = [float(bar.get_attribute("width")) for bar in rows.locator(".bar").all()]
                    across = float(rows.first.get_attribute("data-across"))
                    assert bars == pytest.approx([across * v for v in expected], abs=0.1)
                    stay, told = int((after > 0).sum()), panel.locator("p").text_content()
                    number = int(re.search(r"[\d,]+", told)[0].replace(",", ""))
                    assert number == (stay if stay <= ALONE else pytest.approx(stay, rel=0.05))
                    assert told.startswith("About") == (ALONE < stay < VOCAB)
                    if stay < VOCAB:
                        said = float(re.search(r"they had ([\d.]+)\.", told)[1])
                        assert said == pytest.approx(had, abs=6e-4)


@pytest.mark.browser
@pytest.mark.xdist_group("views-browser")
def test_keys_move_a_slider_and_reset_brings_back_the_first_settings(browser, address):
    with visit(browser, address) as seen:
        first, other = seen.page.locator("figure").all()
        assert not first.locator(".still").is_visible()
        before = first.locator(".panels").inner_text()
        slider = first.locator('input[name="top_k"]')
        slider.focus()
        seen.page.keyboard.press("ArrowLeft")
        assert slider.get_attribute("aria-valuetext") == "100"
        assert "100 of 5,003 tokens stay." in first.locator(".panels").inner_text()
        assert other.locator(".panels").inner_text() == before  # it has its own sliders
        first.locator("button").click()
        seen.page.wait_for_function(
            "document.querySelector('[name=top_k]').getAttribute('aria-valuetext') === 'off'"
        )
        assert first.locator(".panels").inner_text() == before
        seen.page.emulate_media(media="print")
        assert first.locator(".still").is_visible()
        assert not first.locator("form").is_visible()
    assert not seen.complaints
