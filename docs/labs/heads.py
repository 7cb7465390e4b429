# %% [markdown]
# # Your sentence, head by head
#
# What does each head of a trained encoder do with your own sentence? Download the notebook, change
# `SENTENCE`, and run it again. Everything asserted here holds for any text the model can read,
# except where the notebook compares fixed sentences, farther down.
#
# *You will know:* what each head of a trained encoder does with your own sentence, in numbers, and
# how much of it would be the same with any other sentence.
# *You need:* [Many heads](../encoder/many-heads.md),
# [Seeing attention](../encoder/seeing-attention.md).
#
# The encoder is all-MiniLM-L6-v2, a small trained BERT.

# %%
import torch
from IPython.display import display

from glassbook.metrics.measures import spearman
from glassformer import read, tokenizer
from glassformer.views import head_view, heatmap

tokenize = tokenizer()

# %%
SENTENCE = "time flies like an arrow"

# %% [markdown]
# ## Every weight of every head
#
# `read` records the attention weights of every layer. Stacked, they form one tensor. For each layer
# and head, it has a square matrix with a row for each query token and a column for each key token.


# %%
reading = read(SENTENCE)
encoder, tokens, weights = reading.model, reading.tokens, reading.attentions
layers, heads, seq, _ = weights.shape
print(f"{layers} layers of {heads} heads, {seq} tokens:", *tokens)
assert len(tokens) == seq
assert torch.allclose(weights.sum(dim=-1), torch.ones(layers, heads, seq))

# %% [markdown]
# ## Four habits
#
# If you look at pictures of dozens of heads, you'll see what you'd like to see. So let's first
# write down what we're looking for. A habit is a set of token pairs: a token that looks, and the
# token it looks at. A head has the habit to the extent that its weight falls on those pairs. In a
# sentence without repeated words, "same word" means the word itself.
#
# All four grids have the same color scale, from zero to one.


# %%
def habits(tokens):
    """Return a mask of the pairs of query and key for each habit, (seq, seq)."""
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
    """Return the attention that a token pays to such pairs, averaged over tokens that have one."""
    return (weights * pairs).sum(dim=-1)[..., pairs.any(dim=-1)].mean(dim=-1)


def even_shares(tokens):
    """Return what a head would show for each habit if it spread its attention evenly."""
    even = torch.full((len(tokens), len(tokens)), 1 / len(tokens))
    return {name: share(even, pairs).item() for name, pairs in habits(tokens).items()}


axes = "layer", "head"
found = {name: share(weights, pairs) for name, pairs in habits(tokens).items()}
by_chance = even_shares(tokens)
for name, shares in found.items():
    caption = f"share of attention: {name} (evenly spread: {by_chance[name]:.2f})"
    display(heatmap(shares, range(layers), range(heads), caption=caption, axes=axes, end=1))

assert all(shares.shape == (layers, heads) for shares in found.values())
assert all(0 <= shares.min() <= shares.max() < 1.0001 for shares in found.values())

# %% [markdown]
# ## The strongest heads
#
# <span id="which-heads-have-them-most"></span>
#
# Here are the three strongest heads for each habit. Only a number far above an even share deserves
# a name. For the sentence about time, "same word" isn't far above: its strongest head shows little
# more than an even share.


# %%
def strongest(shares, count=1):
    """Return the layer and head of each of the largest shares, the largest first."""
    places = shares.flatten().topk(count).indices.tolist()
    return [divmod(place, heads) for place in places]


for name, even in by_chance.items():
    print(f"{name} (evenly spread: {even:.2f})")
    for layer, head in strongest(found[name], 3):
        print(f"    layer {layer}, head {head:2}: {found[name][layer, head]:.2f}")
    layer, head = strongest(found[name])[0]
    assert found[name][layer, head] == found[name].max()

# %% [markdown]
# This is the head that looks back most, shown as a grid of weights and as lines in the head view.
# In the view, you can switch to any other layer and head.

