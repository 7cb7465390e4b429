"""`flops`: how much arithmetic a token takes, counted from a model's sizes alone."""

from glassformer.models.config import TransformerConfig


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
