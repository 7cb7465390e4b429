// A language model, token by token: it keeps the keys and values of what it has read.
export class Steps {
  constructor(runtime, session, { layers, kvHeads, headDim }) {
    Object.assign(this, { runtime, session, shape: [layers, kvHeads, headDim], width: layers * kvHeads * headDim });
    this.ids = [];
    this.keys = this.values = new Float32Array(0);
  }

  // Logits of the next token for each of these layers' last hidden states, and the last token's
  // attention weights. Only what comes after the tokens already read is read.
  async read(ids, layers) {
    let past = 0;
    while (past < Math.min(this.ids.length, ids.length - 1) && this.ids[past] === ids[past]) past++;
    this.ids.length = past;
    this.makeRoom(ids.length);
    const { Tensor } = this.runtime;
    const whole = (values, dims) => new Tensor("int64", BigInt64Array.from(values, BigInt), dims);
    const kept = (numbers) => new Tensor("float32", numbers.subarray(0, past * this.width), [past, ...this.shape]);
    const { logits, weights, new_keys, new_values } = await this.session.run({
      input_ids: whole(ids.slice(past), [1, ids.length - past]),
      keys: kept(this.keys),
      values: kept(this.values),
      layers: whole(layers, [layers.length]),
    });
    this.keys.set(new_keys.data, past * this.width);
    this.values.set(new_values.data, past * this.width);
    this.ids = [...ids];
    const plain = ({ data, dims }) => ({ data, dims });
    return { logits: plain(logits), weights: plain(weights) };
  }

  makeRoom(tokens) {
    if (tokens * this.width <= this.keys.length) return;
    for (const name of ["keys", "values"]) {
      const longer = new Float32Array(2 * tokens * this.width);
      longer.set(this[name]);
      this[name] = longer;
    }
  }
}
