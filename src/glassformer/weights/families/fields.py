"""Fields that the families have in common, and our names for their values."""

from types import MappingProxyType

HF_ACTIVATIONS = MappingProxyType(
    {
        "gelu": "gelu",
        "gelu_python": "gelu",
        "gelu_new": "gelu_tanh",
        "gelu_fast": "gelu_tanh",
        "gelu_pytorch_tanh": "gelu_tanh",
        "relu": "relu",
        "silu": "silu",
        "swish": "silu",
    }
)

# Our names for the fields that most families have.
BODY = MappingProxyType(
    {
        "hidden_size": "d_model",
        "num_attention_heads": "num_heads",
        "num_hidden_layers": "num_layers",
        "initializer_range": "initializer_range",
    }
)
VOCABULARY = MappingProxyType(
    {
        "vocab_size": "vocab_size",
        "pad_token_id": "pad_token_id",
        "tie_word_embeddings": "tie_embeddings",
    }
)
LABELS = MappingProxyType({"id2label": "num_labels", "num_labels": "num_labels"})
# The other fields of encoders that are built like BERT.
ENCODER = MappingProxyType(
    {
        "intermediate_size": "d_ff",
        "hidden_act": "activation",
        "layer_norm_eps": "norm_eps",
        "hidden_dropout_prob": "dropout",
        "attention_probs_dropout_prob": "attn_dropout",
    }
)

# Fields that don't affect the hidden states of a model in eval mode.
BOOKKEEPING = (
    *("model_type", "architectures", "_name_or_path", "name_or_path", "_commit_hash", "auto_map"),
    *("transformers_version", "dtype", "torch_dtype", "torchscript"),
)
OUTPUT_FORMATS = ("output_attentions", "output_hidden_states", "return_dict", "use_return_dict")
OTHER_WAYS = (  # to compute the same output
    *("use_cache", "output_past", "gradient_checkpointing", "chunk_size_feed_forward"),
    *("_attn_implementation", "attn_implementation", "_attn_implementation_autoset"),
)
TOKENS = (
    *("bos_token_id", "eos_token_id", "sep_token_id", "cls_token_id", "mask_token_id"),
    *("decoder_start_token_id", "tokenizer_class"),
)
HEADS = (
    *("label2id", "_num_labels", "problem_type", "finetuning_task", "task_specific_params"),
    *("directionality", "pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers"),
    *("pooler_size_per_head", "pooler_type"),
)
HARMLESS = frozenset({*BOOKKEEPING, *OUTPUT_FORMATS, *OTHER_WAYS, *TOKENS, *HEADS})

# Fields for generation, which no model reads.
GENERATION = frozenset(
    {
        *("max_length", "min_length", "num_beams", "length_penalty", "early_stopping"),
        *("bad_words_ids", "forced_bos_token_id", "forced_eos_token_id", "no_repeat_ngram_size"),
        *("force_bos_token_to_be_generated", "num_return_sequences", "prefix", "do_sample"),
    }
)

# No configuration class of transformers declares these, but every model there obeys them.
ONE_STACK = MappingProxyType({"is_encoder_decoder": False, "per_layer_config": None})
# Likewise for causal models: their mask and their cache read them.
WHOLE_PAST = MappingProxyType(
    {
        **{"is_causal": True, "sliding_window": None, "attention_chunk_size": None},
        **{"layer_types": None, "kv_sharing_modes": None},
    }
)
