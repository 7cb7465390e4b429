# %% [markdown]
# # Transformer anatomy in one notebook
#
# This notebook takes a sentence all the way from text to an answer: tokens, embeddings, attention,
# heads, feed-forward networks, norms, layers, positions, a classifier, masks. The weights are those
# of all-MiniLM-L6-v2, a small trained BERT. Every step is computed twice, by a few lines of our own
# and by the model, and an `assert` compares the two results. If an assertion failed, this page
# wouldn't have been built.
#
# *You will know:* how a sentence becomes an answer, with every step in between done by hand once.
# *You need:* Python and a little PyTorch; each step names the chapter that explains it.
#
# Two settings come first, because many notebooks forget them. `load` returns the model in
# evaluation mode, so no dropout changes its answers. And since we don't train anything here, we
# turn gradients off for the whole notebook. If you add a cell that trains, start it with
# `torch.set_grad_enabled(True)`, or `backward` will fail.

# %%
import math
from dataclasses import replace

import torch
import torch.nn.functional as F
from transformers import AutoModel

from glassbook.recipes import trained
from glassbook.recipes.classification import LABELS, classify, corpus
from glassformer import (
    TransformerEncoderLayer,
    TransformerForSequenceClassification,
    causal_mask,
    default_checkpoint,
    layer_norm,
    load,
    padding_mask,
    record,
    scaled_dot_product_attention,
    tokenizer,
)
from glassformer.views import heatmap, neuron_view

torch.set_grad_enabled(False)
encoder, tokenize = load(default_checkpoint()), tokenizer()
config = encoder.config
assert not encoder.training


def same(ours, theirs):
    """Return whether two tensors are equal, up to float32 rounding."""
    return ours.shape == theirs.shape and torch.allclose(ours, theirs, atol=1e-5)


# %% [markdown]
# ## Text to tokens
#
# The tokenizer cuts the text into tokens and gives each token its number. It puts `[CLS]` at the
# beginning and `[SEP]` at the end. The model was trained with both, so we keep them. Chapter:
# [Tokens and embeddings](../encoder/tokens.md#text-to-tokens-tokens-to-ids).

# %%
text = "time flies like an arrow"
inputs = tokenize(text, return_tensors="pt")
ids = inputs["input_ids"]  # (1, seq)
tokens = tokenize.convert_ids_to_tokens(ids[0])
print(*tokens)
for name, row in inputs.items():
    print(f"{name:15}", row.tolist())

assert tokens[0] == "[CLS]"
assert tokens[-1] == "[SEP]"
assert tokenize.decode(ids[0], skip_special_tokens=True) == text

# %% [markdown]
# ## The whole way, recorded
#
# One call goes from ids to vectors. `record` keeps the output of every module, under the module's
# path, and each step of attention. We'll compare our own results with this recording. Chapter:
# [Seeing attention](../encoder/seeing-attention.md#how-to-record-any-tensor).

# %%
with record(encoder) as tape:
    output = encoder(**inputs)  # (1, seq, d_model)

print(config.num_layers, "layers of", config.num_heads, "heads")
print("from", list(ids.shape), "to", list(output.shape))
print(len(tape), "tensors recorded")
assert output.shape == (*ids.shape, config.d_model)
assert not output.requires_grad

# %% [markdown]
# ## Tokens to vectors
#
# Three tables each provide a row: one for the token, one for its position, and one for which
# sentence of a pair it belongs to. The rows are added, and the sum is normalized. The last table is
# often forgotten, because with a single sentence, all tokens have type zero. But the row for type
# zero isn't all zeros. Chapter: [Tokens and embeddings](../encoder/tokens.md#the-source).

# %%
tables = encoder.embeddings
word = tables.tokens.weight[ids]  # (1, seq, d_model)
place = tables.positions.table.weight[: len(tokens)]  # (seq, d_model)
kind = tables.token_types.weight[inputs["token_type_ids"]]


