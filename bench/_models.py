"""The trained models that a copy of the tree works with, kept apart from those of the book.

A model depends on all the code that trained it, so each mistake in that code would retrain it, for
minutes. Instead, a mutant gets the models that the correct code trained, if they still fit: nobody
sees what its mistake would do to the training of these models, which counts against us.
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
        """Record by name which models are those of the unchanged tree."""
        forked(self._remember, self._tree)

    def lend(self) -> None:
        """Put the recorded models that fit into the tree as it is now."""
        forked(self._lend, self._tree)

    def forget(self) -> None:
        """Remove what was trained, or unpacked, since."""
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
    """Return whether a recipe's model has these weights, with the same shapes."""
    from safetensors import safe_open

    from glassformer.recipes import find_recipe

    wanted = {key: list(one.shape) for key, one in find_recipe(name).build().state_dict().items()}
    with safe_open(weights, "pt") as file:
        given = {key: file.get_slice(key).get_shape() for key in file.keys()}  # noqa: SIM118
    return wanted == given
