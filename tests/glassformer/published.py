"""The `config.json` of published models, each named after its place on huggingface.co.

Written after the published files, with their odd fields; `shrunk` makes the sizes small. Long texts
in them are cut short.
"""

from typing import Any

SHRUNK: dict[str, dict[str, Any]] = {
    "bert": {
        **{"vocab_size": 101, "hidden_size": 36, "num_attention_heads": 3, "num_hidden_layers": 2},
        **{"intermediate_size": 37, "max_position_embeddings": 23},
    },
    "distilbert": {
        **{"vocab_size": 101, "dim": 36, "n_heads": 3, "n_layers": 2, "hidden_dim": 37},
        "max_position_embeddings": 23,
    },
    "gpt2": {
        **{"vocab_size": 101, "n_positions": 23, "n_ctx": 23, "n_embd": 36, "n_head": 3},
        **{"n_layer": 2, "bos_token_id": 100, "eos_token_id": 100},
    },
    "llama": {
        **{"vocab_size": 101, "hidden_size": 36, "intermediate_size": 37, "num_hidden_layers": 2},
        **{"num_attention_heads": 6, "max_position_embeddings": 61, "bos_token_id": 1},
        "eos_token_id": 2,
    },
    "marian": {
        **{"vocab_size": 101, "decoder_vocab_size": 101, "d_model": 24, "pad_token_id": 100},
        **{"encoder_attention_heads": 2, "decoder_attention_heads": 3, "encoder_layers": 1},
        **{"num_hidden_layers": 1, "decoder_layers": 2, "encoder_ffn_dim": 37},
        **{"decoder_ffn_dim": 29, "max_position_embeddings": 23, "decoder_start_token_id": 100},
        **{"bad_words_ids": [[100]], "extra_pos_embeddings": 101},
    },
}
SHRUNK["roberta"] = SHRUNK["bert"]
SHRUNK["vit"] = {
    **{"hidden_size": 36, "num_attention_heads": 3, "num_hidden_layers": 2},
    **{"intermediate_size": 37, "image_size": 21, "patch_size": 5},
}
SHRUNK |= dict.fromkeys(("mistral", "qwen2", "qwen3"), SHRUNK["llama"])


def shrunk(config: dict[str, Any]) -> dict[str, Any]:
    """Return the same fields, with small numbers where they are sizes."""
    sizes = {k: v for k, v in SHRUNK[config["model_type"]].items() if k in config}
    if "num_key_value_heads" in config:
        shared = config["num_key_value_heads"] < config["num_attention_heads"]
        sizes["num_key_value_heads"] = 2 if shared else 6
    if config.get("sliding_window"):
        sizes["sliding_window"] = 5
    if config.get("head_dim"):
        sizes["head_dim"] = 10
    scaling = config.get("rope_scaling")
    if scaling and "original_max_position_embeddings" in scaling:
        sizes["rope_scaling"] = {**scaling, "original_max_position_embeddings": 31}
    return {**config, **sizes}