def normalize(vectors, norm):
    """The package's layer norm, with the weights of a module."""
    return layer_norm(vectors, norm.weight, norm.bias, norm.eps)


embedded = normalize(word + place + kind, tables.norm)

assert same(embedded, tape["embeddings.output"])
assert not same(normalize(word + place, tables.norm), embedded)

# %% [markdown]
# Looking up a row is the same as multiplying by a one-hot vector. And the lookup doesn't depend on
# the sentence: "flies" has one row, whether it's what time does or an insect.

# %%
one_hot = F.one_hot(ids, config.vocab_size).float()  # (1, seq, vocab)
assert same(one_hot @ tables.tokens.weight, word)

sentences = ["time flies like an arrow", "fruit flies like a banana"]
both = tokenize(sentences, return_tensors="pt")
verb, insects = tables.tokens(both["input_ids"])[:, 2]
assert verb.equal(insects)

# %% [markdown]
# ## Attention by hand
#
# Each vector is projected three times: to a query, a key, and a value. A score is the dot product
# of a query and a key, divided by the square root of their width. Softmax turns each row of scores
# into weights, and a word's new vector is the average of all values with these weights. Here's one
# head of the first layer, which has its own slice of each projection. It's head 8, the head that
# [Seeing attention](../encoder/seeing-attention.md#how-does-a-weight-come-about) takes apart; any
# other head would do. As a formula: $\operatorname{softmax}(Q K^\top / \sqrt{d_k}) \, V$. Chapter:
# [Attention](../encoder/attention.md#weights-from-dot-products).

# %%
attention = encoder.layers[0].attention
queries = attention.q_proj(embedded)  # (1, seq, d_model)
keys = attention.k_proj(embedded)
values = attention.v_proj(embedded)

head, width = 8, attention.head_dim
own = slice(head * width, (head + 1) * width)
query = queries[0, :, own]  # (seq, head_dim)
key, value = keys[0, :, own], values[0, :, own]

scores = query @ key.T / math.sqrt(width)  # (seq, seq)
weights = scores.softmax(dim=-1)
mixed = weights @ value  # (seq, head_dim)

assert same(weights.sum(dim=-1), torch.ones(len(tokens)))  # of rows, not columns
assert not torch.allclose(weights, weights.T, atol=0.1)
assert same(weights, tape["layers.0.attention.weights"][0, head])
assert same(mixed, tape["layers.0.attention.output"][0, head])
assert same(mixed, F.scaled_dot_product_attention(query, key, value))
heatmap(weights, tokens, tokens, caption=f"layer 0, head {head}")

# %% [markdown]
# Here's the same head in the neuron view. Click the + next to a word to see the product of query
# and key, number by number.

# %%
neuron_view(tape, tokens, layer=0, head=head)

# %% [markdown]
# Why three projections? Many introductions use the vectors from a new embedding table as queries,
# keys, and values alike. Then each vector is far more similar to itself than to any other. Each
# word attends only to itself, and the output equals the input. Chapter:
# [Attention](../encoder/attention.md#using-the-embeddings-as-query-key-and-value-at-once).

# %%
torch.manual_seed(0)
new_table = torch.nn.Embedding(config.vocab_size, 768)
vectors = new_table(ids)  # (1, seq, 768)
unmixed = scaled_dot_product_attention(vectors, vectors, vectors)
print(f"largest change: {(unmixed - vectors).abs().max().item():.0e}")
assert same(unmixed, vectors)

# %% [markdown]
# ## All heads
#
# The heads work side by side, each on its own slice. Their outputs are concatenated, and one more
# projection mixes them. Chapter: [Many
# heads](../encoder/many-heads.md#several-small-heads-side-by-side).


# %%
def split(vectors):
    """(batch, seq, d_model) to (batch, heads, seq, head_dim)."""
    batch, seq, _ = vectors.shape
    return vectors.view(batch, seq, config.num_heads, -1).transpose(1, 2)


