"""An example of a docstring becomes a program that runs alone."""

from glassbook.site.api.entry import program


def test_the_program_of_an_example_imports_what_it_reads_and_prints_what_it_shows():
    known = {"load": "glassformer.weights.pretrained.load", "tape": "glassformer.interpret.recording.tape"}
    doctest = ">>> model = load(torch.tensor(1))\n>>> model\n'a model'\n>>> print(3)\n3"
    assert program(doctest, known).up_to(0) == (
        "import torch\n"
        "from glassformer.weights.pretrained import load\n\n"
        "model = load(torch.tensor(1))\n"
        "print(model)\n"
        "print(3)\n"
    )
