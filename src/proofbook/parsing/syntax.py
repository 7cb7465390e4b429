"""Whether a text is an expression of Python."""


def expression_fault(text: str) -> str:
    """Say why a text is no expression that can be compiled; "" where it is one."""
    try:
        compile(text, "<expression>", "eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        too_deep = isinstance(error, RecursionError | MemoryError)
        return "nested too deeply" if too_deep else str(error)
    return ""
