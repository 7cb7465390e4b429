"""Small random Llamas, written as llama.cpp writes them, come back as they were."""

import json
import re
from itertools import product

import gguf
import pytest
import regex
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from small_models import CLOSE, small_model
from tokenizers.pre_tokenizers import ByteLevel

from glassformer import TransformerForCausalLM, load
from glassformer.weights.gguf_files import by_halves, write_checkpoint

# Blocks of 32 numbers are quantized together, so that widths are multiples of it.
D_MODEL, D_FF, LAYERS, POSITIONS = 96, 160, 2, 61
SPECIAL, MERGES = ["<|end|>", "<|start|>"], ["Ġ t", "h e", "Ġt he", "Ġ Ġ", "Ċ Ċ"]
ALPHABET = sorted(ByteLevel.alphabet())
TOKENS = [*SPECIAL, *ALPHABET, *(merge.replace(" ", "") for merge in MERGES)]
HEADS = {"a key head a head": (6, 6), "two key heads": (6, 2), "one key head": (3, 1)}
TEMPLATE = "{% for message in messages %}{{ '<|start|>' + message['content'] }}{% endfor %}"
MODULES = {
    **{"input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm"},
    **{"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v"},
    **{"self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up"},
    "mlp.down_proj": "ffn_down",
}
TABLES = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}


def llama(heads=(6, 2), **changes):
    sizes = {"hidden_size": D_MODEL, "intermediate_size": D_FF, "num_hidden_layers": LAYERS}
    sizes |= {"num_attention_heads": heads[0], "num_key_value_heads": heads[1]}
    sizes |= {"vocab_size": len(TOKENS), "max_position_embeddings": POSITIONS}
    return small_model("LlamaForCausalLM", std=0.15, **sizes, rms_norm_eps=1e-5, **changes)


def name_there(name):
    """The name that llama.cpp has for a weight."""
    module, _, kind = name.rpartition(".")
    layer = re.fullmatch(r"model\.layers\.(\d+)\.(.*)", module)
    return f"blk.{layer[1]}.{MODULES[layer[2]]}.{kind}" if layer else f"{TABLES[module]}.{kind}"


