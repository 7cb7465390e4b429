# %% [markdown]
# # Your sentence, head by head
#
# *You will know:* what each head of a trained encoder does with a sentence of yours, in numbers,
# and how much of it would be the same with any other sentence.
# *You need:* [Many heads](../encoder/many-heads.md),
# [Seeing attention](../encoder/seeing-attention.md).
#
# This page shows one sentence. Take the notebook along, change `SENTENCE`, and run it again: all
# that is asserted here holds for any text that the model can read. Further down, two sentences that
# are fixed are compared.

# %%
import torch
from IPython.display import display

from glassformer import default_checkpoint, load, record, tokenizer
from glassformer.measures import spearman
from glassformer.views import head_view, heatmap

torch.set_grad_enabled(False)
encoder, tokenize = load(default_checkpoint()), tokenizer()

# %%
SENTENCE = "time flies like an arrow"

# %% [markdown]
# ## Every weight of every head
#
# `record` keeps the attention weights of each layer. Together they are one tensor: for each layer
# and head a square, a row for each token that asks, a column for each token that is asked.


# %%
def read(*texts):
    """The tokens of a text or a pair, and all weights, (layers, heads, seq, seq)."""
    inputs = tokenize(*texts, return_tensors="pt")
    with record(encoder) as tape:
        encoder(**inputs)
    tokens = tokenize.convert_ids_to_tokens(inputs["input_ids"][0])
    return tokens, torch.cat(tape.attentions)


tokens, weights = read(SENTENCE)
layers, heads, seq, _ = weights.shape
print(f"{layers} layers of {heads} heads, {seq} tokens:", *tokens)
assert len(tokens) == seq
assert torch.allclose(weights.sum(dim=-1), torch.ones(layers, heads, seq))

# %% [markdown]
# ## Four habits
#
# Looking at pictures of dozens of heads one sees what one likes to see. So we first say what we
# look for. A habit is a set of pairs of tokens: who asks, and who is asked. A head has the habit as
# far as its weight lies on these pairs. Where all words differ, the same word is the word itself.


# %%
def habits(tokens):
    """For each habit the pairs of query and key that belong to it, (seq, seq)."""
    place = torch.arange(len(tokens))
    distance = place - place[:, None]  # from query (row) to key (column)
    frame = tokenize.cls_token, tokenize.sep_token
    special = torch.tensor([token in frame for token in tokens])
    alike = torch.tensor([[query == key for key in tokens] for query in tokens])
    return {
        "previous token": distance == -1,
        "next token": distance == 1,
        "same word": alike & ~special,
        "[CLS] or [SEP]": special.expand(len(tokens), -1),
    }


def share(weights, pairs):
    """The attention that a token gives to such pairs, averaged over those with any."""
    return (weights * pairs).sum(dim=-1)[..., pairs.any(dim=-1)].mean(dim=-1)


axes = "layer", "head"
found = {name: share(weights, pairs) for name, pairs in habits(tokens).items()}
for name, shares in found.items():
    grid = heatmap(shares, range(layers), range(heads), caption=name, axes=axes)
    display(grid)

assert all(shares.shape == (layers, heads) for shares in found.values())
assert all(0 <= shares.min() <= shares.max() < 1.0001 for shares in found.values())

# %% [markdown]
# ## Which heads have them most?
#
# Beside the three strongest heads of each habit stands what a head would show that has no habit
# and spreads its attention evenly. Only what is far above that is worth a name.


# %%
def strongest(shares, count=1):
    """Layer and head of the largest shares, the largest first."""
    places = shares.flatten().topk(count).indices.tolist()
    return [divmod(place, heads) for place in places]


even = torch.full((seq, seq), 1 / seq)
for name, pairs in habits(tokens).items():
    print(f"{name} (evenly spread: {share(even, pairs):.2f})")
    for layer, head in strongest(found[name], 3):
        print(f"    layer {layer}, head {head:2}: {found[name][layer, head]:.2f}")
    layer, head = strongest(found[name])[0]
    assert found[name][layer, head] == found[name].max()

# %% [markdown]
# Here is the head that looks back most, as a grid of weights, and in the head view with its lines.
# In the view you can switch to any other layer and head.

# %%
layer, head = strongest(found["previous token"])[0]
name = f"layer {layer}, head {head}"
heatmap(weights[layer, head], tokens, tokens, caption=name)

# %%
head_view(weights.unsqueeze(1).unbind(), tokens, layer=layer, heads=[head])

