"""`costs`: where the parameters of a model are, and where its arithmetic goes, to scale."""

from collections.abc import Mapping

from glassformer.models.config import TransformerConfig
from glassformer.views.drawing import Number, bar, figure, legend, panel, picture, text
from glassformer.views.view import View

WIDTH, ROW = 400.0, 58.0
SIDE = 110.0  # of the largest model's square
SHARES = ".glassformer-drawing .share text{fill:var(--surface)}"  # on a bar
PARTS = {  # a model's parts, and the roles whose colors they have
    "embeddings": "embedding",
    "attention": "attention",
    "scores": "series-1",
    "feed-forward": "feed-forward",
    "norms": "stream",
    "output": "decoder",
}


def parameters(config: TransformerConfig) -> dict[str, int]:
    """Count the parameters of a decoder or an encoder by part, from its sizes alone.

    The output layer counts only if it has its own table. An encoder has no output layer.

    >>> parameters(TransformerConfig(vocab_size=11, d_model=8, num_heads=2, num_layers=1, d_ff=16))
    {'embeddings': 4200, 'attention': 288, 'feed-forward': 280, 'norms': 48, 'output': 0}
    """
    width, layers = config.d_model, config.num_layers
    query, kept = widths(config)
    qkv_bias = config.bias if config.qkv_bias is None else config.qkv_bias
    out_bias = config.bias if config.out_bias is None else config.out_bias
    attention = 2 * width * query + 2 * width * kept
    attention += qkv_bias * (query + 2 * kept) + out_bias * width
    inner = (2 + config.gated) * width * config.d_ff
    inner += config.bias * ((1 + config.gated) * config.d_ff + width)
    places = config.max_positions if config.positions == "learned" else 0
    norm = width * (2 if config.norm == "layer" else 1)
    final = config.norm_first if config.final_norm is None else config.final_norm
    return {
        "embeddings": (config.vocab_size + places + config.num_token_types) * width,
        "attention": layers * attention,
        "feed-forward": layers * inner,
        "norms": norm * (2 * layers + final + config.embedding_norm),
        "output": 0 if config.tie_embeddings else config.vocab_size * width,
    }


def flops(config: TransformerConfig, seq: int, *, writes: bool) -> dict[str, int]:
    """Count multiplications and additions for each token of a text, by part.

    A matrix product takes two operations for each of its parameters. The scores and the weighted
    average of the values take four for each pair of tokens and each number in a query. All pairs
    are computed, masked or not. Norms, softmax, and nonlinearities are left out because they cost
    little.

    Args:
        config: The model's configuration.
        seq: Number of tokens in the text.
        writes: Whether the model predicts the next token at each position.
    """
    query, kept = widths(config)
    width, layers = config.d_model, config.num_layers
    return {
        "attention": 2 * layers * (2 * width * query + 2 * width * kept),
        "scores": 4 * layers * seq * query,
        "feed-forward": 2 * layers * (2 + config.gated) * width * config.d_ff,
        "output": 2 * config.vocab_size * width * writes,
    }


def widths(config: TransformerConfig) -> tuple[int, int]:
    """Return the total width of a token's queries, and of its keys."""
    head_dim = config.head_dim or config.d_model // config.num_heads
    return head_dim * config.num_heads, head_dim * (config.num_kv_heads or config.num_heads)


