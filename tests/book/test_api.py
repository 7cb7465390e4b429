"""The API reference has every public name, as Python itself sees it; links lead there and back."""

import importlib
import inspect
import io
import json
import pkgutil
import re
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

import glassbook
import glassformer

ROOT = Path(__file__).parents[2]
API = ROOT / "docs/reference/api"
LINK = re.compile(r'<a class="symbol" href="([^"]*)">(?:<code>|<span class="n">)([^<]*)<')
ENTRY = re.compile(
    r'<h[234] id="(glass(?:former|book)[\w.]*)">(.*?)(?=<h[234] id="|</article>)', re.DOTALL
)


@cache
def modules() -> dict[str, ModuleType]:
    """The modules of the rooms; of two rooms, what lies in them is handed on."""
    whole = {"glassformer.views", "glassbook.exercises"}
    found = []
    for package in (glassformer, glassbook):
        for room in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            path = importlib.import_module(room.name).__path__
            found += [] if room.name in whole else pkgutil.iter_modules(path, f"{room.name}.")
    names = {one.name for one in found if not one.name.startswith("glassbook.site.")}
    return {name: importlib.import_module(name) for name in sorted(names | whole)}


def public() -> dict[str, object]:
    """Functions and classes by the name under which they are described."""
    found = {}
    for name, module in modules().items():
        is_package = hasattr(module, "__path__")
        for short, value in vars(module).items():
            if short.startswith("_") or not (inspect.isfunction(value) or inspect.isclass(value)):
                continue
            within = is_package and value.__module__.startswith(f"{name}.")
            if value.__module__ == name or within:
                found[f"{value.__module__}.{short}"] = value
    return found


@pytest.fixture(scope="module")
def entries(site: Path) -> dict[str, tuple[str, str]]:
    """Address of the page and HTML of each entry."""
    found: dict[str, tuple[str, str]] = {}
    for path in sorted((site / "reference/api").rglob("index.html")):
        address = f"{path.parent.relative_to(site)}/"
        for name, html in ENTRY.findall(path.read_text(encoding="utf-8")):
            assert name not in found, f"{name} is described twice"
            found[name] = address, html
    return found


def signature(html: str) -> str:
    block = re.search(r'<div class="highlight api-signature">(.*?)</div>', html, re.DOTALL)
    text = re.sub("<[^>]+>", "", block[1]) if block else ""
    return text.replace("&quot;", '"').replace("&gt;", ">").replace("&#39;", "'")


