"""The layers of torch with our weights."""

import torch
from torch import nn


def copied(attentions, others):
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


def layer_state(ours):
    """Our layer's weights under the names of torch's layer of an encoder or a decoder."""
    attentions = {"self_attn": ours.attention}
    norms = [ours.attention_norm, ours.feed_forward_norm]
    if getattr(ours, "cross_attention", None) is not None:
        attentions["multihead_attn"] = ours.cross_attention
        norms.insert(1, ours.cross_attention_norm)
    others = {"linear1": ours.feed_forward.up_proj, "linear2": ours.feed_forward.down_proj}
    others |= {f"norm{number}": norm for number, norm in enumerate(norms, start=1)}
    return copied(attentions, others)


def torch_stack(ours):
    """torch's own stack of layers with the weights of ours, without embeddings."""
    config = ours.config
    kind = nn.TransformerDecoderLayer if config.cross_attention else nn.TransformerEncoderLayer
    layer = kind(
        config.d_model,
        config.num_heads,
        config.d_ff,
        activation=config.activation,
        layer_norm_eps=config.norm_eps,
        batch_first=True,
        norm_first=config.norm_first,
    )
    norm = None if ours.final_norm is None else nn.LayerNorm(config.d_model, eps=config.norm_eps)
    if config.cross_attention:
        stack = nn.TransformerDecoder(layer, config.num_layers, norm)
    else:
        stack = nn.TransformerEncoder(layer, config.num_layers, norm, enable_nested_tensor=False)
    stack = stack.double().eval()
    for theirs, mine in zip(stack.layers, ours.layers, strict=True):
        theirs.load_state_dict(layer_state(mine))
    if norm is not None:
        norm.load_state_dict(ours.final_norm.state_dict())
    return stack
