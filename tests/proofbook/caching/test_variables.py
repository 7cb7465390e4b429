"""A page runs again when a variable of the environment that it asked for has another value."""

import os

import pytest

WAYS = {
    "get": "import os\nos.environ.get('FOO', '1')",
    "an item": "import os\nos.environ['FOO']",
    "in": "import os\n'FOO' in os.environ, os.environ.get('FOO')",
    "getenv": "import os\nos.getenv('FOO', '1')",
    "bytes": "import os\nos.environb.get(b'FOO')",
    "getenvb": "from os import getenvb\ngetenvb(b'FOO')",
    "setdefault": "import os\nos.environ.setdefault('FOO', '1')",
    "pop": "import os\nos.environ.pop('FOO', '1')",
    "items": "import os\n[v for k, v in os.environ.items() if k.startswith('FO')]",
    "values": "import os\n'red' in os.environ.values()",
    "names": "import os\n[os.environ[k] for k in os.environ if k.startswith('FO')]",
    "a copy": "import os\nos.environ.copy().get('FOO')",
    "a dictionary": "import os\ndict(os.environ).get('FOO')",
    "unpacked": "import os\n{**os.environ}.get('FOO')",
    "joined": "import os\n(os.environ | {}).get('FOO')",
    "repr": "import os\n'red' in repr(os.environ)",
    "expandvars": "import os\nos.path.expandvars('$FOO')",
    "a claim's function": "import os\ndef f():\n    return os.environ.get('FOO')\nf()",
    "a module": "import project_module\nproject_module.FOO",
    "a thread": (
        "import os, threading\nfound = []\n"
        "t = threading.Thread(target=lambda: found.append(os.environ.get('FOO')))\n"
        "t.start()\nt.join()\nfound"
    ),
}


@pytest.mark.parametrize("how", WAYS)
def test_a_change_is_seen_however_the_page_asks(project, monkeypatch, how):
    project.write("project_module.py", "import os\nFOO = os.environ.copy().get('FOO')\n")
    monkeypatch.setenv("FOO", "red")
    first = project.shown(WAYS[how])
    assert project.run(WAYS[how]).cached
    monkeypatch.setenv("FOO", "blue")
    assert not project.run(WAYS[how]).cached
    assert project.shown(WAYS[how]) != first
    monkeypatch.setenv("FOO", "red")
    assert project.run(WAYS[how]).cached


@pytest.mark.parametrize("how", ["get", "in", "getenv", "bytes", "items", "a copy", "a thread"])
def test_that_a_variable_comes_or_goes_is_seen(project, monkeypatch, how):
    monkeypatch.delenv("FOO", raising=False)
    first = project.shown(WAYS[how])
    monkeypatch.setenv("FOO", "red")
    second = project.shown(WAYS[how])
    assert first != second
    monkeypatch.delenv("FOO")
    assert project.run(WAYS[how]).cached


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("HOME", "import os\nos.path.expanduser('~')"),
        ("HOME", "from pathlib import Path\nPath.home()"),
        ("PATH", "import shutil\nshutil.which('tool')"),
        ("PATH", "import os\nos.get_exec_path()"),
    ],
)
def test_what_python_asks_for_the_page_counts(project, monkeypatch, name, code):
    for folder in ("one", "other"):
        (project.write(f"{folder}/tool", "")).chmod(0o755)
        monkeypatch.setenv(name, str(project.root / folder))
        assert project.root.joinpath(folder).name in project.shown(code)[0]
        assert project.run(code).cached


@pytest.mark.parametrize(
    "code",
    [
        "1",
        "import os\nos.environ.get('BAR')",
        "import os\nos.environ['FOO'] = '5'\nos.environ['FOO']",
        "import os\nos.environ.get('BAR')\nos.environ.update(FOO='5')\nos.getenv('FOO')",
        "import subprocess\n_ = subprocess.os.environ.get('BAR')",
    ],
)
def test_what_the_page_does_not_ask_for_does_not_count(project, monkeypatch, code):
    monkeypatch.setenv("FOO", "red")
    assert not project.run(code).cached
    monkeypatch.setenv("FOO", "blue")
    assert project.run(code).cached


@pytest.mark.parametrize("way", ["os.environ.copy()", "dict(os.environ)", "{**os.environ}"])
def test_a_library_that_copies_all_variables_asks_for_none(project, monkeypatch, way):
    """As subprocess does: a page would run again in each terminal."""
    code = (
        f"import os, shutil\ncopy = eval(compile({way!r}, shutil.__file__, 'eval'))\nlen(copy) > 1"
    )
    monkeypatch.setenv("FOO", "red")
    assert not project.run(code).cached
    monkeypatch.setenv("FOO", "blue")
    assert project.run(code).cached


@pytest.mark.parametrize("name", ["COLUMNS", "PYTEST_CURRENT_TEST", "SHLVL", "OLDPWD", "_"])
def test_what_differs_in_each_terminal_counts_only_where_the_page_itself_asks(
    project, monkeypatch, name
):
    monkeypatch.setenv(name, "50")
    own = f"import os\nos.environ.get({name!r})"
    library = "import shutil\nshutil.get_terminal_size().lines > 0"
    every = "import os\nlen([k for k in os.environ if k == 'FOO'])"
    for code in (own, library, every):
        assert not project.run(code).cached
        assert project.run(code).cached
    monkeypatch.setenv(name, "60")
    assert not project.run(own).cached
    assert project.run(library).cached
    assert project.run(every).cached


def test_a_value_is_not_written_into_the_cache(project, monkeypatch):
    monkeypatch.setenv("TOKEN", "a-secret-value")
    project.shown("import os\nlen(os.environ['TOKEN'])")
    kept = [path.read_text() for path in (project.root / ".cache").rglob("*.json")]
    assert kept
    assert not any("a-secret-value" in text for text in kept)


def test_a_variable_that_is_no_text_is_compared(project, monkeypatch):
    monkeypatch.setitem(os.environ, "FOO", "\udcff")
    code = "import os\nrepr(os.environ['FOO'])"
    project.shown(code)
    assert project.run(code).cached
