"""Look inside a model: record attention, read states, switch parts off, patch activations."""

from glassformer.interpret.ablation import ablated
from glassformer.interpret.activation_patching import patched, read_on
from glassformer.interpret.induction import induction_scores, repeat_after
from glassformer.interpret.lens import logit_lens
from glassformer.interpret.recording import Tape, record
from glassformer.interpret.run import Reading, read

__all__ = [
    "Reading",
    "Tape",
    "ablated",
    "induction_scores",
    "logit_lens",
    "patched",
    "read",
    "read_on",
    "record",
    "repeat_after",
]
