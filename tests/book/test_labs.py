"""Labs are notebooks that run at each build, show what they gave, and run as scripts too."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jupytext
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_notebook
from pages import Page

from glassbook.site.labs.running import STRICT

ROOT = Path(__file__).parents[2]
LABS = sorted((ROOT / "docs/labs").glob("*.py"))

each_lab = pytest.mark.parametrize("lab", LABS, ids=lambda path: path.stem)


def cells(lab: Path, kind: str) -> list[str]:
    """The cells of a kind, `code` or `markdown`."""
    notebook = jupytext.read(lab)
    return [cell.source for cell in notebook.cells if cell.cell_type == kind]


def sections(lab: Path) -> Iterator[tuple[str, str]]:
    """The headings below the title, each with the code that stands under it."""
    heading, code = "", ""
    for cell in jupytext.read(lab).cells:
        if cell.cell_type == "code":
            code += f"{cell.source}\n"
            continue
        for found in re.findall(r"^## (.+)$", cell.source, flags=re.MULTILINE):
            if heading:
                yield heading, code
            heading, code = found, ""
    yield heading, code


@pytest.fixture(scope="module")
def built(site: Path) -> dict[str, Path]:
    """The page of each lab."""
    return {lab.stem: site / "labs" / lab.stem / "index.html" for lab in LABS}


@each_lab
def test_each_section_with_code_asserts_what_it_says(lab):
    mute = [heading for heading, code in sections(lab) if code and "assert " not in code]
    assert not mute


@pytest.mark.nightly
@each_lab
def test_a_lab_runs_as_a_script(lab, tmp_path):
    done = subprocess.run(
        [sys.executable, str(lab)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "layers of" in done.stdout


@each_lab
def test_every_cell_is_on_the_page_with_what_it_showed(lab, built):
    page = Page(built[lab.stem])
    blocks = [t for t in page.named("div") if t.attributes.get("class") == "proofbook-block"]
    codes = cells(lab, "code")
    assert len(blocks) == len(codes)
    for tag, code in zip(blocks, codes, strict=True):
        assert tag.text.strip().startswith(code.strip())
    printed = [t.text for t in page.named("pre") if "proofbook-stdout" in str(t.attributes)]
    assert any("[CLS] time flies like an arrow [SEP]" in text for text in printed)
    assert not any(re.search(r"Warning|Traceback|\x1b|\d+%\|", text) for text in printed)
    figures = [t for t in page.named("figure") if "heatmap" in t.attributes["class"]]
    assert len(figures) >= 3
    assert len(page.named("glassformer-view")) >= 1
    assert not page.named("iframe")


def test_letters_in_a_labs_formulas_say_what_they_mean(built):
    html = built["anatomy"].read_text(encoding="utf-8")
    [formula] = re.findall(r"<math.*?</math>", html, flags=re.DOTALL)
    said = dict(re.findall(r'<(\w+) data-aid="([^"]*)"', formula))
    aids = re.findall(r'data-aid="([^"]*)"', formula)
    assert "keys, one in each row" in aids
    assert said["msub"] == "width of a head: numbers in a query or a key"
    assert len(aids) == 5  # softmax, Q, K, d_k and V


@each_lab
def test_a_lab_can_be_taken_along(lab, built, site):
    assert (built[lab.stem].parent / lab.name).read_bytes() == lab.read_bytes()
    notebook = json.loads((site / "labs" / f"{lab.stem}.ipynb").read_text())
    codes = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]
    assert codes == cells(lab, "code")
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    assert all(not c["outputs"] for c in notebook["cells"] if c["cell_type"] == "code")


# -- The plugin, on a throwaway book -----------------------------------------------------------

CONFIG = """\
site_name: A throwaway book
exclude_docs: |
  *.py
  !/labs/*.py
plugins:
  - proofbook
  - glassbook/labs
"""
LAB = """\
# %% [markdown]
# # A lab

# %%
import time

from measured import answer

with open("runs.txt", "a") as file:
    _ = file.write("run ")
print("the answer", end="", flush=True)
time.sleep(0.5)  # what is printed reaches the page in two messages
print(f" is {answer}, not <b>{answer + 1}</b>")

# %% [markdown]
# And [home](../index.md) again.
"""
BUILDS = """\
import sys
from pathlib import Path
from mkdocs.commands.build import build
from mkdocs.config import load_config

def again():
    config = load_config("mkdocs.yml")
    config.plugins.on_startup(command="build", dirty=False)
    build(config)
    print(Path("site/labs/lab/index.html").read_text().count("the answer is " + sys.argv[1]))

again()
Path("src/other.py").write_text("nothing = 'to a lab that does not import it'\\n")
again()
Path("src/measured.py").write_text(f"answer = {sys.argv[1]}  # at last\\n")
again()
"""


def throwaway(folder: Path, lab: str = LAB) -> Path:
    for path, text in {
        "docs/index.md": "# Home\n",
        "docs/labs/lab.py": lab,
        "src/measured.py": "answer = 41\n",
        "src/other.py": "",
        "mkdocs.yml": CONFIG,
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def python(book: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(book / "src"), "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=book,
        env=environment | {"PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "tag", [' tags=["raises-exception"]', pytest.param("", marks=pytest.mark.nightly)]
)
def test_a_failing_cell_fails_the_build_and_is_named(tmp_path, tag):
    lab = f"{LAB}\n# %%{tag}\nseven = 7\n\nassert seven % 2 == 0, 'seven is odd'\n"
    done = python(throwaway(tmp_path, lab), "-m", "mkdocs", "build", "--quiet")
    said = done.stdout + done.stderr
    assert done.returncode == 1
    assert "AssertionError: seven is odd" in said
    assert f"docs/labs/lab.py:{lab.count(chr(10))}: a cell of this lab fails" in said
    assert "\x1b" not in said.split("a cell of this lab fails")[1]


@pytest.mark.slow
def test_a_lab_runs_again_when_a_module_has_changed_and_else_not(tmp_path):
    done = python(throwaway(tmp_path), "-c", BUILDS, "43")
    assert done.stdout.split() == ["0", "0", "1"], done.stderr
    assert (tmp_path / "runs.txt").read_text() == "run run "
    assert python(tmp_path, "-m", "mkdocs", "build", "--quiet").returncode == 0
    assert (tmp_path / "runs.txt").read_text() == "run run "  # in another process, neither
    page = (tmp_path / "site/labs/lab/index.html").read_text()
    assert "not &lt;b&gt;44&lt;/b&gt;" in page
    assert 'href="../.."' in page or 'href="../../"' in page


def test_a_cell_that_hangs_and_output_that_is_late_are_errors():
    runner = NotebookClient(new_notebook(), **STRICT)
    assert runner.timeout == 600
    assert runner.raise_on_iopub_timeout
    assert not runner.allow_errors
