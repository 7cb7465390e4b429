"""The layers of torch with our weights."""

import torch


def copied(ours, attentions, others):
    """A state dict of torch's layer: its attentions have their three projections in one."""
    state = {}
    for theirs, attention in attentions.items():
        projections = (attention.q_proj, attention.k_proj, attention.v_proj)
        for kind in ("weight", "bias"):
            parts = [getattr(projection, kind) for projection in projections]
            state[f"{theirs}.in_proj_{kind}"] = torch.cat(parts)
            state[f"{theirs}.out_proj.{kind}"] = getattr(attention.out_proj, kind)
    for theirs, module in others.items():
        state |= {f"{theirs}.{kind}": getattr(module, kind) for kind in ("weight", "bias")}
    return {name: tensor.detach().clone() for name, tensor in state.items()}


def twin_state(ours):
    """Our layer's weights under the names of torch's TransformerDecoderLayer."""
    return copied(
        ours,
        {"self_attn": ours.attention, "multihead_attn": ours.cross_attention},
        {
            "linear1": ours.feed_forward.up_proj,
            "linear2": ours.feed_forward.down_proj,
            "norm1": ours.attention_norm,
            "norm2": ours.cross_attention_norm,
            "norm3": ours.feed_forward_norm,
        },
    )


def torch_layer(kind, config):
    """torch's own layer of these sizes."""
    return kind(
        config.d_model,
        config.num_heads,
        config.d_ff,
        activation=config.activation,
        layer_norm_eps=config.norm_eps,
        batch_first=True,
        norm_first=config.norm_first,
    )