def text(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", html))


def test_every_module_and_every_public_name_has_an_entry(entries):
    assert len(public()) > 150
    exported = {
        f"{v.__module__}.{n}" for n in glassformer.__all__ if (v := getattr(glassformer, n))
    }
    missing = sorted({*modules(), *public(), *exported} - entries.keys())
    assert not missing, f"the reference has no entry for {', '.join(missing)}"


def test_signatures_name_what_python_takes(entries):
    for name, value in public().items():
        own = vars(value) if inspect.isclass(value) else {"__init__": value}
        if "__init__" not in own or getattr(value, "_is_protocol", False):
            continue
        bases = [f"{base.__module__}.{base.__name__}" for base in getattr(value, "__mro__", [])]
        given = "".join(signature(entries[one][1]) for one in {name, *bases} & entries.keys())
        for parameter in inspect.signature(value).parameters.values():
            assert re.search(rf"\b{parameter.name}\b", given), f"{name}: {parameter.name}: {given}"


def test_each_error_has_the_messages_of_its_own_kind(entries):
    html = entries["glassformer.weights.pretrained.load_as"][1]
    errors = dict(re.findall(r"<dt><code>(\w+Error)</code></dt><dd>(.*?)</dd>", html, re.DOTALL))
    assert errors.keys() == {"CheckpointError", "ValueError"}
    assert "CheckpointError: … lacks" in errors["CheckpointError"]
    assert "CheckpointError: " not in errors["ValueError"]
    said = text(entries["glassformer.layers.attention.attention_weights"][1])
    assert "ValueError As attention_scores ." in said  # where its messages are


def test_an_entry_has_shapes_errors_with_their_messages_source_and_lines(entries):
    _, html = entries["glassformer.layers.multihead.MultiHeadAttention"]
    for title in ("Shapes", "Raises", "Source", "Used in", "Code"):
        assert f"<dt>{title}</dt>" in html, title
    assert "ValueError: num_heads (…) must divide d_model (…)" in text(html)
    assert "Vaswani et al. 2017, section 3.2.2" in text(html)
    assert re.search(r'href="[./]*source/glassformer/layers/multihead/#L\d+"', html)


def test_a_field_of_a_configuration_does_not_lead_to_a_function_of_its_name(entries):
    said = entries["glassformer.models.decoder.TransformerDecoderLayer"][1]
    assert "<code>cross_attention</code>" in said
    assert ".evaluation.cross_attention" not in said


def test_inline_code_in_a_chapter_leads_to_the_entry_of_what_it_names(site, entries):
    html = (site / "encoder/many-heads/index.html").read_text(encoding="utf-8")
    links = {code: address for address, code in LINK.findall(html)}
    assert links["MultiHeadAttention"].endswith(
        "reference/api/layers/#glassformer.layers.multihead.MultiHeadAttention"
    )
    assert "d_model" not in links
    for path in site.rglob("index.html"):
        for address, code in LINK.findall(path.read_text(encoding="utf-8")):
            last = address.rpartition("#")[2]
            assert last in entries or "." in last, (path, address)
            assert code.partition("(")[0].split(".")[-1] == last.split(".")[-1], (path, code)


def test_names_of_other_libraries_are_not_taken_for_our_own(site):
    html = (site / "translation/translation/index.html").read_text(encoding="utf-8")
    assert "<code>torch.nn.functional.cross_entropy</code>" in html
    assert "<code>torch.nn.functional.cross_entropy</code></a>" not in html


def test_no_link_stands_within_a_link_or_a_heading(site):
    found = 0
    for path in site.rglob("index.html"):
        html = path.read_text(encoding="utf-8")
        for link in re.finditer('<a class="symbol"', html):
            found += 1
            for opening, closing in ((r"<a\b", "</a>"), (r"<h[1-6]\b", "</h")):
                before = html[max(0, link.start() - 2000) : link.start()]
                last = [one.end() for one in re.finditer(opening, before)][-1:]
                assert not last or closing in before[last[0] :], (path, link.start())
    assert found > 500


def test_entries_lead_back_to_the_chapters_that_show_and_use_them(site, entries):
    address, html = entries["glassformer.layers.attention.scaled_dot_product_attention"]
    shown = re.search(r"<dt>Shown in</dt><dd>(.*?)</dd>", html)[1]
    used = re.search(r"<dt>Used in</dt><dd>(.*?)</dd>", html)[1]
    assert 'href="../../../encoder/attention/">Attention</a>' in shown
    assert 'href="../../../gpt/masks/">' in used
    assert "encoder/attention/" not in used
    assert (site / address / "index.html").exists()
    heatmap = entries["glassformer.views.grid.heatmap"][1]
    assert 'labs/heads/">Your sentence, head by head</a>' in heatmap


def test_shown_code_and_imports_lead_to_the_entries(site):
    html = (site / "encoder/attention/index.html").read_text(encoding="utf-8")
    assert re.search(
        r'#glassformer.layers.attention.softmax_rows"><code>softmax_rows</code></a> in', html
    )
    assert re.search(r'#glassformer.views.grid.heatmap"><span class="n">heatmap</span></a>', html)


def test_what_a_copy_button_of_an_example_gives_runs(entries):
    found = [
        (name, json.loads(program), "Traceback" in html)
        for name, (_, html) in entries.items()
        for program in re.findall(r'class="proofbook-program">(.*?)</script>', html)
    ]
    assert len(found) > 40
    for name, program, fails in found:
        code = f"{program['start']}\n{program['steps'][0][-1]}"
        told = io.StringIO()
        with redirect_stdout(told):
            exec(compile(code, name, "exec"), {"__name__": "__main__"})
        assert not fails or "must" in told.getvalue()
