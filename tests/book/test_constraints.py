"""The environment is the one that constraints.txt describes."""

import re
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

ROOT = Path(__file__).parents[2]
OURS = {"glassformer", "proofbook"}
TOOLS = {"pip", "wheel"}  # what installs, not what is installed


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {normal(name): version for name, version in pinned}


def installed() -> dict[str, str]:
    found = {normal(d.metadata["Name"]): d.version for d in distributions()}
    return {name: v for name, v in found.items() if name not in OURS | TOOLS}


def without_build_label(version: str) -> str:
    """2.13.0+cpu and 2.13.0+cu130 are builds of 2.13.0."""
    return version.partition("+")[0]


def test_every_installed_package_has_the_pinned_version():
    pinned = pins()
    wrong = {
        name: (version, pinned.get(name, "not pinned"))
        for name, version in installed().items()
        if without_build_label(version) != pinned.get(name)
        # PyTorch's builds for GPUs bring NVIDIA's libraries, in the versions torch itself names.
        and not name.startswith(("nvidia-", "cuda-", "triton"))
    }
    assert not wrong, f"installed, pinned: {wrong}"


def test_installed_packages_agree_with_each_other():
    check = [sys.executable, "-m", "pip", "check"]
    result = subprocess.run(check, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout
