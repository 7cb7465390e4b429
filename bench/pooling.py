"""Train the classifier with several seeds, on the vector of [CLS] or on the mean of all tokens.

The head is the same, a linear layer with a tanh and a linear layer, and so are the optimizer and
the number of passes over the sentences. Every fifth triple of the training sentences is held out
for validation, and no setting was chosen by looking at it. Numbers are right answers, one for each
seed.

    python bench/pooling.py [--seeds 5] [--json]
"""

import argparse

import torch
from torch import Tensor, nn

from _turns import keep
from glassbook.recipes import classification
from glassbook.recipes.classification import Example, build, classify, corpus, label_ids
from glassformer.models.task_models import TransformerForSequenceClassification

HELD_OUT = 5  # every fifth triple


class MeanClassifier(TransformerForSequenceClassification):
    """The same classifier, but its pooler reads the mean of all tokens that aren't padding."""

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor | None = None
    ) -> Tensor:
        """Encode the sequence, average its vectors, and compute a logit for each label."""
        hidden = self.encoder(input_ids, attention_mask, token_type_ids)
        real = attention_mask[..., None]
        mean = (hidden * real).sum(dim=1, keepdim=True) / real.sum(dim=1, keepdim=True)
        return self.classifier(self.dropout(self.pooler(mean)))


KINDS = {"[CLS]": TransformerForSequenceClassification, "mean": MeanClassifier}


def right(model: nn.Module, examples: list[Example]) -> int:
    """Count the right answers."""
    guesses = classify(model, [example.text for example in examples]).argmax(-1)
    return int((guesses == label_ids(examples)).sum())


def main() -> None:
    """Train with each seed, count the right answers, and write the file if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    examples, test = corpus("train"), corpus("test")
    held_out = [example for example in examples if example.triple % HELD_OUT == HELD_OUT - 1]
    kept = [example for example in examples if example not in held_out]
    sizes = {"trained on": len(kept), "held out": len(held_out), "tested on": len(test)}
    rows = [{"vector": name, **sizes, "validation": [], "test": []} for name in KINDS]
    classification.corpus = lambda split: kept  # what `train` reads
    for seed in range(args.seeds):
        for row in rows:
            torch.manual_seed(seed)
            model = build()
            model.__class__ = KINDS[row["vector"]]
            classification.train(model.train(), lambda done, total, text: None)
            model.eval()
            row["validation"].append(right(model, held_out))
            row["test"].append(right(model, test))
            print(seed, row, flush=True)
        if args.json:
            keep("pooling", rows)


if __name__ == "__main__":
    main()