def merge(heads):
    """(batch, heads, seq, head_dim) to (batch, seq, d_model)."""
    return heads.transpose(1, 2).flatten(start_dim=2)


heads = scaled_dot_product_attention(split(queries), split(keys), split(values))
attended = attention.out_proj(merge(heads))  # (1, seq, d_model)
print("split: ", list(queries.shape), "to", list(heads.shape))
print("merged:", list(heads.shape), "to", list(attended.shape))

alone = [attention.head(number)(embedded) for number in range(config.num_heads)]
assert same(heads[0, head], mixed)
assert same(merge(heads), torch.cat(alone, dim=-1))  # as a loop over single heads
assert same(attended, attention(embedded))

# %% [markdown]
# ## Add, then normalize
#
# <span id="add-then-normalise"></span>
#
# The output of attention is added to its input: this is a residual connection. Then each vector is
# normalized over its own numbers, to a mean of zero and a variance of one, before the norm's
# trained weight and bias rescale and shift it. Chapter: [Norms and
# residuals](../encoder/norms-and-residuals.md#layer-normalisation).

# %%
layer = encoder.layers[0]
read = normalize(embedded + attended, layer.attention_norm)  # (1, seq, d_model)
assert same(read, layer.attention_norm(embedded + attended))

one, zero = torch.ones(config.d_model), torch.zeros(config.d_model)
plain = layer_norm(embedded + attended, one, zero, config.norm_eps)
assert same(plain.mean(dim=-1), torch.zeros(ids.shape))
assert same(plain.var(dim=-1, unbiased=False), torch.ones(ids.shape))

# %% [markdown]
# ## Feed-forward
#
# Now each word is processed by itself: its vector is projected to four times the width, goes
# through a GELU, and is projected back. Chapter:
# [Feed-forward](../encoder/feed-forward.md#each-word-by-itself).

# %%
network = layer.feed_forward
inner = F.gelu(network.up_proj(read))  # (1, seq, d_ff)
thought = network.down_proj(inner)  # (1, seq, d_model)
print(list(read.shape), "to", list(inner.shape), "to", list(thought.shape))

assert same(thought, network(read))
assert same(network(read[:, 2:3]), thought[:, 2:3])  # a word alone gives the same
assert config.d_ff == 4 * config.d_model

# %% [markdown]
# The result is added and normalized, too: this is the layer's second residual. If you forget it, no
# error warns you. The shape is right, but the vectors aren't the model's. Chapter: [Norms and
# residuals](../encoder/norms-and-residuals.md#a-residual-that-is-missing).

# %%
after = normalize(read + thought, layer.feed_forward_norm)
assert same(after, tape["layers.0.output"])

forgotten = normalize(thought, layer.feed_forward_norm)
cosine = torch.cosine_similarity(forgotten, after, dim=-1).mean().item()
print(f"mean cosine with the right vectors: {cosine:.2f}")
assert forgotten.shape == after.shape
assert cosine < 0.9

# %% [markdown]
# ## The encoder
#
# That was one layer. Write it as a function and repeat it, and you have the encoder. Chapter: [The
# whole encoder](../encoder/whole-encoder.md#embed-then-repeat).


# %%
def self_attention(attention, hidden, mask=None):
    """Compute all heads of one attention layer, (batch, seq, d_model) to the same."""
    projections = attention.q_proj, attention.k_proj, attention.v_proj
    query, key, value = (split(project(hidden)) for project in projections)
    heads = scaled_dot_product_attention(query, key, value, mask)
    return attention.out_proj(merge(heads))


def through(layer, hidden, mask=None):
    """One layer: attend, add, normalize; feed forward, add, normalize."""
    attended = self_attention(layer.attention, hidden, mask)
    hidden = normalize(hidden + attended, layer.attention_norm)
    return normalize(hidden + layer.feed_forward(hidden), layer.feed_forward_norm)


hidden = embedded
for number, layer in enumerate(encoder.layers):
    hidden = through(layer, hidden)
    assert same(hidden, tape[f"layers.{number}.output"])
