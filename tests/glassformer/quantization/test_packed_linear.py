"""Packed layers beside their weights, unpacked by hand and multiplied in float64."""

from itertools import product

import pytest
import torch
from torch import nn

from glassformer import TransformerConfig, TransformerForCausalLM, generate
from glassformer.quantization.packed_linear import GROUP, Int4Linear, PackedLinear8, pack

HALF_STEP = 2.0**-8  # of bfloat16, relative


def unpacked(layer):
    """Return the weight that the codes of a packed layer stand for, in float64."""
    if isinstance(layer, PackedLinear8):
        return layer.codes.double() * layer.scale.double()[:, None]
    # The kernel itself says where each code lies: a row of the unit matrix picks a column.
    unit = torch.eye(layer.in_features, dtype=torch.bfloat16)
    one_zero = torch.tensor([1.0, 0.0]).expand_as(layer.scale_and_zero).bfloat16().contiguous()
    codes = torch._weight_int4pack_mm_for_cpu(unit, layer.codes, GROUP, one_zero).mT.double()
    scale, zero = layer.scale_and_zero.double().unbind(-1)  # (groups, out)
    wide = [part.mT.repeat_interleave(GROUP, dim=1) for part in (scale, zero)]
    return codes * wide[0] + wide[1]


def test_a_packed_layer_multiplies_what_its_codes_stand_for(subtests):
    sizes = [
        *((PackedLinear8, width, out) for width, out in [(16, 1), (48, 7), (80, 31)]),
        *((Int4Linear, width, out) for width, out in [(32, 16), (96, 48), (160, 112)]),
    ]
    for bias, rows, (kind, width, out) in product(
        [True, False], [(1, 1), (3, 5), (67,), ()], sizes
    ):
        with subtests.test(bias=bias, rows=rows, kind=kind, width=width, out=out):
            layer = nn.Linear(width, out, bias=bias)
            hidden = torch.randn(*rows, 2 * width)[..., ::2]
            ours = kind(layer)
            weight, read = unpacked(ours), hidden.bfloat16().double()
            wanted = read @ weight.mT + (layer.bias.double() if bias else 0)
            found = ours(hidden)
            assert found.dtype == torch.float32
            # Unpacked weights and results are rounded to bfloat16, the sums to float32.
            allowed = 2 * HALF_STEP * (read.abs() @ weight.abs().mT) + 1e-5
            assert found.shape == wanted.shape
            assert ((found - wanted).abs() <= allowed).all()


def test_no_level_is_much_nearer(subtests):
    for kind in [PackedLinear8, Int4Linear]:
        with subtests.test(kind=kind):
            layer = nn.Linear(96, 48)
            nn.init.normal_(layer.weight, mean=0.7)
            ours, weight = kind(layer), layer.weight.detach().double()
            if kind is PackedLinear8:
                step = ours.scale.double()[:, None]
            else:
                step = ours.scale_and_zero[..., 0].mT.double().repeat_interleave(GROUP, dim=1)
            # Half a step; at the ends of a range, what rounding of scale and zero takes from it.
            ends = HALF_STEP * weight.abs().amax(1, keepdim=True) * 2
            assert ((unpacked(ours) - weight).abs() <= step / 2 + ends).all()


def test_weights_on_the_levels_stay():
    """Codes and scales that bfloat16 holds come back as they are."""
    codes = torch.randint(16, (48, 3, GROUP))
    codes[..., 0], codes[..., 1] = 0, 15
    scale, minimum = 2.0 ** torch.randint(-3, 3, (2, 48, 3, 1))
    layer = nn.Linear(3 * GROUP, 48)
    layer.weight.data = (codes * scale - 8 * minimum).flatten(1)
    assert torch.equal(unpacked(Int4Linear(layer)), layer.weight.detach().double())


def test_a_weight_of_equal_numbers_has_no_range(subtests):
    for kind in [PackedLinear8, Int4Linear]:
        with subtests.test(kind=kind):
            layer = nn.Linear(32, 16, bias=False)
            layer.weight.data.fill_(0)
            assert torch.equal(kind(layer)(torch.randn(3, 32)), torch.zeros(3, 16))


def test_sizes_that_the_kernels_do_not_take(subtests):
    rows = [
        (PackedLinear8, 37, 16, r"in_features \(37\) .* multiples of 16 and 1 to be .* 8 bits"),
        (PackedLinear8, 24, 16, r"in_features \(24\) .* multiples of 16 and 1 to be .* 8 bits"),
        (Int4Linear, 48, 16, r"in_features \(48\) .* multiples of 32 and 16 to be .* 4 bits"),
        (Int4Linear, 32, 17, r"out_features \(17\) .* multiples of 32 and 16 to be .* 4 bits"),
    ]
    for kind, width, out, message in rows:
        with subtests.test(message), pytest.raises(ValueError, match=message):
            kind(nn.Linear(width, out))


def test_a_layer_elsewhere():
    with pytest.raises(ValueError, match=r"on meta can't be packed"):
        PackedLinear8(nn.Linear(16, 3, device="meta"))


def test_other_bits():
    for bits in [0, 3, 16]:
        with pytest.raises(ValueError, match=rf"bits \({bits}\) must be 8 or 4"):
            pack(nn.Sequential(nn.Linear(32, 16)), bits)


def test_a_layer_that_cannot_be_packed_is_named_and_all_stay():
    model = nn.Sequential(nn.Linear(32, 16), nn.Linear(16, 16))
    layers = [*model]
    with pytest.raises(ValueError, match=r"^1: in_features \(16\)"):
        pack(model, bits=4)
    assert [*model] == layers


def small(**choices):
    torch.manual_seed(0)
    sizes = {"vocab_size": 47, "d_model": 32, "num_heads": 2, "num_layers": 2, "d_ff": 96}
    return TransformerForCausalLM(TransformerConfig(**sizes, **choices)).eval()


def test_all_linear_layers_are_exchanged(subtests):
    for tied in [True, False]:
        with subtests.test(tied=tied):
            model = small(tie_embeddings=tied)
            assert pack(model, bits=8) is model
            assert not any(type(layer) is nn.Linear for layer in model.modules())
            assert isinstance(model.lm_head, PackedLinear8)


def test_a_layer_tied_to_a_table_has_8_bits():
    model = pack(small(tie_embeddings=True), bits=4)
    kinds = {type(layer) for layer in model.decoder.modules() if hasattr(layer, "codes")}
    assert kinds == {Int4Linear}
    assert isinstance(model.lm_head, PackedLinear8)
    assert model.decoder.embeddings.tokens.weight.dtype == torch.float32


def test_a_packed_model_writes_as_one_with_its_weights(subtests):
    """The other model has the unpacked weights in float32."""
    for bits in [8, 4]:
        with subtests.test(bits=bits):
            packed, plain = pack(small(tie_embeddings=True), bits), small(tie_embeddings=False)
            plain.decoder.embeddings.load_state_dict(packed.decoder.embeddings.state_dict())
            for name, layer in packed.named_modules():
                if hasattr(layer, "codes"):
                    plain.get_submodule(name).weight.data = unpacked(layer).float()
            prompt = torch.randint(1, 47, (3, 7))
            torch.testing.assert_close(packed(prompt), plain(prompt), rtol=0, atol=0.02)
            assert generate(packed, prompt, max_new_tokens=5).shape == (3, 12)
