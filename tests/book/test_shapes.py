"""The page of shapes leaves out nothing public that takes or gives a tensor."""

import re
from pathlib import Path

from torch import nn

import glassformer
from glassformer.views.signatures import axes_of

PAGE = Path(__file__).parents[2] / "docs/reference/shapes.md"


def has_shapes(name: str) -> bool:
    """Whether a public name says a shape in its signature."""
    thing = getattr(glassformer, name)
    if isinstance(thing, type) and not issubclass(thing, nn.Module):
        return False
    called = thing.forward if isinstance(thing, type) else thing
    return any(axes_of(one) is not None for one in called.__annotations__.values())


SHAPED = [name for name in glassformer.__all__ if has_shapes(name)]


def test_each_is_called_on_the_page():
    text = PAGE.read_text(encoding="utf-8")
    lost = []
    for name in SHAPED:
        made = re.findall(rf"^(\w+) = gf\.{name}\(", text, flags=re.MULTILINE)
        called = "|".join([rf"gf\.{name}", *made])
        if not re.search(rf"partial\((?:{called})\b", text):
            lost.append(name)
    assert not lost
    assert {"attention_weights", "embed", "Transformer", "MultiHeadAttention"} <= {*SHAPED}
    assert "load" not in SHAPED
