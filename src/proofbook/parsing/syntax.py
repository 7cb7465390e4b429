"""Check whether a text is a Python expression."""


def expression_fault(text: str) -> str:
    """Return why a text isn't an expression that can be compiled; "" if it is one."""
    try:
        compile(text, "<expression>", "eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        too_deep = isinstance(error, RecursionError | MemoryError)
        return "nested too deeply" if too_deep else str(error)
    return ""
