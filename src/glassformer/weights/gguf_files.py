"""Conversion of a GGUF file, the format of llama.cpp, to a checkpoint that `load` reads."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Float
from torch import Tensor

if TYPE_CHECKING:
    from gguf import GGUFReader
    from tokenizers import Tokenizer

# Field of a GGUF file: field of a Llama's `config.json`.
FIELDS = MappingProxyType(
    {
        "llama.vocab_size": "vocab_size",
        "llama.embedding_length": "hidden_size",
        "llama.feed_forward_length": "intermediate_size",
        "llama.block_count": "num_hidden_layers",
        "llama.attention.head_count": "num_attention_heads",
        "llama.attention.head_count_kv": "num_key_value_heads",
        "llama.attention.layer_norm_rms_epsilon": "rms_norm_eps",
        "llama.context_length": "max_position_embeddings",
        "llama.rope.freq_base": "rope_theta",
        "llama.rope.dimension_count": "head_dim",
        "tokenizer.ggml.bos_token_id": "bos_token_id",
        "tokenizer.ggml.eos_token_id": "eos_token_id",
        "tokenizer.ggml.padding_token_id": "pad_token_id",
    }
)

# Module in a GGUF file: module of transformers' Llama; `*` is a layer's number.
NAMES = MappingProxyType(
    {
        "token_embd": "model.embed_tokens",
        "blk.*.attn_norm": "model.layers.*.input_layernorm",
        "blk.*.attn_q": "model.layers.*.self_attn.q_proj",
        "blk.*.attn_k": "model.layers.*.self_attn.k_proj",
        "blk.*.attn_v": "model.layers.*.self_attn.v_proj",
        "blk.*.attn_output": "model.layers.*.self_attn.o_proj",
        "blk.*.ffn_norm": "model.layers.*.post_attention_layernorm",
        "blk.*.ffn_gate": "model.layers.*.mlp.gate_proj",
        "blk.*.ffn_up": "model.layers.*.mlp.up_proj",
        "blk.*.ffn_down": "model.layers.*.mlp.down_proj",
        "output_norm": "model.norm",
        "output": "lm_head",
    }
)
# Weights whose rows a GGUF file stores in another order; the field with their number of heads.
REORDERED = MappingProxyType(
    {
        "attn_q": "llama.attention.head_count",
        "attn_k": "llama.attention.head_count_kv",
    }
)

SPECIAL_TOKENS = MappingProxyType(
    {
        "bos_token": "tokenizer.ggml.bos_token_id",
        "eos_token": "tokenizer.ggml.eos_token_id",
        "unk_token": "tokenizer.ggml.unknown_token_id",
        "pad_token": "tokenizer.ggml.padding_token_id",
    }
)

# Fields with only one supported value.
ONLY = MappingProxyType(
    {
        "general.architecture": "llama",
        "tokenizer.ggml.model": "gpt2",  # byte-level BPE
        "tokenizer.ggml.pre": "smollm",  # each digit by itself, then as in GPT-2
        "tokenizer.ggml.add_bos_token": False,
        "tokenizer.ggml.add_space_prefix": False,
    }
)


def write_checkpoint(gguf: Path, directory: Path) -> None:
    """Write a Llama's `config.json`, `model.safetensors` in float32, and tokenizer files.

    Raises:
        ValueError: The file asks for something unsupported: another architecture, another
            tokenizer, or a field or a weight of an unknown name.
    """
    from gguf import GGUFReader
    from safetensors.torch import save_file

    reader = GGUFReader(gguf)
    _refuse_unknown(reader)
    config, weights = _config(reader), dict(_weights(reader))
    config["tie_word_embeddings"] = "lm_head.weight" not in weights
    _write_json(directory / "config.json", config)
    save_file(weights, directory / "model.safetensors", {"format": "pt"})
    _tokenizer(reader).save(str(directory / "tokenizer.json"))
    _write_json(directory / "tokenizer_config.json", _tokenizer_config(reader))


def by_halves(
    weight: Float[Tensor, "rows d_model"], num_heads: int
) -> Float[Tensor, "rows d_model"]:
    """Order the rows of each head for rotary positions that pair one half with the other.

    llama.cpp pairs neighbors, rows 0 and 1, 2 and 3; transformers pairs rows 0 and d/2, 1 and
    d/2 + 1, for a head of width d.

    Shapes: (num_heads * head_dim, d_model), before and after.

    >>> by_halves(torch.arange(8.0)[:, None], num_heads=2).flatten()
    tensor([0., 2., 1., 3., 4., 6., 5., 7.])
    """
    return weight.unflatten(0, (num_heads, -1, 2)).transpose(1, 2).flatten(0, 2)


def _refuse_unknown(reader: "GGUFReader") -> None:
    """Raise an error for anything that would be ignored but changes the model's output."""
    for name, only in ONLY.items():
        value = _value(reader, name)
        if value != only:
            raise ValueError(f"{name} ({value!r}) is not supported: only {only!r} is")
    fields = {name for name in reader.fields if name.startswith("llama.")} - FIELDS.keys()
    weights = {tensor.name for tensor in reader.tensors if _name_there(tensor.name) is None}
    if unknown := sorted(fields | weights):
        raise ValueError(f"not supported: {', '.join(unknown)}")