assert same(hidden, output)

# %% [markdown]
# Is it BERT? `transformers` reads the same weights file, so we can compare every number. Chapter:
# [The whole encoder](../encoder/whole-encoder.md#the-same-numbers-layer-by-layer).

# %%
reference = AutoModel.from_pretrained(default_checkpoint()).eval()
difference = (reference(**inputs).last_hidden_state - hidden).abs().max().item()
print(f"equal up to rounding: {difference < 2e-5}")
assert difference < 2e-5

# %% [markdown]
# And "flies" no longer has the same vector in both sentences, because its neighbors now contribute
# to it.

# %%
verb, insects = encoder(**both)[:, 2]
cosine = torch.cosine_similarity(verb, insects, dim=0).item()
print(f"cosine of the two after the last layer: {cosine:.2f}")
assert cosine < 0.9

# %% [markdown]
# ## Positions
#
# Reverse the order of the vectors that enter a layer. The layer returns the same vectors as before,
# reversed, because it doesn't know their order. Each word takes its old position with it, because
# the position was added beforehand. But if you reverse the words in the sentence, each word gets
# the row for its new position, and the output changes. Chapter:
# [Positions](../encoder/positions.md#what-does-attention-know-about-word-order).

# %%
order = [0, *range(len(tokens) - 2, 0, -1), len(tokens) - 1]
print(*(tokens[place] for place in order))
first = encoder.layers[0]
step = through(first, embedded)
assert same(through(first, embedded[:, order]), step[:, order])

turned, straight = encoder(ids[:, order]), output[:, order]
assert not same(turned, straight)
cosines = torch.cosine_similarity(turned, straight, dim=-1)  # (1, seq)
print(f"cosines from {cosines.min():.2f} to {cosines.max():.2f}")
words, caption = [tokens[place] for place in order], "cosine with the vector in the right order"
heatmap(cosines, ["reversed"], words, axes=("", "word"), caption=caption)

# %% [markdown]
# If the encoder ignored the order, all these cosines would be one. They aren't, so the order
# changes every vector. But they stay above 0.7, so each vector keeps much of its direction
# when the order changes.

# %%
assert cosines.max() < 0.99
assert cosines.min() > 0.7

# %% [markdown]
# ## The norm comes first
#
# <span id="the-norm-in-front"></span>
#
# Newer models normalize the input of each half of a layer, not its output. There are still two
# additions. This is a different design. Even with the weights of BERT's first layer, it doesn't
# compute what BERT does. Chapter: [Norms and
# residuals](../encoder/norms-and-residuals.md#before-or-after).

# %%
pre_norm = TransformerEncoderLayer(replace(config, norm_first=True)).eval()
pre_norm.load_state_dict(first.state_dict())
found = self_attention(pre_norm.attention, pre_norm.attention_norm(embedded))
step = embedded + found
step = step + pre_norm.feed_forward(pre_norm.feed_forward_norm(step))
assert same(step, pre_norm(embedded))
assert not same(step, first(embedded))

# %% [markdown]
# ## An answer
#
# A classification head reads one vector, the one for `[CLS]`, and returns a number for each label.
# A new head is random. Its probabilities sum to one like any others, but they don't mean anything
# yet. Chapter: [Classification](../encoder/classification.md#a-head-that-knows-nothing-yet).

# %%
torch.manual_seed(0)
three_labels = replace(config, num_labels=len(LABELS))
model = TransformerForSequenceClassification(three_labels).eval()
model.encoder.load_state_dict(encoder.state_dict())
logits = model(**inputs)  # (1, num_labels)
print("logits       ", logits)
print("probabilities", logits.softmax(dim=-1))

pooled = torch.tanh(model.pooler.dense(output[:, 0]))  # (1, d_model)
assert same(logits, model.classifier(pooled))
assert same(logits.softmax(dim=-1).sum(dim=-1), torch.ones(1))

