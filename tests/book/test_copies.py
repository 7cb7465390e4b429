"""Every way to a copy of the book goes by the same commands; whose it is, and how to cite it."""

import json
import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
CONTAINER = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text(encoding="utf-8"))
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
ABOUT = (ROOT / "docs/reference/about.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def instructions(name: str) -> list[str]:
    """What follows an instruction of the Dockerfile, each time that it is given."""
    text = DOCKERFILE.replace("\\\n", " ")
    return [" ".join(one.split()) for one in re.findall(rf"^{name} (.+)$", text, re.MULTILINE)]


def test_the_container_is_of_the_oldest_python_that_the_book_takes_and_of_no_named_host():
    first, second = instructions("FROM")
    image, _, stage = first.partition(" AS ")
    oldest = PROJECT["requires-python"].removeprefix(">=")
    assert re.fullmatch(rf"python:{re.escape(oldest)}-\w+", image)
    assert second == stage == CONTAINER["build"]["target"]
    everything = DOCKERFILE + json.dumps(CONTAINER)
    assert not re.search(r"://|\b[\w-]+\.(?:io|com|org|dev|net)\b", everything)


def test_containers_go_by_the_makefile():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert "make language-model" in instructions("RUN")
    assert instructions("CMD") == ['["make", "serve", "HOST=0.0.0.0"]']
    assert (CONTAINER["postCreateCommand"], CONTAINER["postAttachCommand"]) == (
        "make language-model",
        "make serve",
    )
    comments = re.findall(r"^#   docker .+$", DOCKERFILE, re.MULTILINE)
    assert any(line.endswith("make test") for line in comments)
    assert {*re.findall(r"make ([a-z-]+)", DOCKERFILE)} <= targets
    assert "install" not in " ".join(one for one in instructions("RUN") if "apt-get" not in one)


def test_the_readme_names_the_lines_of_the_dockerfile():
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    for line in ("docker build -t glassformer .", "docker run --rm -p 8000:8000 glassformer"):
        assert f"#   {line}\n" in DOCKERFILE
        assert f"`{line}`" in readme


def test_the_book_is_cited_alike_everywhere():
    [authors] = {one["name"] for one in CITATION["authors"]}
    year = re.search(r"Copyright (\d{4}) (.+)", (ROOT / "NOTICE").read_text())
    assert year
    assert year[2].lower() == authors.lower()
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert f"\nsite_author: {authors}\n" in config
    book = CITATION["preferred-citation"]
    assert (book["type"], str(book["year"]), book["title"]) == ("book", year[1], CITATION["title"])
    fields = dict(re.findall(r"^  (\w+) += \{+(.+?)\}+,$", ABOUT, re.MULTILINE))
    assert fields == {
        "title": CITATION["title"],
        "author": authors,
        "year": year[1],
        "note": f"Version {PROJECT['version']}",
    }
    assert CITATION["version"] == PROJECT["version"]
    assert CITATION["license"] == PROJECT["license"] == "Apache-2.0"
    assert CITATION["cff-version"] == "1.2.0"
    assert CITATION["message"]
