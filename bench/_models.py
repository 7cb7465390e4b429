"""The trained models that a copy of the tree works with, kept apart from those of the book.

A model depends on all code that it was trained by, so each mistake in that would train it anew, for
minutes. Instead a mutant gets what the sound code trained, where it still has a place for it: what
its mistake would do to the training of these models is seen by nobody, which counts against us.
"""

import os
import shutil
from pathlib import Path

from _fetched import cache, lend
from _judges import forked


class Models:
    """The folder in which a copy finds its trained models, for this process and those it starts."""

    def __init__(self, folder: Path, tree: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        lend(folder)
        for model in cache().glob("*.safetensors"):
            (folder / model.name).symlink_to(model)
        os.environ["GLASSFORMER_CACHE"] = str(folder)
        self._folder, self._tree = folder, tree

    def remember(self) -> None:
        """Note by name which models are those of the tree as it stands."""
        forked(self._remember, self._tree)

    def lend(self) -> None:
        """Give the tree, as it now is, the models that were noted, where they fit."""
        forked(self._lend, self._tree)

    def forget(self) -> None:
        """Take away what was trained, or unpacked, since."""
        for made in self._folder.iterdir():
            if made.is_symlink():
                continue
            if made.is_dir():
                shutil.rmtree(made)
            else:
                made.unlink()

    def _remember(self) -> int:
        from glassformer.recipes import RECIPES

        for name in RECIPES:
            (self._folder / name).symlink_to(self._file(name))
        return 0

    def _lend(self) -> int:
        from glassformer.recipes import RECIPES

        for name in RECIPES:
            file, sound = self._file(name), self._folder / name
            if not file.exists() and sound.exists() and _fits(name, sound):
                file.symlink_to(sound.resolve())
        return 0

    def _file(self, name: str) -> Path:
        import torch

        from glassformer.recipes import recipe_key

        return self._folder / f"{name}-{recipe_key(name, torch.device('cpu'))}.safetensors"


def _fits(name: str, weights: Path) -> bool:
    """Whether a recipe's model has these weights, each of its shape."""
    from safetensors import safe_open

    from glassformer.recipes import find_recipe

    wanted = {key: list(one.shape) for key, one in find_recipe(name).build().state_dict().items()}
    with safe_open(weights, "pt") as file:
        given = {key: file.get_slice(key).get_shape() for key in file.keys()}  # noqa: SIM118
    return wanted == given
