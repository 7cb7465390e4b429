"""Running a model once, with a callback for every call of its modules."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

Enter = Callable[[Any, tuple[Any, ...], dict[str, Any]], None]
Leave = Callable[[Any, tuple[Any, ...], dict[str, Any], Any], None]


@contextmanager
def watched(
    model: Callable[..., Any], inputs: tuple[Any, ...], enter: Enter, leave: Leave
) -> Iterator[None]:
    """Put a model's modules in eval mode, turn off gradients, and report each call of a module.

    Afterward, their modes are restored. A function has no modules, so no call is reported.

    Args:
        model: A module or a function.
        inputs: The inputs that it's about to be called with.
        enter: Called as enter(module, args, kwargs) before each call.
        leave: Called as leave(module, args, kwargs, output) after each call.

    Raises:
        ValueError: The model does not take these inputs.
    """
    modules = [*model.modules()] if isinstance(model, nn.Module) else []
    modes = {module: module.training for module in modules}
    hooks: list[Any] = []
    for module in modes:
        hooks.append(module.register_forward_pre_hook(enter, with_kwargs=True))
        hooks.append(module.register_forward_hook(leave, with_kwargs=True))
        module.training = False  # dropout would draw random numbers
    try:
        with torch.no_grad():
            yield
    except (TypeError, RuntimeError, IndexError) as error:
        given = ", ".join(str(tuple(x.shape)) if isinstance(x, Tensor) else repr(x) for x in inputs)
        raise ValueError(
            f"{name_of(model)} does not take inputs of shape {given}: {error}"
        ) from error
    finally:
        for hook in hooks:
            hook.remove()
        for module, training in modes.items():
            module.training = training


def name_of(model: Any) -> str:
    """Return the name of a function, or of a module's class."""
    return getattr(model, "__name__", type(model).__name__)