BERT_SIZES: dict[str, Any] = {
    **{"attention_probs_dropout_prob": 0.1, "hidden_act": "gelu", "hidden_dropout_prob": 0.1},
    **{"hidden_size": 768, "initializer_range": 0.02, "intermediate_size": 3072},
    **{"max_position_embeddings": 512, "num_attention_heads": 12, "num_hidden_layers": 12},
    **{"type_vocab_size": 2, "vocab_size": 30522},
}
BERT: dict[str, Any] = {
    **{"model_type": "bert", "architectures": ["BertForMaskedLM"], "layer_norm_eps": 1e-12},
    **{"pad_token_id": 0, **BERT_SIZES},
}
POOLER: dict[str, Any] = {
    **{"directionality": "bidi", "pooler_fc_size": 768, "pooler_num_attention_heads": 12},
    **{
        "pooler_num_fc_layers": 3,
        "pooler_size_per_head": 128,
        "pooler_type": "first_token_transform",
    },
}
ROBERTA: dict[str, Any] = {
    **{**BERT, "model_type": "roberta", "architectures": ["RobertaForMaskedLM"]},
    **{"layer_norm_eps": 1e-05, "max_position_embeddings": 514, "type_vocab_size": 1},
    **{"vocab_size": 50265, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2},
}
DISTILBERT: dict[str, Any] = {
    **{"model_type": "distilbert", "architectures": ["DistilBertForMaskedLM"]},
    **{"activation": "gelu", "attention_dropout": 0.1, "dim": 768, "dropout": 0.1},
    **{"hidden_dim": 3072, "initializer_range": 0.02, "max_position_embeddings": 512},
    **{"n_heads": 12, "n_layers": 6, "pad_token_id": 0, "qa_dropout": 0.1},
    **{"seq_classif_dropout": 0.2, "sinusoidal_pos_embds": False, "tie_weights_": True},
    **{"transformers_version": "4.10.0.dev0", "vocab_size": 30522},
}
GPT2: dict[str, Any] = {
    **{"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1},
    **{"activation_function": "gelu_new", "bos_token_id": 50256, "embd_pdrop": 0.1},
    **{"eos_token_id": 50256, "initializer_range": 0.02, "layer_norm_epsilon": 1e-05},
    **{"n_ctx": 1024, "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024},
    **{"resid_pdrop": 0.1, "summary_activation": None, "summary_first_dropout": 0.1},
    **{"summary_proj_to_labels": True, "summary_type": "cls_index", "summary_use_proj": True},
    "task_specific_params": {"text-generation": {"do_sample": True, "max_length": 50}},
    "vocab_size": 50257,
}
LLAMA: dict[str, Any] = {
    **{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "bos_token_id": 1},
    **{"eos_token_id": 2, "hidden_act": "silu", "hidden_size": 4096, "initializer_range": 0.02},
    **{"intermediate_size": 11008, "max_position_embeddings": 4096, "num_attention_heads": 32},
    **{"num_hidden_layers": 32, "num_key_value_heads": 32, "pretraining_tp": 1},
    **{"rms_norm_eps": 1e-05, "rope_scaling": None, "tie_word_embeddings": False},
    **{"torch_dtype": "float16", "use_cache": True, "vocab_size": 32000},
}
LLAMA3: dict[str, Any] = {
    **{**LLAMA, "attention_bias": False, "attention_dropout": 0.0, "bos_token_id": 128000},
    **{"eos_token_id": 128001, "intermediate_size": 14336, "max_position_embeddings": 8192},
    **{"mlp_bias": False, "num_key_value_heads": 8, "rope_theta": 500000.0},
    **{"torch_dtype": "bfloat16", "vocab_size": 128256},
}
LLAMA3_SCALING: dict[str, Any] = {
    **{"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "rope_type": "llama3"},
    "original_max_position_embeddings": 8192,
}
SMOLLM: dict[str, Any] = {
    **{**LLAMA, "attention_bias": False, "attention_dropout": 0.0, "bos_token_id": 0},
    **{"eos_token_id": 0, "hidden_size": 576, "intermediate_size": 1536, "mlp_bias": False},
    **{"num_attention_heads": 9, "num_hidden_layers": 30, "num_key_value_heads": 3},
    **{"rope_interleaved": False, "tie_word_embeddings": True, "torch_dtype": "bfloat16"},
    "vocab_size": 49152,
}
MISTRAL: dict[str, Any] = {
    **{k: v for k, v in LLAMA.items() if k != "pretraining_tp"},
    **{"model_type": "mistral", "architectures": ["MistralForCausalLM"]},
    **{"intermediate_size": 14336, "max_position_embeddings": 32768, "num_key_value_heads": 8},
    **{"rope_theta": 10000.0, "sliding_window": 4096, "torch_dtype": "bfloat16"},
    "transformers_version": "4.34.0.dev0",
}
QWEN2: dict[str, Any] = {
    **{k: v for k, v in LLAMA.items() if k != "pretraining_tp"},
    **{"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"]},
    **{"attention_dropout": 0.0, "bos_token_id": 151643, "eos_token_id": 151643},
    **{"hidden_size": 896, "intermediate_size": 4864, "max_position_embeddings": 131072},
    **{"max_window_layers": 24, "num_attention_heads": 14, "num_hidden_layers": 24},
    **{"num_key_value_heads": 2, "rms_norm_eps": 1e-06, "rope_theta": 1000000.0},
    **{"sliding_window": 131072, "tie_word_embeddings": True, "use_sliding_window": False},
    "vocab_size": 151936,
}
QWEN3: dict[str, Any] = {
    **{**QWEN2, "model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"]},
    **{"attention_bias": False, "head_dim": 128, "hidden_size": 1024, "intermediate_size": 3072},
    **{"max_position_embeddings": 40960, "max_window_layers": 28, "num_attention_heads": 16},
    **{"num_hidden_layers": 28, "num_key_value_heads": 8, "sliding_window": None},
}
VIT: dict[str, Any] = {
    **{"model_type": "vit", "architectures": ["ViTModel"], "attention_probs_dropout_prob": 0.0},
    **{"hidden_act": "gelu", "hidden_dropout_prob": 0.0, "hidden_size": 768, "image_size": 224},
    **{"initializer_range": 0.02, "intermediate_size": 3072, "layer_norm_eps": 1e-12},
    **{"num_attention_heads": 12, "num_channels": 3, "num_hidden_layers": 12, "patch_size": 16},
    **{"qkv_bias": True, "transformers_version": "4.13.0.dev0"},
}
MARIAN: dict[str, Any] = {
    **{"model_type": "marian", "architectures": ["MarianMTModel"], "_num_labels": 3},
    **{"activation_dropout": 0.0, "activation_function": "swish", "add_bias_logits": False},
    **{"add_final_layer_norm": False, "attention_dropout": 0.0, "bad_words_ids": [[58100]]},
    **{"bos_token_id": 0, "classif_dropout": 0.0, "classifier_dropout": 0.0, "d_model": 512},
    **{"decoder_attention_heads": 8, "decoder_ffn_dim": 2048, "decoder_layerdrop": 0.0},
    **{"decoder_layers": 6, "decoder_start_token_id": 58100, "dropout": 0.1},
    **{"encoder_attention_heads": 8, "encoder_ffn_dim": 2048, "encoder_layerdrop": 0.0},
    **{"encoder_layers": 6, "eos_token_id": 0, "extra_pos_embeddings": 58101},
    **{"force_bos_token_to_be_generated": False, "forced_eos_token_id": 0},
    **{
        "gradient_checkpointing": False,
        "id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"},
    },
    **{"init_std": 0.02, "is_encoder_decoder": True, "label2id": {"LABEL_0": 0, "LABEL_1": 1}},
    **{"max_length": 512, "max_position_embeddings": 512, "normalize_before": False},
    **{"normalize_embedding": False, "num_beams": 6, "num_hidden_layers": 6},
    **{"pad_token_id": 58100, "scale_embedding": True, "static_position_embeddings": True},
    **{"transformers_version": "4.22.0.dev0", "use_cache": True, "vocab_size": 58101},
}


