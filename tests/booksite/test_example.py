"""An example of a docstring becomes a program that runs alone."""

from booksite.api.example import program


def test_the_program_of_an_example_imports_what_it_reads_and_no_more():
    known = {"load": "glassformer.pretrained.load", "tape": "glassformer.probe.tape"}
    doctest = ">>> model = load(torch.tensor(1))\n>>> model\n'a model'"
    assert program(doctest, known) == (
        "import torch\n"
        "from glassformer.pretrained import load\n"
        "model = load(torch.tensor(1))\n"
        "print(model)\n"
    )


def test_what_it_shows_is_printed_and_a_prompt_takes_it():
    doctest = """>>> def f():
    ...     a = 1
    ...
    ...     return a
    >>> f(), f()  # twice
    (1, 1)
    >>> print(f())
    1
    """.replace("\n    ", "\n")
    assert program(doctest, {}) == (
        "def f():\n    a = 1\n    \n    return a\n\nprint((f(), f()))  # twice\nprint(f())\n"
    )
