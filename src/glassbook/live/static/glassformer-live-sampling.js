// The distribution that the next token is drawn from: temperature, then top-k, then top-p, as
// `token_probabilities` has them.

// All tokens, the likeliest first.
export function ranked(logits) {
  return Uint32Array.from(logits.keys()).sort((a, b) => logits[b] - logits[a] || a - b);
}

export function chances(logits, order, { temperature, topK, topP }) {
  const best = logits[order[0]];
  const least = topK < logits.length ? logits[order[topK - 1]] : -Infinity;
  const weights = Float64Array.from(logits, (logit) => (logit < least ? 0 : Math.exp((logit - best) / temperature)));
  const whole = sum(weights);
  let before = 0; // what the better tokens have together
  for (const token of order) {
    const chance = weights[token] / whole;
    if (topP < 1 && before >= topP) weights[token] = 0;
    before += chance;
  }
  const rest = sum(weights);
  return weights.map((weight) => weight / rest);
}

export function drawn(chances) {
  let left = Math.random();
  const token = chances.findIndex((chance) => (left -= chance) < 0);
  return token < 0 ? chances.indexOf(Math.max(...chances)) : token; // rounding has left nothing
}

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
