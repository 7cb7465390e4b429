// The reader's own sentence in a page that follows one, step by step: each step's picture drawn anew.
const about = JSON.parse(document.querySelector("glass-walk").dataset.files);
const [{ LiveElement, Model, filesOf, megabytes }, draw, { cosine, reading }] = await Promise.all(
  [about.model, about.draw, about.reader].map((url) => import(new URL(url, document.baseURI))),
);
const Encoder = reading(Model);
const MOST = 24; // tokens: more don't fit in the pictures
const FIRST = 88; // the first number shown where one drowns out the rest

// What the page follows: outputs of the model, by what its steps call them.
const FOLLOWED = {
  token: "embeddings.tokens",
  position: "embeddings.positions",
  type: "embeddings.token_types",
  attended: "layers.0.attention.out_proj",
  normed: "layers.0.attention_norm",
  widened: "layers.0.feed_forward.up_proj",
  wide: "layers.0.feed_forward.activation",
  found: "layers.0.feed_forward",
  ...Object.fromEntries(["query", "key", "value", "scores", "weights", "output", "hidden"].map((name) => [name, name])),
};
const CONTROLS = `<details><summary>Put your own sentence in its place</summary><form>
<label>Your sentence <input name="text" maxlength="300" spellcheck="false" autocomplete="off"></label>
<button name="start"></button> <button name="back" type="button" hidden>Back to ours</button>
<progress hidden max="1" value="0" aria-label="Download"></progress></form>
<output class="walk-state" aria-live="polite"></output></details>`;

const rowsOf = (data, width) => Array.from({ length: data.length / width }, (_, i) => data.subarray(i * width, (i + 1) * width));
const sum = (...all) => all[0].map((row, i) => row.map((_, j) => all.reduce((total, rows) => total + rows[i][j], 0)));

// What each step of the page shows: vectors as strips, in the order of its own picture, which names
// them, or a matrix with words at its sides.
function pictures(read, head, cosines, others) {
  const { tokens } = read;
  const vectors = ({ data, dims }) => rowsOf(data, dims.at(-1));
  // The rows of one of a tensor's matrices: those of a layer's state, or of the head in layer 0.
  const matrixOf = ({ data, dims }, number) => {
    const size = dims.at(-1) * dims.at(-2);
    return rowsOf(data.subarray(number * size, (number + 1) * size), dims.at(-1));
  };
  const ofHead = (name) => matrixOf(read[name], head);
  const [token, position, type, attended, normed, widened, wide, found] = Object.keys(FOLLOWED).slice(0, 8).map((name) => vectors(read[name]));
  const states = Array.from({ length: read.hidden.dims[0] }, (_, n) => matrixOf(read.hidden, n));
  const [start, after] = states;
  const added = sum(token, position, type);
  const stream = sum(start, attended);
  const [layers, heads] = read.weights.dims;
  const [from, to] = [1, Math.min(2, tokens.length - 1)];
  const toward = Float32Array.from({ length: layers * heads }, (_, n) => matrixOf(read.weights, n)[from][to]);
  const mean = meanOf(read);
  const length = Math.hypot(...mean);
  const apart = "each on its own scale";
  const words = { rows: tokens, columns: tokens };
  return {
    embeddings: { vectors: [token] },
    positions: { vectors: [token, position, type, added] },
    "embedding-norm": { vectors: [added, start], apart },
    query: { vectors: [ofHead("query")] },
    "key-value": { vectors: [ofHead("key"), ofHead("value")], apart },
    scores: { matrix: ofHead("scores"), ...words },
    weights: { matrix: ofHead("weights"), ...words },
    output: { vectors: [ofHead("value"), ofHead("output")] },
    merge: { vectors: [attended] },
    residual: { vectors: [start, attended, stream] },
    norm: { vectors: [stream, normed], first: FIRST },
    "feed-forward": { vectors: [widened, wide] },
    narrow: { vectors: [found], first: FIRST },
    layer: { vectors: [normed, found, after], first: FIRST },
    layers: { matrix: start.map((row, i) => states.map((state) => cosine(row, state[i]))), rows: tokens, columns: ["start", ...Array(layers).keys()] },
    heads: { matrix: rowsOf(toward, heads), rows: [...Array(layers).keys()], columns: [...Array(heads).keys()], caption: `from “${tokens[from]}” to “${tokens[to]}”` },
    sentence: { vectors: [[mean.map((one) => one / length)]], words: ["yours"] },
    compare: { matrix: cosines.map((one) => [one]), rows: others, columns: ["yours"] },
  };
}

