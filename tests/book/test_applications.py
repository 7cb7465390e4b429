"""The block that the chapter on applications does not run does what it says, with a small model."""

import ast
import re
from pathlib import Path

import torch

from glassbook.corpora.examples import passages
from glassformer.weights.checkpoints import tokenizer

PAGE = Path(__file__).parents[2] / "docs/language-models/one-task-four-ways.md"


def test_lines_for_answers_as_spans_give_a_piece_of_the_passage(monkeypatch):
    from transformers import BertConfig, BertForQuestionAnswering

    (code,) = re.findall(r'```python exec="off"[^\n]*\n(.*?)```', PAGE.read_text(), re.DOTALL)
    # A span from the first token to the last, whatever the drawn weights say.
    model = BertForQuestionAnswering(
        BertConfig(hidden_size=33, num_attention_heads=3, num_hidden_layers=2, intermediate_size=37)
    ).eval()
    shelf = passages()
    read = tokenizer()
    ids = read(shelf[7].other_words, shelf[7].text)["input_ids"]
    wanted = ids.index(read.sep_token_id) + 1, len(ids) - 2  # the passage, without frames

    def pointed(module, inputs, output):
        for logits, place in zip((output.start_logits, output.end_logits), wanted, strict=True):
            logits[0, place] += 100

    model.register_forward_hook(pointed)
    asked = []

    def stand_in(thing):
        return lambda name: asked.append(name) or thing

    monkeypatch.setattr("transformers.AutoTokenizer.from_pretrained", stand_in(read))
    monkeypatch.setattr(
        "transformers.AutoModelForQuestionAnswering.from_pretrained", stand_in(model)
    )
    names = {"torch": torch, "shelf": shelf}
    *statements, last = ast.parse(code).body
    exec(compile(ast.Module(statements, []), "page", "exec"), names)
    answer = eval(compile(ast.Expression(last.value), "page", "eval"), names)
    assert answer == shelf[7].text.lower()
    assert asked == ["deepset/roberta-base-squad2"] * 2