# %% [markdown]
# And the one that looks ahead most.

# %%
layer, head = strongest(found["next token"])[0]
name = f"layer {layer}, head {head}"
heatmap(weights[layer, head], tokens, tokens, caption=name)

# %% [markdown]
# ## The head, or the sentence?
#
# Does a head look back because it is that head, or because of these words? Two sentences with the
# same frame can tell. We order all heads by a habit, once in each sentence, and compare the orders
# by Spearman's correlation: it is one if they agree, and near zero if they have nothing to do with
# each other.

# %%
time, time_weights = read("time flies like an arrow")
fruit, fruit_weights = read("fruit flies like a banana")
time_pairs, fruit_pairs = habits(time), habits(fruit)
agreement = {}
for name in time_pairs:
    one = share(time_weights, time_pairs[name])  # (layers, heads)
    other = share(fruit_weights, fruit_pairs[name])
    agreement[name] = spearman(one.flatten(), other.flatten())
    print(f"{name:15} {agreement[name]:.2f}")

assert min(agreement.values()) > 0.6

# %% [markdown]
# The orders agree in large part. So a habit is mostly the head's own, whatever it reads; the rest
# is the sentence's.
#
# ## Where the two part
#
# "flies" is a verb in one sentence and insects in the other, and stands at the same place in
# both. For each head we take its row of weights in both sentences. Half the sum of the differences
# is the share of its attention that has gone elsewhere: zero if the rows are equal, one if they
# have nothing in common.

# %%
flies = time.index("flies")
assert len(time) == len(fruit)
assert fruit[flies] == "flies"

verb = time_weights[:, :, flies]  # (layers, heads, seq)
insects = fruit_weights[:, :, flies]
moved = (verb - insects).abs().sum(dim=-1) / 2  # (layers, heads)
assert 0 <= moved.min() <= moved.max() <= 1
heatmap(moved, range(layers), range(heads), axes=axes)

# %%
layer, head = strongest(moved)[0]
both = torch.stack([verb[layer, head], insects[layer, head]])  # (2, seq)
words = zip(time, fruit, strict=True)
frame = [one if one == other else f"{one}/{other}" for one, other in words]
name = f"layer {layer}, head {head}: where 'flies' looks"
heatmap(both, ["verb", "insects"], frame, caption=name, axes=("flies", "key"))

# %% [markdown]
# The verb looks for its subject, and finds "time". The insects look for nothing here, and leave the
# largest share of their attention with `[CLS]`. That is one head and two sentences: a guess that
# asks for more sentences, not a law.

# %%
assert time[both[0].argmax()] == "time"
assert fruit[both[1].argmax()] == "[CLS]"

# %% [markdown]
# ## Both in one input
#
# BERT can read two sentences at once, and then a word can find itself in the other one. Here is the
# head that does so most: of all pairs of equal words, we take those that are not a word and itself.

# %%
pair, pair_weights = read("time flies like an arrow", "fruit flies like a banana")
elsewhere = habits(pair)["same word"] & ~torch.eye(len(pair), dtype=torch.bool)
again = share(pair_weights, elsewhere)
layer, head = strongest(again)[0]
print(f"layer {layer}, head {head}: {again[layer, head]:.2f} for the other one")
assert elsewhere.sum() == 4  # "flies" and "like", each from both sides

head_view(
    pair_weights.unsqueeze(1).unbind(),
    pair,
    sentence_b_start=pair.index(tokenize.sep_token) + 1,
    layer=layer,
    heads=[head],
)

# %% [markdown]
# ## What this does not say
#
# A habit is a description, and it is exact: so much weight lies on such pairs. That the model needs
# the head for it, or that the words there mean something to it, does not follow. How far pictures
# can be trusted is measured in [Seeing
# attention](../encoder/seeing-attention.md#what-the-pictures-do-not-show).
#
# ## Things to try
#
# - A sentence with a word in it twice. Does the head that looked back still do so?
# - A long sentence. What falls faster, the share of a head with a habit, or the evenly spread one?
# - A habit of your own: to the verb, to the last comma, to words of the same length. It is one line
#   in `habits`.
# - Other verbs and other insects: does the head that told the two "flies" apart do it again?
# - The same words in another order. Which heads follow the words, and which keep to the places?
#
# **Next:** what a picture of attention does not tell:
# [Pictures and tools that mislead](../practice/notebooks/pictures-and-tools.md).
