"""proofbook installs by itself, from its wheel and from its source, and serves a foreign book."""

import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from books import make_book

from proofbook import __version__
from tables import table

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "src" / "proofbook"
CONFIG = "site_name: Another book\nmarkdown_extensions: [proofbook.maths]\nplugins: [proofbook]\n"
PAGES = {
    "index.md": "# First\n\n```python\nwords = 'a b c'.split()\n```\n\n"
    "[Three]{ equals='len(words)' } words, and $x^2$.\n\n[Second](second.md)\n",
    "second.md": '# Second\n\n```pycon\n>>> 7 * 6\n42\n```\n\n```python show="helper:f"\n```\n',
}

pytestmark = pytest.mark.nightly  # it installs packages from the network


def run(*command: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        list(map(str, command)), cwd=cwd, capture_output=True, text=True, check=False
    )


def succeed(*command: object, cwd: Path) -> str:
    done = run(*command, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def contents(wheel: Path) -> list[Path]:
    with zipfile.ZipFile(wheel) as archive:
        return [Path(name) for name in archive.namelist()]


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The interpreter of an environment that has nothing but what builds distributions."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    interpreter = folder / "bin" / "python"
    succeed(interpreter, "-m", "pip", "install", "-q", "hatchling", cwd=folder)
    return interpreter


@pytest.fixture(scope="module")
def distributions(python, tmp_path_factory):
    """The wheel and the source archive, built from a copy that has been run and has leftovers."""
    copy = tmp_path_factory.mktemp("copy") / "proofbook"
    shutil.copytree(ENGINE, copy)
    made = copy.parent / "made"
    for kind in ("wheel", "sdist"):
        succeed(python, "-m", "hatchling", "build", "-t", kind, "-d", made, cwd=copy)
    [wheel], [source] = made.glob("*.whl"), made.glob("*.tar.gz")
    return wheel, source


def test_the_wheel_has_the_package_and_nothing_else(distributions):
    wheel, source = distributions
    names = contents(wheel)
    inside = {str(name.relative_to("proofbook")) for name in names if name.parts[0] == "proofbook"}
    ours = {
        str(path.relative_to(ENGINE))
        for path in ENGINE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    beside = {"pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE"}
    assert inside == ours - beside
    assert len(inside) > 70
    starter = {"mkdocs.yml", "docs/index.md", "docs/dice.md", "src/two_dice.py"}
    assert {f"starter/{name}.txt" for name in starter} <= inside
    assert {name.parts[0] for name in names} == {
        "proofbook",
        f"{wheel.name.partition('-py3')[0]}.dist-info",
    }
    with tarfile.open(source) as archive:
        archived = {Path(*Path(name).parts[1:]) for name in archive.getnames()}
    assert {Path(name) for name in ours} <= archived


@table("kind", [0, 1])
def test_another_book_passes_and_fails_without_torch(python, distributions, tmp_path_factory, kind):
    tmp_path = tmp_path_factory.mktemp("book")
    constraints = ROOT / "constraints.txt"
    install = ("-m", "pip", "install", "-q", "--force-reinstall", "-c", constraints)
    succeed(python, *install, distributions[kind], cwd=tmp_path)
    assert run(python, "-c", "import torch", cwd=tmp_path).returncode == 1
    command = python.with_name("proofbook")
    succeed(command, "init", "begun", cwd=tmp_path)
    assert "2 chapters, 0 problems" in succeed(
        command, "check", "--coverage", cwd=tmp_path / "begun"
    )
    book = make_book(tmp_path, PAGES, {"src/helper.py": "def f():\n    return 1\n"}, CONFIG)
    assert "2 chapters, 0 problems" in succeed(command, "check", cwd=book)
    succeed(python, "-m", "mkdocs", "build", "--strict", "-q", cwd=book)
    assert "<math" in (book / "site" / "index.html").read_text()
    (book / "docs" / "index.md").write_text(PAGES["index.md"].replace("Three", "Four"))
    failed = run(command, "check", cwd=book)
    assert failed.returncode == 1
    assert "docs/index.md:7: the page says 'Four', this run gives 3" in failed.stdout


@pytest.fixture(scope="module")
def other(python, tmp_path_factory):
    """The wheel of glassformer, built from a copy of the repository."""
    folder = tmp_path_factory.mktemp("other")
    ignored = shutil.ignore_patterns(".venv", ".git", "site", ".cache", "docs", "tests", "bench")
    shutil.copytree(ROOT, folder / "copy", ignore=ignored)
    succeed(python, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=folder / "copy")
    [wheel] = folder.glob("glassformer-*.whl")
    return wheel


def test_glassformer_s_wheel_leaves_the_engine_and_the_site_s_code_out(other):
    names = contents(other)
    packages = {name.parts[0] for name in names if not name.parts[0].endswith(".dist-info")}
    assert packages == {"glassbook", "glassformer"}
    typed = {Path("glassformer/py.typed"), Path("glassbook/py.typed")}
    weights = Path("glassbook/recipes/trained_weights/gpt.safetensors")
    assert {Path("glassformer/layers/attention.py"), weights, *typed} <= set(names)
    assert not any(name.is_relative_to("glassbook/site") for name in names)


def test_both_wheels_install_from_a_folder_without_a_network(distributions, other, tmp_path):
    """What they depend on is seen from the environment of this test."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for wheel in (distributions[0], other):
        shutil.copy(wheel, folder)
    venv.create(tmp_path / "fresh", with_pip=True)
    fresh = tmp_path / "fresh/bin/python"
    where = ("-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
    own = Path(succeed(fresh, *where, cwd=tmp_path).strip())
    (own / "beside.pth").write_text(succeed(sys.executable, *where, cwd=tmp_path))
    alone = ("--no-index", "--no-deps", "--find-links", folder)
    succeed(
        fresh,
        "-m",
        "pip",
        "install",
        "-q",
        "--force-reinstall",
        *alone,
        "proofbook",
        "glassformer",
        cwd=tmp_path,
    )
    code = (
        "import torch, glassformer, proofbook\n"
        "from glassbook.recipes import trained\n"
        "trained('gpt')\n"
        "from glassformer.layers.attention import scaled_dot_product_attention as attention\n"
        "print(attention(torch.ones(1, 2, 3), torch.ones(1, 5, 3), torch.ones(1, 5, 7)).shape)\n"
        "print(glassformer.__file__, proofbook.__file__, sep='\\n')"
    )
    shape, *files = succeed(fresh, "-I", "-c", code, cwd=tmp_path).splitlines()
    assert shape == "torch.Size([1, 2, 7])"
    assert all(Path(file).is_relative_to(own) for file in files), files
    assert "usage" in succeed(fresh.with_name("proofbook"), "--help", cwd=tmp_path)


def test_the_version_is_the_changelog_s():
    assert f"\n## {__version__}" in (ENGINE / "CHANGELOG.md").read_text()