def _value(reader: "GGUFReader", name: str) -> Any:
    """Return a field's value, or None if the file lacks it."""
    field = reader.get_field(name)
    return None if field is None else field.contents()


def _config(reader: "GGUFReader") -> dict[str, Any]:
    """Return the fields of a `config.json`."""
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "dtype": "float32"}
    found = {there: _value(reader, name) for name, there in FIELDS.items()}
    return config | {name: _shortest(value) for name, value in found.items() if value is not None}


def _shortest(value: int | float) -> int | float:
    """Return the shortest number that's the same in float32, the file's type."""
    return float(str(torch.tensor(value).numpy())) if isinstance(value, float) else value


def _name_there(name: str) -> str | None:
    """Return the name of a weight in transformers, or None if it has none."""
    module, _, kind = name.rpartition(".")
    parts = module.split(".")
    layer = parts[1] if len(parts) == 3 else ""
    known = NAMES.get(".".join([parts[0], "*", parts[2]]) if layer else module)
    return f"{known.replace('*', layer)}.{kind}" if known and kind == "weight" else None


def _weights(reader: "GGUFReader") -> Iterator[tuple[str, Tensor]]:
    """Yield each weight by its name in transformers, as float32."""
    from gguf.quants import dequantize

    for tensor in reader.tensors:
        weight = torch.tensor(dequantize(tensor.data, tensor.tensor_type))
        heads = REORDERED.get(tensor.name.split(".")[-2])
        if heads is not None:
            weight = by_halves(weight, _value(reader, heads))
        name = _name_there(tensor.name)
        assert name is not None
        yield name, weight.contiguous()


def _tokenizer(reader: "GGUFReader") -> "Tokenizer":
    """Build byte-level BPE with the file's tokens and merges; each digit is split off first."""
    from gguf import TokenType
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    tokens = _value(reader, "tokenizer.ggml.tokens")
    merges = [tuple(merge.split(" ")) for merge in _value(reader, "tokenizer.ggml.merges")]
    vocab = {token: number for number, token in enumerate(tokens)}
    made = Tokenizer(models.BPE(vocab=vocab, merges=merges))
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    made.decoder = decoders.ByteLevel()
    types = _value(reader, "tokenizer.ggml.token_type")
    made.add_special_tokens(
        [
            AddedToken(token, normalized=False, special=True)
            for token, kind in zip(tokens, types, strict=True)
            if kind == TokenType.CONTROL
        ]
    )
    return made


def _tokenizer_config(reader: "GGUFReader") -> dict[str, Any]:
    """Return the fields of a `tokenizer_config.json`."""
    tokens = _value(reader, "tokenizer.ggml.tokens")
    special = {there: _value(reader, name) for there, name in SPECIAL_TOKENS.items()}
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": _value(reader, "llama.context_length"),
        "clean_up_tokenization_spaces": False,
        **{there: tokens[number] for there, number in special.items() if number is not None},
        "chat_template": _value(reader, "tokenizer.chat_template"),
    }


def _write_json(path: Path, fields: dict[str, Any]) -> None:
    path.write_text(json.dumps(fields, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
