"""Every page starts from the same state, whatever an earlier page did."""

import sys

from tables import table


@table("spawn", [False, True])
def test_nothing_leaks_to_the_next_page(project, spawn):
    project.write("shared.py", "seen = []\n")
    code = """
import builtins, os, random, sys, warnings
import shared
print(shared.seen, os.environ.get("LEAK"), os.getcwd(), len(sys.path), hasattr(builtins, "leak"))
print("page" in globals())
print(random.random(), [f[0] for f in warnings.filters], sys.argv, hash("text"))
shared.seen.append(1)
os.environ["LEAK"] = "1"
sys.path.append("/leak")
builtins.leak = page = 1
warnings.simplefilter("error")
os.chdir("/")
"""
    pages = [project.page(code, path=f"{n}.md") for n in range(3)]
    runs = list(project.run_pages(*pages, jobs=1, spawn=spawn, cache_dir=f"cache-{spawn}").values())
    texts = {run.blocks[0].outputs[0].data for run in runs}
    assert len(texts) == 1
    assert texts.pop().startswith(f"[] None {project.root} ")


def test_warnings_of_the_builder_s_command_line_are_not_the_page_s(project, monkeypatch):
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    assert project.shown("import warnings\nwarnings.warn('careful')") == ["UserWarning: careful\n"]


def test_torch_s_state_is_reset_for_each_page(project):
    code = """
import numpy as np
import torch
print(torch.rand(2), np.random.rand(), torch.get_default_dtype(), torch.get_default_device())
print(torch.is_grad_enabled(), torch.tensor(1 / 3), np.float64(1) / 3, torch.get_num_threads())
torch.set_default_dtype(torch.float64)
torch.set_default_device("meta")
torch.set_grad_enabled(False)
torch.set_printoptions(precision=2)
torch.set_num_threads(5)
np.set_printoptions(precision=1)
"""
    preload = ("torch",)
    texts = [project.shown(code)[0]]
    for name in ("first.md", "second.md"):
        [run] = project.run_pages(project.page(code, path=name), preload=preload).values()
        texts.append(run.blocks[0].outputs[0].data)
    assert len({*texts}) == 1
    # What manual_seed(0) gives in a plain interpreter.
    assert texts[0].startswith("tensor([0.4963, 0.7682]) 0.5488135039273248 torch.float32 cpu\n")
    assert "True tensor(0.3333)" in texts[0]


def test_the_parent_imports_nothing_that_a_page_imports(project):
    before = set(sys.modules)
    project.shown("import wave, colorsys")
    assert not {"wave", "colorsys"} & (set(sys.modules) - before)


def test_forked_processes_of_a_page_may_exit(project):
    code = """
import multiprocessing
process = multiprocessing.get_context("fork").Process(target=print, args=("from the fork",))
process.start()
process.join()
process.exitcode
"""
    assert project.shown(code) == ["from the fork\n", "0"]


@table("preload", [(), ("torch",)])
def test_pages_compute_on_the_device_that_the_environment_names(project, monkeypatch, preload):
    """`meta` is a device that every torch has."""
    codes = "import torch\ntorch.ones(2, 3)", ">>> torch.ones(2, 3)\ntensor(..., size=(2, 3))"
    monkeypatch.setenv("BOOK_DEVICE", "meta")
    claim = "torch.ones(1).device.type", 2
    run = project.run(*codes, claims=[claim], preload=preload, environment=("BOOK_DEVICE",))
    assert run.device == "meta"
    assert [output.data for output in run.blocks[0].outputs] == ["tensor(..., size=(2, 3))"]
    assert run.blocks[1].examples[0].got == run.blocks[1].examples[0].want
    assert run.values[claim].data == "meta"