# %%
layer, head = strongest(found["previous token"])[0]
name = f"layer {layer}, head {head}"
heatmap(weights[layer, head], tokens, tokens, caption=name)

# %%
head_view(weights.unsqueeze(1).unbind(), tokens, layer=layer, heads=[head])

# %% [markdown]
# And this is the head that looks ahead most.

# %%
layer, head = strongest(found["next token"])[0]
name = f"layer {layer}, head {head}"
heatmap(weights[layer, head], tokens, tokens, caption=name)

# %% [markdown]
# ## The head, or the sentence?
#
# Is looking back a property of the head, or does it come from these words? Let's take three
# sentences. The second has the same form as the first and shares words with it. The third is a
# question, twice as long, with different words. In each sentence, we rank all heads by a habit, and
# we compare the rankings with the first sentence's, using Spearman's correlation. It's one if two
# rankings agree and near zero if they're unrelated.

# %%
first = read("time flies like an arrow", model=encoder)
second = read("fruit flies like a banana", model=encoder)
third = read("who left the door of the old house open last night?", model=encoder)
time, time_weights = first.tokens, first.attentions
fruit, fruit_weights = second.tokens, second.attentions


def all_shares(reading):
    """Return the share of each head for each habit, (layers, heads)."""
    pairs = habits(reading.tokens)
    return {name: share(reading.attentions, one) for name, one in pairs.items()}


of_time, of_fruit, of_question = map(all_shares, (first, second, third))
similar, different = {}, {}
print("agreement with the first sentence:  second  third")
for name, one in of_time.items():
    similar[name] = spearman(one.flatten(), of_fruit[name].flatten())
    different[name] = spearman(one.flatten(), of_question[name].flatten())
    print(f"{name:34}  {similar[name]:6.2f} {different[name]:6.2f}")

assert set(time) & set(third.tokens) == {"[CLS]", "[SEP]"}
assert min(similar.values()) > 0.6
assert 0.3 < different["previous token"] < similar["previous token"] - 0.1
assert min(share for name, share in different.items() if name != "previous token") > 0.6

# %% [markdown]
# In the sentence with the same form, the heads largely keep their order. In the question, the
# ranking by "previous token" changes more. In either sentence, the median head gives the previous
# token hardly more than an even share, so the ranks of most heads say little. What about the head
# that was strongest in the first sentence? The number in parentheses is its rank in the question,
# where one is the strongest.

# %%
evenly = even_shares(third.tokens)
for tokens_read, shares in ((time, of_time), (third.tokens, of_question)):
    even_back = even_shares(tokens_read)["previous token"]
    assert shares["previous token"].median() < 1.25 * even_back
for name, one in of_time.items():
    place = strongest(one)[0]
    there = of_question[name]
    rank = int((there > there[place]).sum()) + 1
    print(f"{name:15} {one[place]:.2f}, in the question {there[place]:.2f} (rank {rank})")
    print(f"{'evenly spread':15}       in the question {evenly[name]:.2f}")

for name in ("previous token", "next token"):
    place = strongest(of_time[name])[0]
    assert strongest(of_question[name])[0] == place
    assert of_question[name][place] > 0.5
place = strongest(of_time["same word"])[0]
assert of_time["same word"][place] < 1.5 * even_shares(time)["same word"]
assert place not in strongest(of_question["same word"], 3)

# %% [markdown]
# The head that looks back most and the head that looks ahead most are the same in both sentences,
# and both are far above an even share. So far, these two habits seem to belong to the heads. "Same
# word" was little above an even share to begin with, and in the question, its head is no longer
# among the three strongest: the number described the sentence, not the head. And three sentences
# aren't many. Try your own before you give a head a name.
#
# ## Where they differ
#
# <span id="where-the-two-part"></span>
#
# "flies" is a verb in one sentence and insects in the other, at the same position. We take each
# head's row of weights for "flies" in both sentences. Half the sum of the absolute differences is
# the share of attention that has moved: zero if the rows are equal, one if they have nothing in
# common.