def published() -> dict[str, TransformerConfig]:
    """Return four models' published sizes: BERT without a head, and three decoders.

    Source: `config.json` of google-bert/bert-base-uncased, openai-community/gpt2,
    HuggingFaceTB/SmolLM2-135M, and meta-llama/Meta-Llama-3-8B.
    """
    llama = {"model_type": "llama", "num_key_value_heads": 8, "num_attention_heads": 32}
    small = {"hidden_size": 576, "intermediate_size": 1536, "num_attention_heads": 9}
    return {
        "BERT-base": TransformerConfig(),
        "GPT-2": TransformerConfig.from_hf({"model_type": "gpt2"}),
        "SmolLM2-135M": TransformerConfig.from_hf(
            llama
            | small
            | {"num_hidden_layers": 30, "num_key_value_heads": 3, "vocab_size": 49152}
            | {"tie_word_embeddings": True, "max_position_embeddings": 8192}
        ),
        "Llama-3-8B": TransformerConfig.from_hf(
            llama
            | {"hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32}
            | {"vocab_size": 128256, "max_position_embeddings": 8192, "rope_theta": 500000.0}
        ),
    }


def costs(
    configs: Mapping[str, TransformerConfig], *, seq: int = 1024, caption: str | None = None
) -> View:
    """Draw how many parameters models have, and which parts hold them and do the arithmetic.

    The areas of the squares are to scale. Below them, each model has two bars of equal length: its
    parameters by part, and its operations per token by part.

    Args:
        configs: Each model's name and configuration. A model with learned token types counts as
            an encoder, which returns vectors and no probabilities.
        seq: Number of tokens in the text.
        caption: A line below the picture.

    Raises:
        ValueError: There is no model, or `seq` is less than one.
    """
    if not configs or seq < 1:
        raise ValueError(f"costs needs at least a model and a token: {list(configs)}, seq ({seq})")
    counted = {
        name: (parameters(config), flops(config, seq, writes=not config.num_token_types))
        for name, config in configs.items()
    }
    totals = {name: sum(held.values()) for name, (held, _) in counted.items()}
    parts = squares(totals)
    for k, (name, (held, work)) in enumerate(counted.items()):
        top = SIDE + 66 + k * (ROW + 28)
        parts.append(text(0, top, name, css="title", anchor="start"))
        parts.append(stack("parameters", held, top + 8))
        parts.append(stack("operations", work, top + 32))
    bottom = SIDE + 66 + len(counted) * (ROW + 28)
    entries = [(role, name) for name, role in PARTS.items()]
    parts += [legend(entries[:3], 0, bottom), legend(entries[3:], 0, bottom + 20)]
    facts = [
        [f"{name}: {part}", f"{held.get(part, 0):,}", f"{work.get(part, 0):,}"]
        for name, (held, work) in counted.items()
        for part in PARTS
    ]
    header = ["part", "parameters", f"operations per token, in a text of {seq:,} tokens"]
    name, drawn = "Parameters and operations", picture(parts, WIDTH, bottom + 30)
    return figure(drawn, header, facts, name=name, caption=caption, style=SHARES)


def squares(totals: Mapping[str, int]) -> list[str]:
    """Draw a square for each model, with its area to scale, all on one line."""
    most, slot = max(totals.values()), (WIDTH - SIDE) / max(1, len(totals) - 1)
    parts, x = [], 0.0
    for name, total in totals.items():
        side = SIDE * (total / most) ** 0.5
        across = max(side, slot - 4 if len(totals) > 1 else side)
        square = (x, SIDE - side + 2, side, side)
        parts.append(panel(*square, role="series-1", tint=0.3, corner=0))
        parts.append(text(x, SIDE + 18, name, css="small", anchor="start", most=13))
        parts.append(text(x, SIDE + 34, billions(total), css="title", anchor="start"))
        x += across + 4 if side < slot else side
    return parts


def billions(total: int) -> str:
    """Format a number of parameters as people say it: `124M`, `8.03B`."""
    for size, sign in ((10**9, "B"), (10**6, "M"), (10**3, "k")):
        if total >= size:
            return f"{total / size:.3g}{sign}"
    return str(total)


def stack(title: str, counts: Mapping[str, int], top: Number) -> str:
    """Draw the parts of a total side by side, the largest ones with their shares."""
    left, whole = 84.0, sum(counts.values())
    across, x = (WIDTH - left) / whole, 84.0
    parts = [text(left - 8, top + 14, title, css="small", anchor="end")]
    for part, count in counts.items():
        wide = across * count
        parts.append(bar(x, top, max(0.0, wide - 1), 20, role=PARTS[part]))
        if count > 0.09 * whole:
            share = text(x + wide / 2, top + 14.5, f"{count / whole:.0%}")
            parts.append(f'<g class="share">{share}</g>')
        x += wide
    return "".join(parts)