# %% [markdown]
# The book trains a classifier on a question that only word order can answer: who acts, a person,
# an animal, or a thing? It didn't see these sentences in training. Chapter:
# [Classification](../encoder/classification.md#on-sentences-it-has-not-seen).

# %%
judge, test = trained("classifier").model, corpus("test")
chances = classify(judge, [example.text for example in test])
guesses = [LABELS[number] for number in chances.argmax(dim=-1)]
for guess, example in zip(guesses[:6], test, strict=False):
    print(f"said {guess:6}  right: {example.label:6}  {example.text}")

right = sum(guess == example.label for guess, example in zip(guesses, test, strict=True))
print(f"{right} of {len(test)} right; by chance {len(test) // len(LABELS)}")
assert right > len(test) / 2

# %% [markdown]
# ## Two masks
#
# To put sentences of different lengths into one batch, we pad the shorter sentences. The padding
# mask says which tokens are padding. With the mask, a sentence gets the same vectors as it does by
# itself. Without it, the model reads the padding as if it were text. Chapter:
# [Masks](../gpt/masks.md#two-sentences-no-padding).

# %%
texts = [text, f"{text} and another one"]
batch = tokenize(texts, padding=True, return_tensors="pt")
print(batch["attention_mask"])
mask = padding_mask(batch["attention_mask"])  # (batch, 1, 1, seq)

hidden = encoder.embeddings(batch["input_ids"], batch["token_type_ids"])
for layer in encoder.layers:
    hidden = through(layer, hidden, mask)
assert same(hidden, encoder(**batch))
assert same(hidden[:1, : len(tokens)], output)

without = encoder(batch["input_ids"])
assert not same(without[:1, : len(tokens)], output)

# %% [markdown]
# The causal mask hides the future, since a model that writes one word at a time can't look at words
# that it hasn't written yet. The hidden scores become minus infinity, and softmax turns them into
# weights of zero. Chapter: [Masks](../gpt/masks.md#on-our-sentence-no-future).

# %%
may_see = causal_mask(len(tokens))  # (seq, seq)
masked = scores.masked_fill(~may_see, -math.inf)
causal = masked.softmax(dim=-1)

assert may_see.equal(torch.ones(len(tokens), len(tokens)).tril().bool())
assert causal.triu(diagonal=1).eq(0).all()
assert causal[0, 0] == 1  # the first word has only itself
by_function = scaled_dot_product_attention(query, key, value, is_causal=True)
assert same(causal @ value, by_function)
heatmap(causal, tokens, tokens, caption="the same head with a causal mask")

# %% [markdown]
# It's easy to get a mask wrong, and the shapes don't reveal it. Here's a test that does: change the
# future, and see whether the past changes. Chapter:
# [Masks](../gpt/masks.md#change-the-future-the-past-must-not-move).

# %%
changed = embedded.clone()
changed[:, -1] = torch.randn(config.d_model)


def past_moved(mask):
    """Return whether any word but the last changes when the last one does."""
    before, after = (self_attention(attention, x, mask) for x in (embedded, changed))
    assert not same(before[:, -1], after[:, -1])
    return not same(before[:, :-1], after[:, :-1])


assert not past_moved(may_see)
assert past_moved(None)

# %% [markdown]
# ## Where to go from here
#
# - Change `text` or `head`, and run the whole notebook again. Which assertions are about your
#   sentence, and which would hold for any sentence?
# - Take an addition or a norm out of `through`, and see which assertion fails first. To leave out
#   the division by the square root, multiply `query` by `math.sqrt(width)` in `self_attention`.
# - A decoder has the causal mask in every layer, and a second attention sub-layer that attends to
#   another sentence: [The decoder layer](../translation/decoder-layer.md).
# - To see how other notebooks get this wrong, with each mistake measured, see [What other
#   notebooks get wrong](../appendix/notebooks.md).
#
# **Next:** the same model on your own sentence, [head by head](heads.py).
