"""The page of topics is whole: each topic leads to a heading that exists, or is planned."""

import re
from pathlib import Path

import pytest
import yaml
from pages import read

ROOT = Path(__file__).parents[2]
TOPICS = ROOT / "docs/reference/topics.md"

# What a book on the transformer has to cover: numbers are names, the words begin the topic.
ROWS = {
    1: "What the book covers",
    2: "What each chapter teaches",
    3: "The book in Korean",
    4: "The book in English",
    5: "Installing: what is needed",
    6: "Getting a copy to",
    7: "What is downloaded, and",
    8: "The libraries used, and",
    9: "One name for the",
    10: "Running on another device",
    11: "Seeds, training mode and",
    12: "The neuron view of",
    13: "Getting at the queries",
    14: "The head view of",
    15: "The sentence pair “time",
    16: "Asking `transformers` for its",
    17: "Where the second sentence",
    18: "Turning ids back into",
    19: "The attention heatmap of",
    20: "How to read a",
    21: "The cross-attention map of",
    22: "Reading alignment and word",
    23: "Why one looks inside",
    24: "Pictures of scaled dot-product",
    25: "Pictures of several heads",
    26: "A picture of the",
    27: "A picture of positions",
    28: "A trained tokenizer",
    29: "The ids of “time",
    30: "The ids with `[CLS]`",
    31: "The whole encoding: ids",
    32: "Ids as a tensor",
    33: "Decoding: from ids back",
    34: "The vocabulary: each token",
    35: "When special tokens are",
    36: "What `config.json` holds, and",
    37: "The size of the vocabulary",
    38: "The number of heads",
    39: "The inner width, and",
    40: "How long an input",
    41: "The number of layers",
    42: "The whole configuration of",
    43: "Setting the number of",
    44: "`nn.Embedding` with BERT's sizes",
    45: "The embedding table as",
    46: "Dense vectors against one-hot",
    47: "Whether an embedding is",
    48: "The vectors of a",
    49: "The order of axes",
    50: "One vector for two",
    51: "Attention as a weighted",
    52: "The four steps: project",
    53: "The steps one by",
    54: "The dot product as",
    55: "Embeddings as query, key",
    56: "The sizes of query",
    57: "Products of matrices in",
    58: "The scores, divided by",
    59: "The shape of the",
    60: "The scores of five",
    61: "The scores of seven",
    62: "Why divide: variance, and",
    63: "Softmax over rows, and",
    64: "The near-identity weights of",
    65: "The output: weights times",
    66: "The function `scaled_dot_product_attention`",
    67: "Which sizes must agree",
    68: "The formula of attention",
    69: "Do identical words attract",
    70: "Attention without the division",
    71: "Three learned projections, independent",
    72: "Why several heads: filters",
    73: "One head as a",
    74: "`nn.Linear` as a formula",
    75: "A head, made and",
    76: "The width of a",
    77: "Many heads as a",
    78: "The two halves of",
    79: "All heads in one",
    80: "When the sizes do",
    81: "The layer's output, size",
    82: "A layer with BERT's",
    83: "A small network applied",
    84: "As a convolution; four",
    85: "`nn.Linear` acts on the",
    86: "The block: linear, GELU",
    87: "The block of the",
    88: "The block, made and",
    89: "The block on the",
    90: "Layer normalisation and residual",
    91: "Norm before or after",
    92: "How pre-norm differs from",
    93: "An encoder layer with",
    94: "An encoder layer with",
    95: "What a layer leaves",
    96: "Why an encoder does",
    97: "Learned position embeddings",
    98: "Position ids",
    99: "The embedding module: token",
    100: "The epsilon of the",
    101: "What the embedding module",
    102: "Sinusoidal positions",
    103: "Embeddings and a stack",
    104: "The encoder's output",
    105: "Compared with `nn.TransformerEncoder`",
    106: "Body and head: one",
    107: "Reading from `[CLS]`",
    108: "Logits of three labels",
    109: "What a causal mask",
    110: "The causal mask, printed",
    111: "Masked scores",
    112: "Attention with a mask",
    113: "Masks that are added",
    114: "Source masks and target",
    115: "The decoder layer: masked",
    116: "The full-size encoder-decoder of",
    117: "The list of parts",
    118: "BERT: an encoder, how",
    119: "GPT: a decoder, predicting",
    120: "Uses: translation, summaries, answers",
    121: "Translation as the example",
    122: "Key terms at a",
}
# Chapters to come. Once one is in the navigation, nothing may be left as planned for it.
PLANNED = {
    "Making it fast",
    "A Korean edition",
}

pytestmark = pytest.mark.xdist_group("site")


def listed() -> list[tuple[int, str, str]]:
    """Number, topic and place of each row of the page."""
    row = re.compile(r"^\| (\d+) \| (.+?) \| (.+?) \|$", flags=re.MULTILINE)
    found = row.findall(TOPICS.read_text(encoding="utf-8"))
    return [(int(number), topic, place) for number, topic, place in found]


def places(place: str) -> list[str]:
    return place.split("<br>")


def test_each_topic_stands_once_and_in_order():
    assert [number for number, _, _ in listed()] == list(ROWS)
    for number, topic, _ in listed():
        assert topic.startswith(ROWS[number]), number


def test_each_topic_has_a_place_or_is_planned():
    link = re.compile(r"[A-Z][^:\[]*: \[[^\]]*(?:`\[\w+\]`[^\]]*)*\]\(\.\./[\w/-]+\.md#[\w-]+\)")
    plan = re.compile(r"\*planned: (.+)\*")
    for number, topic, place in listed():
        for one in places(place):
            planned = plan.fullmatch(one)
            assert link.fullmatch(one) or (planned and planned[1] in PLANNED), (number, topic, one)


def test_what_is_planned_is_not_in_the_navigation_yet():
    # The file's own tags (!ENV, !!python/name) are nobody's business here.
    text = re.sub(r"(?<=\s)!\S+", "", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    files = re.findall(r"[\w/-]+\.md", str(yaml.safe_load(text)["nav"]))
    assert len(files) > 5
    titles = set()
    for file in files:
        heading = re.search(r"^# (.+)$", (ROOT / "docs" / file).read_text(), flags=re.MULTILINE)
        titles.add(heading[1])
    assert not titles & PLANNED


def test_links_name_the_heading_they_lead_to(site):
    folder = site / "reference/topics"
    page = read(folder / "index.html")
    table = [
        tag for tag in page.named("a") if re.match(r"\.\./.+#", tag.attributes.get("href", ""))
    ]
    table = [tag for tag in table if "md-" not in tag.attributes.get("class", "")]
    assert len(table) > 80
    for tag in table:
        path, anchor = tag.attributes["href"].split("#")
        there = read((folder / path / "index.html").resolve())
        named = [h for h in there.named("h2", "h3") if h.attributes.get("id") == anchor]
        assert named, tag.attributes["href"]
        assert named[0].text.removesuffix("#").strip() == tag.text.strip()
