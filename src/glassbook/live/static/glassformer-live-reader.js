// The encoder in a page: from a text to ids, and from ids to what the model shows of itself.
export const MOST = 256; // tokens: what the model was trained on
const SHOWN = { attentions: "weights", scores: "scores", query: "query", key: "key", hiddenStates: "hidden" };

// The encoder in its worker: a `Model` that can encode and read.
export const reading = (Model) =>
  class extends Model {
    async encode(text, pair) {
      const { ids, tokens, types } = await this.ask("tokenize", { name: this.files.name, text, pair });
      const kept = cut(ids.length, types);
      const pick = (values) => kept.map((i) => values[i]);
      return { ids: pick(ids), tokens: pick(tokens), types: pick(types), before: ids.length };
    }

    // What the model's outputs of these names are, by what they're called here.
    async read(encoding, switches = none(), shown = SHOWN) {
      const seq = encoding.ids.length;
      const whole = (values) => ({ type: "int64", data: BigInt64Array.from(values, BigInt), dims: [1, seq] });
      const number = (value) => ({ type: "float32", data: Float32Array.of(value), dims: [1] });
      const { layers, heads, headDim } = this.files;
      const off = (count, places) => Float32Array.from({ length: count }, (_, i) => (places.has(i) ? 0 : 1));
      const { outputs, ms } = await this.ask("run", {
        name: this.files.name,
        wanted: Object.values(shown),
        feeds: {
          input_ids: whole(encoding.ids),
          attention_mask: whole(encoding.ids.map((_, i) => (switches.tokens.has(i) ? 0 : 1))),
          token_type_ids: whole(encoding.types),
          heads: { type: "float32", data: off(layers * heads, switches.heads), dims: [layers, heads] },
          residuals: { type: "float32", data: off(layers * 2, switches.residuals), dims: [layers, 2] },
          positions: number(switches.positions ? 1 : 0),
          scale: number(switches.scale ? 1 : Math.sqrt(headDim)),
        },
      });
      const named = Object.entries(shown).map(([name, output]) => [name, outputs[output]]);
      return { tokens: encoding.tokens, ...Object.fromEntries(named), ms };
    }
  };

// The positions that stay if at most MOST tokens may: the longer text of a pair loses its end.
function cut(count, types) {
  const second = types.reduce((total, type) => total + type, 0);
  let [first, rest] = [count - second, second];
  while (first + rest > MOST) first > rest ? first-- : rest--;
  const positions = Array.from({ length: count }, (_, i) => i);
  const [a, b] = [positions.slice(0, count - second), positions.slice(count - second)];
  // [SEP] ends each text, so the last position always stays.
  return [a, b].flatMap((part, i) => (part.length ? [...part.slice(0, [first, rest][i] - 1), part.at(-1)] : []));
}

// Switches of which none is off.
export const none = () => ({ heads: new Set(), residuals: new Set(), tokens: new Set(), positions: true, scale: true });

export function cosine(a, b) {
  let [product, left, right] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    product += a[i] * b[i];
    left += a[i] * a[i];
    right += b[i] * b[i];
  }
  return product / Math.sqrt(left * right);
}
