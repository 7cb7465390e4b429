"""What a reader types into the search box leads first to where it is explained."""

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browser import launched, served, visit

pytestmark = pytest.mark.browser

BOX = "input.md-search__input"
FIRST_HITS = {
    # a symbol: its entry
    "scaled_dot_product_attention": "reference/api/layers/",
    "MultiHeadAttention": "reference/api/layers/",
    "glassformer.layers.masks": "reference/api/layers/",
    "padding_mask": "reference/api/layers/",
    "TransformerConfig": "reference/api/models/",
    "from_hf": "reference/api/",
    # an error, as Python prints it: the chapter that shows who raises it, or the mistake
    "num_heads must divide d_model": "encoder/many-heads/",
    "ValueError: num_heads (10) must divide d_model (768)": "encoder/many-heads/",
    "attn_mask of shape (2, 3) does not broadcast to the scores' shape": "gpt/masks/",
    "query and key must have the same width to be multiplied": "encoder/attention/",
    "the cache was filled by another model": "gpt/kv-cache/",
    # a concept: its chapter
    "bpe": "language-models/tokenizers/",
    "byte pair encoding": "language-models/tokenizers/",
    "wordpiece": "language-models/tokenizers/",
    "unk": "language-models/tokenizers/",
    "attention": "encoder/attention/",
    "softmax axis": "encoder/attention/",
    "positional encoding": "encoder/positions/",
    "layer norm": "encoder/norms-and-residuals/",
    "causal mask": "gpt/masks/",
    "KV cache": "gpt/kv-cache/",
    "beam search": "appendix/beam-search/",
    "RMSNorm": "gpt/modern-block/",
    "grouped query attention": "gpt/kv-cache/",
    "GQA": "gpt/kv-cache/",
    "RoPE": "gpt/rotary-positions/",
    "perplexity": "gpt/next-token/",
}
LAYERS = "reference/api/layers/"
SECTIONS = {
    "MultiHeadAttention": f"{LAYERS}#glassformer.layers.multihead.MultiHeadAttention",
    "softmax axis": "encoder/attention/#softmax-over-the-wrong-axis",
    "num_heads must divide d_model": "encoder/many-heads/#which-number-must-divide-which",
    # names with signs, some of which Material would obey
    "-1e9": "appendix/masks-across-libraries/#minus-a-billion-for-minus-infinity",
    "-inf": "appendix/masks-across-libraries/#four-conventions-for-one-thing",
    "-100": "families/tasks/#hidden-words",
    "√d": "encoder/attention/#why-divide-by-the-square-root-of-d",
    "d_k": "encoder/attention/#why-divide-by-the-square-root-of-d",
    ".contiguous()": "encoder/many-heads/#contiguous",
    "@": "encoder/attention/#the-source",
    "num_kv_heads=": "gpt/kv-cache/#shared-keys-and-values",
    "##ing": "language-models/tokenizers/#longest-match-first",
}
DEBUGGING = Path(__file__).parents[2] / "docs" / "practice" / "debugging.md"
QUERIES: dict[str, list[str]] = {
    query: pages
    for kind in tomllib.loads(Path(__file__).with_name("queries.toml").read_text("utf-8")).values()
    for query, pages in kind.items()
}
# The item of each page that is found, as the links in it: the page itself, and sections of it.
ITEMS = """([count, links]) => [...document.querySelectorAll(".md-search-result__item")]
  .slice(0, count)
  .map(item => [...item.querySelectorAll(links)].map(a => (a.pathname + a.hash).slice(1)))"""
SHOWN = ":scope > a"  # the rest is folded
MISSING = """() => [...document.querySelectorAll(".md-search-result__item a")].flatMap(link =>
  [...link.querySelectorAll("del")].map(word => [link.pathname.slice(1), word.textContent]))"""


@pytest.fixture(scope="module")
def page(site: Path) -> Iterator[Any]:
    with launched() as browser, served(site) as url, visit(browser, url) as seen:
        seen.page.locator(BOX).click()
        yield seen.page
        assert not seen.complaints
        assert not seen.foreign


def test_proofs_and_the_ledger_are_not_what_anybody_searches_for(site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text())["docs"]
    texts = "".join(entry["text"] for entry in index)
    assert "scaled_dot_product_attention(query, key, value" in texts
    assert "Verified when this page was built" not in texts
    assert "was asserted and is" not in texts


def said(page: Any, words: str) -> None:
    meta = "document.querySelector('.md-search-result__meta').textContent"
    page.wait_for_function(f"/{words}/.test({meta})", timeout=60_000)


def first(page: Any, query: str, count: int = 3, links: str = "a") -> list[list[str]]:
    """The first pages that are found, each as its address and those of its sections."""
    for text, answer in (("", "Type to start"), (query, "matching document")):
        page.locator(BOX).fill(text)
        page.keyboard.press("Shift")  # the box listens for keys
        said(page, answer)
    return page.evaluate(ITEMS, [count, links])


def test_the_first_hit_is_the_right_page(page: Any) -> None:
    found = {query: first(page, query) for query in FIRST_HITS}
    wrong = {
        query: items
        for query, items in found.items()
        if not items[0][0].startswith(FIRST_HITS[query])
    }
    assert not wrong, json.dumps(wrong, indent=1)