class Walk extends LiveElement {
  async connectedCallback() {
    if (this.model) return;
    this.model = new Encoder(filesOf(this));
    this.innerHTML = CONTROLS;
    this.parts = Object.fromEntries([...this.querySelectorAll("[name]")].map((element) => [element.name, element]));
    Object.assign(this.parts, { progress: this.querySelector("progress"), $state: this.querySelector("output") });
    this.parts.text.value = this.dataset.text;
    this.parts.back.addEventListener("click", () => this.restore());
    this.querySelector("form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.replace();
    });
    const isThere = await this.model.isDownloaded();
    this.parts.start.textContent = isThere ? "Read it" : `Read it (downloads ${megabytes(this.model.size)} MB once)`;
  }

  // Read a text, and return what the page follows.
  async follow(text) {
    const encoding = await this.model.encode(text);
    if (encoding.ids.length <= MOST) return { ...(await this.model.read(encoding, undefined, FOLLOWED)), ids: encoding.ids };
    throw new Error(`This sentence has ${encoding.ids.length} tokens, and the pictures have room for ${MOST}.`);
  }

  async replace() {
    const text = this.parts.text.value.trim();
    if (!text) return this.say("Type a sentence first.", "error");
    const others = JSON.parse(this.dataset.others);
    try {
      if (!this.model.isReady) await this.start();
      const read = await this.follow(text);
      this.others ??= await Promise.all(others.map((other) => this.follow(other).then(meanOf)));
      const cosines = this.others.map((other) => cosine(meanOf(read), other));
      this.restore();
      this.put("ids", () => `<pre><code>${read.tokens.map((token, i) => `${draw.escape(token).padEnd(12)}${read.ids[i]}`).join("\n")}</code></pre>`);
      const steps = pictures(read, Number(this.dataset.head), cosines, others);
      for (const [step, shown] of Object.entries(steps)) this.put(step, (own) => figure(shown, read.tokens, own));
      this.parts.back.hidden = false;
      this.say("All steps now show your sentence; the text still speaks of ours.");
    } catch (error) {
      this.fail(error);
    }
  }

  // Put a picture in the place of a step's own.
  put(step, htmlFor) {
    const heading = document.getElementById(`step-${step}`);
    const isBelow = (output) => heading.compareDocumentPosition(output) & Node.DOCUMENT_POSITION_FOLLOWING;
    const own = heading && [...document.querySelectorAll(".proofbook-output:not(.walk-own)")].find(isBelow);
    if (!own) return;
    own.insertAdjacentHTML("beforebegin", `<div class="proofbook-output walk-own" data-search-exclude>${htmlFor(own)}</div>`);
    own.hidden = true;
  }

  restore() {
    for (const own of document.querySelectorAll(".walk-own")) {
      own.nextElementSibling.hidden = false;
      own.remove();
    }
    this.parts.back.hidden = true;
    this.say("");
  }
}

// The sum of the last states, which points where their mean does.
function meanOf({ hidden: { data, dims: [states, seq, width] } }) {
  const last = rowsOf(data.subarray((states - 1) * seq * width), width);
  return last.reduce((total, row) => total.map((value, j) => value + row[j]));
}

const COLORS = { ink: "currentColor", cell: "var(--cell)", negative: "var(--negative-cell)", number: "var(--number)" };

function figure({ vectors, first, apart, matrix, rows, columns, caption = apart, words }, tokens, own) {
  const titles = [...own.querySelectorAll(".title")].map((title) => title.textContent);
  const { svg, table } = vectors ? draw.strips(vectors, titles, words ?? tokens, COLORS, first, apart) : draw.values(matrix, rows, columns, COLORS);
  const cells = table.map((row) => `<tr>${row.map((cell) => `<td>${draw.escape(cell)}</td>`).join("")}</tr>`).join("");
  const said = `<figcaption>Your sentence${caption ? `, ${draw.escape(caption)}` : ""}</figcaption>`;
  return `<figure class="glassformer-drawing glassformer-heatmap">${svg}<div class="walk-told"><table>${cells}</table></div>${said}</figure>`;
}

customElements.define("glass-walk", Walk);