# %%
flies = time.index("flies")
assert len(time) == len(fruit)
assert fruit[flies] == "flies"

verb = time_weights[:, :, flies]  # (layers, heads, seq)
insects = fruit_weights[:, :, flies]
moved = (verb - insects).abs().sum(dim=-1) / 2  # (layers, heads)
assert 0 <= moved.min() <= moved.max() <= 1
caption = "share of the attention of “flies” that has moved, from “time flies …” to “fruit flies …”"
heatmap(moved, range(layers), range(heads), axes=axes, caption=caption)

# %%
layer, head = strongest(moved)[0]
both = torch.stack([verb[layer, head], insects[layer, head]])  # (2, seq)
words = zip(time, fruit, strict=True)
frame = [one if one == other else f"{one}/{other}" for one, other in words]
name = f"layer {layer}, head {head}: where 'flies' looks"
heatmap(both, ["verb", "insects"], frame, caption=name, axes=("“flies” as …", "key"))

# %% [markdown]
# In this head, the verb gives the most weight to its subject, "time." The noun gives the most to
# `[CLS]`. That's one head and two sentences, and we picked the head because it differs most. It
# would take more sentences to call this a rule.

# %%
assert time[both[0].argmax()] == "time"
assert fruit[both[1].argmax()] == "[CLS]"

# %% [markdown]
# ## Both in one input
#
# BERT can read two sentences at once, and a word can then attend to its own copy in the other
# sentence. Here's the head that does this most. Among pairs of identical words, we count only those
# at two different positions. The printout lists each of them with its weight. Other tokens may look
# elsewhere: most of this head's largest weights go to `[CLS]`.

# %%
both_sentences = read("time flies like an arrow", "fruit flies like a banana", model=encoder)
pair, pair_weights = both_sentences.tokens, both_sentences.attentions
elsewhere = habits(pair)["same word"] & ~torch.eye(len(pair), dtype=torch.bool)
again = share(pair_weights, elsewhere)
layer, head = strongest(again)[0]
print(f"layer {layer}, head {head}: {again[layer, head]:.2f} for the other one")
for query, key in elsewhere.nonzero().tolist():
    weight = pair_weights[layer, head, query, key]
    print(f"    {pair[query]:5} {query:2} looks at {pair[key]:5} {key:2}: {weight:.2f}")
assert elsewhere.sum() == 4  # "flies" and "like", each from both sides
largest = pair_weights[layer, head].flatten().topk(10).indices
assert all(pair[place % len(pair)] == "[CLS]" for place in largest.tolist())

head_view(
    pair_weights.unsqueeze(1).unbind(),
    pair,
    sentence_b_start=pair.index(tokenize.sep_token) + 1,
    layer=layer,
    heads=[head],
)

# %% [markdown]
# ## What this doesn't say
#
# <span id="what-this-does-not-say"></span>
#
# A habit is an exact description: this much weight falls on such pairs. It doesn't follow that the
# model needs the head for it, or that the words mean anything to the head. [Seeing
# attention](../encoder/seeing-attention.md#what-the-pictures-do-not-show) measures how far you can
# trust such pictures.
#
# ## Things to try
#
# - Use a sentence in which a word occurs twice. Does the head that looked back still do so?
# - Use a long sentence. Which falls faster, the share of a head with a habit or an even share?
# - Add a habit of your own: looking at the verb, at the last comma, at words of the same length.
#   It takes one line in `habits`.
# - Try other verbs and other insects. Does the head that told the two "flies" apart do it again?
# - Use the same words in a different order. Which heads follow the words, and which follow the
#   positions?
#
# **Next:** what a picture of attention may leave out: [What other notebooks get
# wrong](../appendix/notebooks.md).
