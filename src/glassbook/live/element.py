"""An element with a model behind it, which a page embeds: its markup, and the files it loads."""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

from glassbook.live.downloads import attribute, download
from glassformer.views.palette import THEME, VIEWS
from glassformer.views.view import View

STATIC = Path(__file__).parent / "static"
VENDOR = STATIC / "vendor"
SCRIPTS = {
    "worker": "glassformer-live-worker.js",
    "model": "glassformer-live-model.js",
    "unpack": "glassformer-live-unpack.js",
    "runtime": "ort.wasm.bundle.min.mjs",
    "tokenizers": "tokenizers.min.mjs",
}
"""The scripts that each element loads, by what it calls them."""
RUNTIME = {"runtime.bin": VENDOR / "ort-wasm-simd-threaded.wasm.gz"}
"""What each element downloads besides its model."""
GPU_SCRIPT = "ort.jspi.bundle.min.mjs"
GPU_RUNTIME = {"runtime-gpu.bin": VENDOR / "ort-wasm-simd-threaded.jspi.wasm.gz"}
"""What an element downloads instead where WebGPU can run its model."""


@dataclass(frozen=True, repr=False)
class Live(View):
    """A still picture in a notebook; in a page, an element with a model behind it.

    Attributes:
        files: The files that the element loads, by their names in its markup.
        downloads: The bytes that a reader downloads to start the model.
        element: The markup of the element.
    """

    files: dict[str, str]
    downloads: int
    element: str

    def _repr_page_(self) -> tuple[str, dict[str, str]]:
        """Return markup with `asset://NAME` as a placeholder for a URL, and each name's file."""
        return self.element, self.files


def element(
    kind: str,
    still: View,
    about: Mapping[str, object],
    model: Mapping[str, Path],
    *,
    scripts: Mapping[str, str],
    data: Mapping[str, object],
    on_gpu: bool = False,
) -> Live:
    """Return a view that a page shows as an element, and a notebook as a still picture.

    Args:
        kind: What the element is called: `glass-` and this. Its script and style are, too.
        still: What's there without scripts.
        about: What the element's script has to know about the model.
        model: The files of the model, by their names.
        scripts: The element's own scripts besides its first one, by what it calls them.
        data: The element's other attributes, without `data-`.
        on_gpu: Whether WebGPU runs the model in browsers that have it.
    """
    downloads = RUNTIME | dict(model)
    named = SCRIPTS | dict(scripts)
    first = f"glassformer-live-{kind}.js"
    files = {name: str(_script(name)) for name in (first, *named.values())}
    files |= {name: str(path) for name, path in downloads.items()}
    known = {name: f"asset://{file}" for name, file in named.items()} | dict(about)
    known["scripts"] = [*named]
    known["downloads"] = [download(name, path) for name, path in downloads.items()]
    if on_gpu:
        ((name, path),) = GPU_RUNTIME.items()
        known["gpu"] = {"runtime": f"asset://{GPU_SCRIPT}", "download": download(name, path)}
        files |= {GPU_SCRIPT: str(_script(GPU_SCRIPT)), name: str(path)}
    style = THEME.replace(VIEWS, f"glass-{kind}") + (STATIC / f"{kind}.css").read_text("utf-8")
    attributes = "".join(f' data-{name}="{escape(str(value))}"' for name, value in data.items())
    markup = (
        f"<style>{style}</style><glass-{kind} data-search-exclude "
        f'data-files="{attribute(known)}"{attributes}>{still.html}</glass-{kind}>'
        f'<script type="module" src="asset://{first}"></script>'
    )
    size = sum(path.stat().st_size for path in downloads.values())
    return Live(still.html, still.text, files, size, markup)


def _script(name: str) -> Path:
    return next(path for path in (STATIC / name, VENDOR / name) if path.is_file())