def labels(*names: str) -> dict[str, Any]:
    """Return the two fields that name what a classifier chooses from."""
    by_number = {str(number): name for number, name in enumerate(names)}
    return {"id2label": by_number, "label2id": {name: int(n) for n, name in by_number.items()}}


# By its name there: the config, and which of its fields transformers does not read.
PUBLISHED: dict[str, tuple[dict[str, Any], set[str]]] = {
    "google-bert/bert-base-uncased": (
        {
            **{**BERT, "gradient_checkpointing": False, "position_embedding_type": "absolute"},
            **{"transformers_version": "4.6.0.dev0", "use_cache": True},
        },
        set(),
    ),
    "nlptown/bert-base-multilingual-uncased-sentiment": (
        {
            **{**BERT, **POOLER, "architectures": ["BertForSequenceClassification"]},
            **{"_num_labels": 5, "finetuning_task": "sentiment-analysis", "output_past": True},
            **{
                **labels("1 star", "2 stars", "3 stars", "4 stars", "5 stars"),
                "vocab_size": 105879,
            },
        },
        set(),
    ),
    "distilbert/distilbert-base-uncased": (DISTILBERT, set()),
    "FacebookAI/roberta-base": (ROBERTA, set()),
    "deepset/roberta-base-squad2": (
        {
            **{**ROBERTA, "architectures": ["RobertaForQuestionAnswering"]},
            **{"language": "english", "name": "Roberta"},
        },
        {"language", "name"},
    ),
    "openai-community/gpt2": (GPT2, set()),
    "baffo32/decapoda-research-llama-7B-hf": (
        {
            **{k: v for k, v in LLAMA.items() if k not in ("num_key_value_heads", "rope_scaling")},
            **{"bos_token_id": 0, "eos_token_id": 1, "max_sequence_length": 2048},
            **{"pad_token_id": -1, "transformers_version": "4.27.0.dev0"},
        },
        {"max_sequence_length"},
    ),
    "meta-llama/Llama-2-7b-hf": ({**LLAMA, "_name_or_path": "meta-llama/Llama-2-7b-hf"}, set()),
    "lmsys/vicuna-7b-v1.5-16k": (
        {
            **{**LLAMA, "_name_or_path": "vicuna-7b-v1.5-16k", "max_sequence_length": 16384},
            **{"pad_token_id": 0, "rope_scaling": {"factor": 4.0, "type": "linear"}},
        },
        {"max_sequence_length"},
    ),
    "NousResearch/Yarn-Llama-2-7b-64k": (
        {
            **{**LLAMA, "max_position_embeddings": 65536, "auto_map": {"AutoConfig": "…"}},
            "rope_scaling": {
                **{"factor": 16.0, "original_max_position_embeddings": 4096, "type": "yarn"},
                "finetuned": True,
            },
        },
        {"rope_scaling.finetuned"},
    ),
    "meta-llama/Meta-Llama-3-8B": (LLAMA3, set()),
    "meta-llama/Llama-3.1-8B-Instruct": (
        {
            **{**LLAMA3, "eos_token_id": [128001, 128008, 128009], "rope_scaling": LLAMA3_SCALING},
            **{"max_position_embeddings": 131072, "transformers_version": "4.42.3"},
        },
        set(),
    ),
    "unsloth/Llama-3.2-1B-Instruct": (
        {
            **{**LLAMA3, "rope_scaling": {**LLAMA3_SCALING, "factor": 32.0}, "head_dim": 64},
            **{"max_position_embeddings": 131072, "pad_token_id": 100, "unsloth_fixed": True},
            "quantization_config": {"load_in_4bit": True, "quant_method": "bitsandbytes"},
        },
        {"unsloth_fixed"},
    ),
    "HuggingFaceTB/SmolLM2-135M-Instruct": (
        {
            **{**SMOLLM, "bos_token_id": 1, "eos_token_id": 2, "is_llama_config": True},
            **{"max_position_embeddings": 8192, "pad_token_id": 2, "rope_theta": 100000},
            **{"transformers.js_config": {"kv_cache_dtype": {"q4f16": "float16"}}},
            "unk_token_id": 0,
        },
        {"is_llama_config", "rope_interleaved", "transformers.js_config", "unk_token_id"},
    ),
    "mistralai/Mistral-7B-v0.1": (MISTRAL, set()),
    "mistralai/Mistral-7B-Instruct-v0.3": (
        {**MISTRAL, "rope_theta": 1000000.0, "sliding_window": None, "vocab_size": 32768},
        set(),
    ),
    "Qwen/Qwen2-0.5B": (QWEN2, set()),
    "Qwen/Qwen3-0.6B": (QWEN3, set()),
    "google/vit-base-patch16-224": (
        {
            **{**VIT, "architectures": ["ViTForImageClassification"]},
            **labels("tench, Tinca tinca", "goldfish", "great white shark"),
        },
        set(),
    ),
    "google/vit-base-patch16-224-in21k": (VIT, set()),
    "Helsinki-NLP/opus-mt-en-de": (MARIAN, set()),
    "Helsinki-NLP/opus-mt-tc-big-en-tr": (
        {
            **{**MARIAN, "_name_or_path": "marianmt/en-tr", "activation_function": "relu"},
            **{"d_model": 1024, "decoder_vocab_size": 57060, "vocab_size": 57060},
            **{"pad_token_id": 57059, "decoder_start_token_id": 57059},
            **{"share_encoder_decoder_embeddings": True, "torch_dtype": "float16"},
        },
        set(),
    ),
}
