"""What the page of the whole transformer shows."""

import torch

from glassbook.apps.three_heads import three_heads


def test_each_kind_has_read_a_sentence_with_a_head_of_its_own():
    found = three_heads()
    assert list(found) == ["Encoder", "Encoder-decoder", "Decoder only"]
    for name, one in found.items():
        width = len(one.tokens)
        assert one.weights.shape == one.scores.shape == (width, width), name
        torch.testing.assert_close(one.weights.sum(-1), torch.ones(width))
    assert found["Encoder"].tokens == ("[CLS]", *("time", "flies", "like", "an", "arrow"), "[SEP]")
    assert found["Encoder-decoder"].source[:2] == ("das", "ist")
    assert [word for word, _ in found["Decoder only"].answer] != []
