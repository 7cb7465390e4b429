"""Models compile as one graph: `compiled.py`, in a process of its own."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("compiled.py")


def run(*arguments):
    ran = subprocess.run(
        [sys.executable, PROGRAM, *arguments], capture_output=True, text=True, timeout=600
    )
    assert ran.stdout == "equal\n", ran.stderr


@pytest.mark.slow
def test_models_compile_as_one_graph_and_can_still_be_recorded():
    run("aot_eager", "encoder", "pre_norm", "transformer", "heads", "llama")


@pytest.mark.nightly
@pytest.mark.skipif(not (shutil.which("g++") or shutil.which("clang++")), reason="no C++ compiler")
def test_an_encoder_compiles_with_the_compiler_of_torch():
    run("inductor", "encoder")