def test_the_right_section_stands_first_on_its_page(page: Any) -> None:
    for query, section in SECTIONS.items():
        links = [link for item in first(page, query, links=SHOWN) for link in item]
        assert next(link for link in links if "#" in link) == section, query


def test_no_word_is_called_missing_that_stands_on_the_page(page: Any, site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text())["docs"]
    texts: dict[str, str] = {}
    for one in index:
        words = " ".join([one["title"], *one.get("tags", []), one["text"]])
        place = one["location"].split("#")[0]
        texts[place] = f"{texts.get(place, '')} {words}".lower()
    said_missing = 0
    for query in ("normalise the summed scores", "masks of nn.TransformerEncoder", *FIRST_HITS):
        first(page, query)
        for place, word in page.evaluate(MISSING):
            said_missing += 1
            assert not re.search(rf"(?<!\w){re.escape(word)}", texts[place]), (query, place, word)
    assert said_missing > 10


def symptoms() -> dict[str, set[str]]:
    """The messages and symptoms in Debugging's tables, and the places that each row leads to."""
    rows, part = {}, "symptoms"
    for line in DEBUGGING.read_text("utf-8").splitlines():
        if heading := re.match(r"##+ .*\{ #([\w-]+) \}$", line):
            part = heading[1]
        if line.startswith("| ") and not line.startswith(("| message", "| symptom")):
            words = re.sub(r"\{[^}]*\}|[`…]", " ", re.split(r"(?<!\\)\|", line)[1])
            links = re.findall(r"\]\((?:\.\./)?([\w/-]+)\.md#([\w-]+)\)", line)
            places = {f"{page if '/' in page else f'practice/{page}'}/#{at}" for page, at in links}
            here = {"symptoms", part, *re.findall(r"\]\(#([\w-]+)\)", line)}
            rows[" ".join(words.split())] = places | {f"practice/debugging/#{at}" for at in here}
    return rows


@pytest.mark.slow
def test_each_symptom_leads_to_its_row_or_to_the_section_that_explains_it(page: Any) -> None:
    rows = symptoms()
    assert len(rows) > 40
    found = {words: first(page, words, links=SHOWN) for words in rows}
    wrong = {
        words: items
        for words, items in found.items()
        if not rows[words] & {link for item in items for link in item[:3]}
    }
    assert not wrong, json.dumps(wrong, indent=1)


def test_the_entry_of_what_raises_an_error_is_on_the_second_page_at_the_latest(page: Any) -> None:
    found = first(page, "attn_mask of shape (2, 3) does not broadcast to the scores' shape", 2)
    [links] = [item for item in found if item[0].startswith("reference/api/layers/")]
    assert f"{LAYERS}#glassformer.layers.attention.attention_scores" in links


def test_nothing_is_found_for_what_stands_nowhere(page: Any) -> None:
    page.locator(BOX).fill("xylophone")
    page.keyboard.press("Shift")
    said(page, "No matching documents")
    assert not page.locator(".search-instead").is_visible()


def test_a_misspelled_word_is_mended_and_the_reader_is_told(page: Any) -> None:
    assert first(page, "rotery embeding", 1)[0][0] == "gpt/rotary-positions/"
    line = page.locator(".search-instead")
    assert line.text_content().startswith("Did you mean “rotary embedding”?")
    assert line.is_visible()
    first(page, "rotary embedding", 1)
    assert not line.is_visible()


def test_a_quotation_with_a_misspelled_word_finds_what_its_right_spelling_finds(page: Any) -> None:
    wrong, right = (first(page, f"{word} is all you need") for word in ("atention", "attention"))
    assert wrong == right
    assert wrong != first(page, "attention all")  # the same words, no quotation


def test_a_list_of_contents_is_no_part_of_what_is_found(site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text())["docs"]
    found = [e["location"] for e in index if re.search("In this chapter(?!,)", e["text"])]
    assert found == []
    assert any("In this chapter, we" in entry["text"] for entry in index)


def test_only_the_words_that_were_found_are_shown_of_those_a_page_brings_along(page: Any) -> None:
    first(page, "GQA", 1)
    tags = page.locator(".md-search-result .md-tag")
    shown = [tag.text_content() for tag in tags.all() if tag.is_visible()]
    assert shown
    assert all("gqa" in tag.lower() for tag in shown)
    assert len(shown) < tags.count()


def is_for_tuning(query: str) -> bool:
    """Tell the half that the search was tuned with from the one that was measured at the end."""
    return int(hashlib.sha256(query.encode()).hexdigest(), 16) % 2 == 0


def missed(page: Any, queries: list[str]) -> dict[str, list[str]]:
    """The queries that none of the first three pages answers, and which these are."""
    found = {}
    for query in queries:
        items = first(page, query)
        answers = {one for item in items for one in item} | {item[0] for item in items}
        if not answers & {*QUERIES[query]}:
            found[query] = [item[0] for item in items]
    return found


def test_the_queries_are_many_and_in_two_halves():
    tuning = sum(map(is_for_tuning, QUERIES))
    assert (len(QUERIES), tuning) == (691, 340)


@pytest.mark.slow
def test_a_page_that_answers_a_reader_is_among_the_first_three(page: Any) -> None:
    found = missed(page, list(QUERIES))
    assert len(found) <= 0.03 * len(QUERIES), json.dumps(found, indent=1)
