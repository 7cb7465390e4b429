"""The door: what runs, what is served from the cache, and what is told meanwhile."""

import subprocess
import sys
import textwrap

from proofbook.execution import pool
from proofbook.execution.processes import ForkServer
from proofbook.model import Chapter, Run
from tables import table


def test_a_chapter_without_blocks_and_claims_starts_nothing(project, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    empty = Chapter("prose.md", (), ())
    assert project.run_pages(empty) == {"prose.md": Run((), {})}


def test_runs_come_in_the_order_of_the_chapters_and_progress_as_they_end(project):
    ended = project.root / "ended"
    wait = f"import os, time\nwhile not os.path.exists({str(ended)!r}):\n    time.sleep(0.05)"
    slow = project.page(wait, path="slow.md")
    quick = project.page("1", path="quick.md")
    prose = Chapter("prose.md", (), ())
    told = []

    def tell(chapter, run):
        told.append((chapter, run))
        if chapter == quick:
            ended.touch()

    runs = project.runner(jobs=2).run([slow, quick, prose], tell)
    assert list(runs) == ["slow.md", "quick.md", "prose.md"]
    assert [chapter for chapter, _ in told] == [prose, quick, slow]
    assert all(runs[chapter.path] is run for chapter, run in told)


def test_pages_named_first_are_started_before_the_others(project):
    started = project.root / "started"
    names = ("a", "b", "long/c", "d", "longest")
    pages = [
        project.page(f"_ = open({str(started)!r}, 'a').write('{name} ')", path=f"docs/{name}.md")
        for name in names
    ]
    first = ("longest.md", "long/c.md", "not-asked-for.md")
    runs = project.runner(jobs=1, first=first).run(pages)
    assert started.read_text().split() == ["longest", "long/c", "a", "b", "d"]
    assert list(runs) == [f"docs/{name}.md" for name in names]


@table(
    ("codes", "claims"),
    [
        (["1 / 0"], []),
        (["x = 1"], [("y", 1)]),
        (["import os\nos._exit(0)"], []),
    ],
)
def test_a_failure_is_not_kept(project, codes, claims):
    assert not project.run(*codes, claims=claims).cached
    assert not project.run(*codes, claims=claims).cached


def test_a_page_that_failed_is_served_again_when_it_is_as_it_was(project):
    project.write("module.py", "x = 1\n")
    ask = "import module\nmodule.x"
    assert not project.run(ask).cached
    project.write("module.py", "x = 1 / 0\n")
    assert project.run(ask).blocks[0].failure.line == 0
    project.write("module.py", "x = 1\n")
    assert project.run(ask).cached


def test_a_changed_environment_variable_counts_if_it_is_named(project, monkeypatch):
    named = {"environment": ("BOOK_CHECKPOINT", "BOOK_DEVICE")}
    monkeypatch.delenv("BOOK_DEVICE", raising=False)
    run = project.run("1", **named)
    assert (run.cached, run.device) == (False, "cpu")
    monkeypatch.setenv("UNNAMED", "1")
    assert project.run("1", **named).cached
    monkeypatch.setenv("BOOK_DEVICE", "mps")
    run = project.run("1", **named)
    assert (run.cached, run.device) == (False, "mps")


def test_forked_and_spawned_pages_give_the_same(project):
    code = "import random\nprint(random.random(), hash('a'), {'x', 'y', 'z'})"
    fork = project.shown(code, spawn=False, cache_dir=project.root / "a")
    spawn = project.shown(code, spawn=True, cache_dir=project.root / "b")
    assert fork == spawn


def test_new_packages_end_the_old_zygote(project, monkeypatch, tmp_path_factory):
    monkeypatch.setattr(pool, "ForkServer", ForkServer)  # not the one that all tests share
    ask = "import os\nprint(os.getppid())"
    [first] = project.shown(ask)
    folder = tmp_path_factory.mktemp("site")
    (folder / "package-1.0.dist-info").mkdir()
    monkeypatch.syspath_prepend(str(folder))
    [second] = project.shown(f"{ask}  # in another environment")
    assert first != second


def test_a_warm_run_imports_nothing_heavy_and_starts_nothing(project):
    project.write("module.py", "x = 1\n")
    project.shown("import module\nmodule.x")
    program = f"""
        import sys
        from pathlib import Path
        from proofbook.model import Block, Chapter
        from proofbook.execution.runner import Runner
        from proofbook.settings import Settings

        sys.executable = "/no/such/python"
        page = Chapter("page.md", (Block("python", "import module\\nmodule.x", 1),), ())
        with Runner(Settings(Path({str(project.root)!r}))) as runner:
            assert runner.run([page])["page.md"].cached
        heavy = {{"torch", "transformers", "numpy", "multiprocessing", "module", "doctest"}}
        print(sorted(heavy & set(sys.modules)))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
