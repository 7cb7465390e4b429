"""What `check` prints: each cause once, as it is found, without the frames of libraries."""

import os
import signal
import subprocess
import sys
import time

import pytest
from books import make_book

from proofbook.__main__ import main

MISSING = "```python\nnothing_of_that_name\n```\n\nText.\n\n"


@pytest.fixture
def told(tmp_path, monkeypatch, capsys):
    """What `check` prints of some pages."""

    def check(**pages: str) -> str:
        texts = {f"{name}.md": text for name, text in pages.items()}
        monkeypatch.chdir(make_book(tmp_path, texts))
        main(["check"])
        return capsys.readouterr().out

    return check


def test_one_cause_is_told_once_with_its_other_places(told):
    found = told(index=MISSING, a=4 * MISSING, b=4 * MISSING)
    message = "NameError: name 'nothing_of_that_name' is not defined"
    assert found.count(f": {message}\n    |") == 1
    rest = found[found.index(f"\n{message}\n") :]
    assert "    also at docs/" in rest
    assert "and 3 more" in rest
    assert found.endswith("3 chapters, 9 problems with 1 cause\n")


def test_what_differs_at_two_places_is_told_at_both(told):
    found = told(index="```python\nx = y = 3\n```\n\n[four]{ equals='x' } [four]{ equals='y' }\n")
    assert found.count("the page says 'four', this run gives 3") == 2
    assert found.endswith("1 chapter, 2 problems\n")


def test_problems_are_told_before_the_next_page_has_run(told):
    found = told(a="```python\n1 / 0\n```\n", b="```python\nimport time\ntime.sleep(0.5)\n```\n")
    assert found.index("ZeroDivisionError") < found.index("docs/b.md: 1 block")


def test_frames_of_libraries_are_counted_and_the_last_one_is_shown(told):
    code = "import json\n\n\ndef load(text):\n    return json.loads(text)\n\n\nload('{')"
    found = told(index=f"```python\n{code}\n```\n")
    assert "… 2 frames of libraries" in found
    assert found.count("json/decoder.py") == 1
    assert 'File "<block 1>", line 5, in load' in found


def test_the_chain_of_a_traceback_in_a_doctest_is_one_problem(told):
    chain = "\n\nDuring handling of the above exception, another exception occurred:\n\n"
    trace = 'Traceback (most recent call last):\n  File "<stdin>", line 1, in <module>\n'
    found = told(
        index=f"```pycon\n>>> {{}}['a']\n{trace}KeyError: 'a'{chain}{trace}ValueError: b\n```\n"
    )
    assert found.count("nothing checks") == 1
    assert "and 3 more" in found


def start(book, *arguments, **options):
    command = [sys.executable, "-m", "proofbook", *arguments]
    # A job in the background ignores Ctrl-C, and so does all that it starts.
    as_in_front = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
    pipes = {"stdout": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=book, **pipes, **as_in_front, **options)


def test_a_reader_that_goes_away_is_no_error(tmp_path):
    book = make_book(tmp_path, {f"{number}.md": MISSING for number in range(9)})
    with start(book, "check", stderr=subprocess.PIPE) as running:
        assert running.stdout.readline()
        running.stdout.close()
        assert running.stderr.read() == ""
    assert running.returncode == 1


def test_an_interrupted_check_has_told_what_it_found(tmp_path):
    wait = "```python\nimport time\ntime.sleep(300)\n```\n"
    config = "site_name: x\nplugins: [proofbook: {jobs: 2, timeout: 400}]\n"
    book = make_book(tmp_path, {"a.md": MISSING, "b.md": wait}, config=config)
    with start(book, "check", start_new_session=True) as running:
        lines = []
        while not any("NameError" in line for line in lines):
            lines.append(running.stdout.readline())
        time.sleep(0.1)
        os.kill(running.pid, signal.SIGINT)
        rest = running.stdout.read()
    assert rest.endswith("interrupted: 1 of 2 chapters checked\n")
    assert running.returncode == 130