def by_neighbors(weight, heads):
    """The rows in llama.cpp's order: the two that are turned together beside each other."""
    rows = range(len(weight) // heads)
    order = [half * len(rows) // 2 + pair for pair in range(len(rows) // 2) for half in (0, 1)]
    return torch.cat([weight[[head * len(rows) + row for row in order]] for head in range(heads)])


def write(path, theirs, kind=gguf.GGMLQuantizationType.F32, **fields):
    """Write a model as llama.cpp does, its matrices quantized; `fields` are added or replaced."""
    config, writer = theirs.config, gguf.GGUFWriter(path, fields.pop("architecture", "llama"))
    writer.add_vocab_size(config.vocab_size)
    writer.add_embedding_length(D_MODEL)
    writer.add_feed_forward_length(D_FF)
    writer.add_block_count(LAYERS)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_rope_dimension_count(D_MODEL // config.num_attention_heads)
    writer.add_rope_freq_base(500.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_context_length(POSITIONS)
    writer.add_tokenizer_model(fields.pop("tokenizer", "gpt2"))
    writer.add_tokenizer_pre(fields.pop("pre", "smollm"))
    writer.add_token_list(TOKENS)
    control = [gguf.TokenType.CONTROL] * len(SPECIAL)
    writer.add_token_types(control + [gguf.TokenType.NORMAL] * (len(TOKENS) - len(SPECIAL)))
    writer.add_token_merges(MERGES)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(0)
    writer.add_chat_template(TEMPLATE)
    writer.add_add_bos_token(fields.pop("adds_start", False))
    writer.add_add_space_prefix(False)
    for name, value in fields.items():
        writer.add_uint32(name.replace("_of_", "."), value)
    for name, weight in theirs.state_dict().items():
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        for reordered, heads in {
            "q_proj": config.num_attention_heads,
            "k_proj": config.num_key_value_heads,
        }.items():
            weight = by_neighbors(weight, heads) if reordered in name else weight
        quantized = kind if weight.dim() == 2 else gguf.GGMLQuantizationType.F32
        data = gguf.quants.quantize(weight.numpy(), quantized)
        writer.add_tensor(name_there(name), data, raw_dtype=quantized)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture
def converted(tmp_path_factory):
    """Makes the directory of a model that was written as GGUF."""

    def make(theirs, **options):
        directory = tmp_path_factory.mktemp("converted")
        write_checkpoint(write(directory / "model.gguf", theirs, **options), directory)
        return directory

    return make


def test_a_model_comes_back_as_it_was(converted, subtests):
    for heads, tied in product(HEADS.values(), [True, False]):
        with subtests.test(heads=heads, tied=tied):
            theirs = llama(heads, tie_word_embeddings=tied, rope_parameters={"rope_theta": 500.0})
            directory, ids = converted(theirs), torch.randint(len(TOKENS), (5, 11))
            ours, again = load(directory), transformers.LlamaForCausalLM.from_pretrained(directory)
            assert isinstance(ours, TransformerForCausalLM)
            with torch.no_grad():
                expected = theirs(ids).logits
                assert torch.equal(again(ids).logits, expected)
                torch.testing.assert_close(ours(ids), expected, **CLOSE)
            assert again.config.tie_word_embeddings == tied
            for name, weight in again.state_dict().items():
                assert torch.equal(weight, theirs.state_dict()[name]), name


def test_quantized_weights_are_those_that_transformers_reads(converted, subtests):
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

    for kind in ["Q4_0", "Q4_1", "Q5_1", "Q8_0", "F16", "BF16"]:
        with subtests.test(kind=kind):
            theirs = llama()
            directory = converted(theirs, kind=gguf.GGMLQuantizationType[kind])
            expected = load_gguf_checkpoint(
                str(directory / "model.gguf"), return_tensors=True, model_to_load=theirs
            )["tensors"]
            found = transformers.LlamaForCausalLM.from_pretrained(directory).state_dict()
            assert found.keys() - expected.keys() == {"lm_head.weight"} - expected.keys()
            for name, weight in expected.items():
                assert found[name].dtype == torch.float32
                assert torch.equal(found[name], weight), name
                assert (weight.dim() == 1) == torch.equal(weight, theirs.state_dict()[name]), name


def test_the_config_says_what_the_file_says(converted):
    config = json.loads((converted(llama()) / "config.json").read_text())
    assert config == {
        **{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "dtype": "float32"},
        **{"vocab_size": len(TOKENS), "hidden_size": D_MODEL, "intermediate_size": D_FF},
        **{"num_hidden_layers": LAYERS, "num_attention_heads": 6, "num_key_value_heads": 2},
        **{"rms_norm_eps": 1e-5, "max_position_embeddings": POSITIONS, "rope_theta": 500.0},
        **{"head_dim": 16, "bos_token_id": 1, "eos_token_id": 0, "tie_word_embeddings": False},
    }


def test_what_is_not_built_is_refused_by_name(converted, subtests):
    rows = [
        ({"architecture": "qwen2"}, r"general\.architecture \('qwen2'\) is not supported: only"),
        ({"tokenizer": "llama"}, r"tokenizer\.ggml\.model \('llama'\) is not supported: only"),
        ({"pre": "llama-bpe"}, r"tokenizer\.ggml\.pre \('llama-bpe'\) .* only 'smollm' is"),
        ({"adds_start": True}, r"tokenizer\.ggml\.add_bos_token \(True\) .* only False is"),
        ({"llama_of_expert_count": 4}, r"not supported: llama\.expert_count$"),
    ]
    for change, message in rows:
        with subtests.test(message), pytest.raises(ValueError, match=message):
            converted(llama(), **change)


def test_weights_of_unknown_names_are_refused(converted, monkeypatch):
    monkeypatch.setitem(MODULES, "mlp.up_proj", "ffn_up_exps")
    monkeypatch.setitem(TABLES, "model.norm", "rope_freqs")
    unknown = "blk.0.ffn_up_exps.weight, blk.1.ffn_up_exps.weight, rope_freqs.weight"
    with pytest.raises(ValueError, match=f"^not supported: {re.escape(unknown)}$"):
        converted(llama())


@settings(max_examples=50)
@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 3))
def test_the_order_of_rows_is_undone(heads, pairs, width):
    weight = torch.rand(heads * pairs * 2, width)
    assert torch.equal(by_halves(by_neighbors(weight, heads), heads), weight)


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """The tokenizer of a small file."""
    folder = tmp_path_factory.mktemp("small")
    torch.manual_seed(0)
    write_checkpoint(write(folder / "model.gguf", llama()), folder)
    return transformers.AutoTokenizer.from_pretrained(folder)


def pieces(text):
    """What llama.cpp cuts a text into for this kind: first at each number, then as GPT-2 does."""
    gpt2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)"
    for stretch in regex.splititer(r"(\p{N})", text):
        end = 0
        for found in regex.finditer(gpt2, stretch):
            yield from filter(None, [stretch[end : found.start()], found[0]])
            end = found.end()
        yield from filter(None, [stretch[end:]])


@settings(max_examples=300)
@given(st.text(st.sampled_from("ab' \n\t.,1239²½éß한국🙂'sre") | st.characters(codec="ascii")))
def test_texts_are_cut_where_llama_cpp_cuts_them(words, text):
    found = words.backend_tokenizer.pre_tokenizer.pre_tokenize_str(text)
    assert [text[start:end] for _, (start, end) in found] == [*pieces(text)]


def test_pieces_are_merged_in_the_order_of_the_file(words):
    assert words.tokenize("the then\n\n1  2") == [
        *("t", "he", "Ġthe", "n", "ĊĊ", "1", "ĠĠ", "2"),
    ]
    assert words("<|start|>the")["input_ids"] == [1, *words("the")["input_ids"]]
    assert words("the").keys() == {"input_ids", "attention_mask"}


def test_special_tokens_length_and_template_are_the_file_s(words):
    assert (words.bos_token, words.eos_token, words.pad_token) == ("<|start|>", "<|end|>", None)
    assert words.all_special_tokens == ["<|start|>", "<|end|>"]
    assert words.model_max_length == POSITIONS
    assert words.apply_chat_template([{"content": "hi"}], tokenize=False) == "<|start|>hi"
    assert words.decode(words("é  the 🙂, 12")["input_ids"]) == "é  the 🙂, 12"
