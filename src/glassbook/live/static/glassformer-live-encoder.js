// The reader's own sentence, read by the book's encoder in the page. Nothing leaves the page; the
// model is downloaded when somebody asks for it. Without it, a recorded sentence is shown.
// For scripts: `await glassformer.attend("time flies")`. Whoever asks for `ready` starts the model.
const element = customElements.whenDefined("glass-encoder").then(() => document.querySelector("glass-encoder"));
const api = (window.glassformer ??= {});
Object.defineProperty(api, "ready", { get: async () => void (await (await element).model.load()) });
api.attend = async (text, pair) => {
  await api.ready;
  const { model } = await element;
  return model.read(await model.encode(text, pair), none());
};

const about = JSON.parse(document.querySelector("glass-encoder").dataset.files);
const [{ LiveElement, Model, filesOf, megabytes }, draw, { MOST, cosine, none, reading }] = await Promise.all(
  [about.model, about.draw, about.reader].map((url) => import(new URL(url, document.baseURI))),
);
const Encoder = reading(Model);

// The last layer's vector of a token.
function vectorOf({ data, dims: [states, seq, width] }, i) {
  const start = ((states - 1) * seq + i) * width;
  return data.subarray(start, start + width);
}

// 16-bit fractions of one, as the page's recording has them.
function decoded({ tokens, dims, weights }) {
  const bytes = Uint8Array.from(atob(weights), (sign) => sign.charCodeAt(0));
  const data = Float32Array.from(new Uint16Array(bytes.buffer), (value) => value / 65535);
  return { tokens, attentions: { data, dims } };
}

const CONTROLS = `
<form class="live-text">
  <label>Sentence <input name="text" autocomplete="off" spellcheck="false"></label>
  <label>Second sentence, if any <input name="pair" autocomplete="off" spellcheck="false"></label>
  <button></button>
  <progress hidden max="1" value="0" aria-label="Download"></progress>
</form>
<output class="live-state" aria-live="polite"></output>
<div class="live-tokens" role="group" aria-label="Tokens; a pressed one is masked: no token can attend to it"></div>
<div class="live-bar">
  <label>Layer <select name="layer"></select></label>
  <label>Head <select name="head"></select></label>
  <label>Show <select name="view"><option value="heatmap">heat map</option><option value="arcs">arcs</option><option value="score">one score, in detail</option></select></label>
  <button type="button" name="pin" aria-pressed="false">Keep for comparison</button>
</div>
<fieldset class="live-switches"><legend>Switch off</legend>
  <label><input type="checkbox" name="heads"> this head</label>
  <label><input type="checkbox" name="attention"> this layer’s residual around attention</label>
  <label><input type="checkbox" name="network"> … around its network</label>
  <label><input type="checkbox" name="positions"> positions</label>
  <label><input type="checkbox" name="scale"> the division by √d</label>
  <button type="button" name="reset">All on</button>
</fieldset>
<div class="live-figures">
  <div class="live-one" tabindex="0" role="img"></div>
  <div class="live-kept" hidden></div>
  <div class="live-all" tabindex="0" role="img"></div>
</div>
<output class="live-cell" aria-live="polite"></output>
<details class="live-table"><summary>This head’s weights as a table</summary><div></div></details>
<p class="live-saves">Save this picture: <button type="button" name="svg">SVG</button> <button type="button" name="png">PNG</button> the weights: <button type="button" name="csv">CSV</button></p>`;

let shared; // the model of this page

class Live extends LiveElement {
  async connectedCallback() {
    if (this.state) return;
    this.state = { layer: 0, head: 0, view: "heatmap", query: 2, key: 1 };
    shared ??= new Encoder(filesOf(this));
    this.model = shared;
    this.switches = none();
    this.result = decoded(JSON.parse(this.dataset.recorded));
    this.build();
    await this.open();
  }

  build() {
    const root = document.createElement("div");
    root.className = "live";
    root.innerHTML = CONTROLS;
    this.replaceChildren(root);
    const part = (name) => root.querySelector(`[name=${name}]`);
    this.parts = Object.fromEntries(
      ["text", "pair", "layer", "head", "view", "pin", "heads", "attention", "network", "positions", "scale", "reset", "svg", "png", "csv"].map((name) => [name, part(name)]),
    );
    for (const name of ["state", "tokens", "one", "kept", "all", "cell", "table", "switches"]) this.parts[`$${name}`] = root.querySelector(`.live-${name}`);
    this.parts.progress = root.querySelector("progress");
    this.parts.form = root.querySelector("form");
    this.parts.start = root.querySelector("form button");
    const { layers, heads } = this.model.files;
    const options = (count) => Array.from({ length: count }, (_, i) => `<option>${i}</option>`).join("");
    this.parts.layer.innerHTML = options(layers);
    this.parts.head.innerHTML = options(heads);
    this.listen();
  }

  listen() {
    const { parts } = this;
    parts.form.addEventListener("submit", (event) => {
      event.preventDefault();
      clearTimeout(this.timer);
      this.read();
    });
    for (const input of [parts.text, parts.pair])
      input.addEventListener("input", () => {
        clearTimeout(this.timer);
        if (this.model.isReady) this.timer = setTimeout(() => this.read(), 120);
      });
    for (const name of ["layer", "head", "view"])
      parts[name].addEventListener("change", () => this.show({ [name]: name === "view" ? parts.view.value : Number(parts[name].value) }));
    for (const name of ["heads", "attention", "network", "positions", "scale"]) parts[name].addEventListener("change", () => this.flip(name, parts[name].checked));
    parts.reset.addEventListener("click", () => {
      this.switches = none();
      this.compute();
    });
    parts.pin.addEventListener("click", () => {
      this.kept = this.kept ? null : this.result;
      this.show({});
    });
    parts.$table.addEventListener("toggle", () => this.tabulate());
    for (const name of ["svg", "png", "csv"]) parts[name].addEventListener("click", () => this.save(name));
    this.point(parts.$one, (x, y) => this.cellAt(x, y));
    this.point(parts.$all, (x, y) => draw.headAt(x, y, this.result.attentions));
    parts.$one.addEventListener("keydown", (event) => this.move(event, "query", "key", this.result.tokens.length, this.result.tokens.length));
    parts.$all.addEventListener("keydown", (event) => this.move(event, "layer", "head", this.model.files.layers, this.model.files.heads));
    new MutationObserver(() => this.show({})).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
  }

  // Have a click, and a pointer that moves over the one head, choose what is under it.
  point(box, found) {
    const choose = (event) => {
      const svg = box.firstElementChild;
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      const place = found(at.x, at.y);
      if (place) this.show(place);
    };
    box.addEventListener("click", choose);
    if (box === this.parts.$one) box.addEventListener("pointermove", (event) => event.pointerType === "mouse" && choose(event));
  }

  cellAt(x, y) {
    const seq = this.result.tokens.length;
    if (this.state.view === "score") return null;
    if (this.state.view === "arcs") {
      const query = Math.floor(y / draw.ROW);
      return query >= 0 && query < seq ? (x < 165 ? { query } : { key: query }) : null;
    }
    const { label, cell } = draw.layout(this.result.tokens);
    const [key, query] = [Math.floor((x - label) / cell), Math.floor((y - label) / cell)];
    return Math.min(key, query) >= 0 && Math.max(key, query) < seq ? { key, query } : null;
  }

  move(event, down, across, rows, columns) {
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!steps) return;
    event.preventDefault();
    const clamp = (value, count) => Math.max(0, Math.min(count - 1, value));
    this.show({ [down]: clamp(this.state[down] + steps[0], rows), [across]: clamp(this.state[across] + steps[1], columns) });
  }

  // What the address asks for; a model that is here already starts by itself.
  async open() {
    const asked = new URLSearchParams(location.search);
    const { parts, model } = this;
    parts.text.value = asked.get("text") ?? this.dataset.text;
    parts.pair.value = asked.get("pair") ?? "";
    const within = (name, count) => Math.max(0, Math.min(count - 1, parseInt(asked.get(name)) || 0));
    const view = asked.get("view");
    this.show({
      layer: asked.has("layer") ? within("layer", model.files.layers) : Number(this.dataset.layer),
      head: asked.has("head") ? within("head", model.files.heads) : Number(this.dataset.head),
      view: ["heatmap", "arcs", "score"].includes(view) ? view : "heatmap",
    });
    parts.start.textContent = `Start the model (downloads ${megabytes(model.size)} MB once)`;
    this.say("Below: a recording of this sentence. With the model in this page, you can change it.");
    if (model.isReady || (await model.isDownloaded())) await this.read();
  }

  async read() {
    const { parts, model } = this;
    const [text, pair] = [parts.text.value.trim(), parts.pair.value.trim()];
    this.round = (this.round ?? 0) + 1; // what is being computed is for an older text
    if (!text) return this.say("Type a sentence first.", "error");
    try {
      if (!model.isReady) await this.start();
      this.encoding = await model.encode(text, pair);
    } catch (error) {
      return this.fail(error);
    }
    this.switches.tokens = new Set();
    this.baseline = null;
    await this.compute();
  }

  flip(name, isOff) {
    const { layer, head } = this.state;
    const places = { heads: layer * this.model.files.heads + head, attention: 2 * layer, network: 2 * layer + 1 };
    if (name in places) {
      const set = name === "heads" ? this.switches.heads : this.switches.residuals;
      isOff ? set.add(places[name]) : set.delete(places[name]);
    } else this.switches[name] = !isOff;
    this.compute();
  }

  isChanged() {
    const { heads, residuals, tokens, positions, scale } = this.switches;
    return heads.size + residuals.size + tokens.size > 0 || !positions || !scale;
  }

  async compute() {
    if (!this.encoding) return;
    const round = (this.round = (this.round ?? 0) + 1);
    try {
      this.baseline ??= await this.model.read(this.encoding, none());
      const result = this.isChanged() ? await this.model.read(this.encoding, this.switches) : this.baseline;
      if (round !== this.round) return; // something newer is on its way
      this.result = result;
    } catch (error) {
      return this.fail(error);
    }
    const [{ before, ids }, seq] = [this.encoding, this.result.tokens.length];
    const cutOff = before > ids.length ? ` The text has ${before} tokens: only ${MOST} of them are read.` : "";
    const unkept = this.model.isKept === false ? " The browser didn’t keep the model: it will be downloaded again next time." : "";
    this.say(`${seq} tokens, read in ${this.result.ms.toFixed(0)} ms.${cutOff}${unkept}`, "read");
    this.show({ query: Math.min(this.state.query, seq - 1), key: Math.min(this.state.key, seq - 1) });
  }

  colors() {
    const style = getComputedStyle(this);
    const color = (name) => style.getPropertyValue(`--${name}`).trim();
    return { cell: color("cell"), ink: color("ink"), mark: color("negative"), query: color("query"), key: color("key"), negative: color("negative"), number: color("number") };
  }

  show(change) {
    Object.assign(this.state, change);
    const { parts, state, result } = this;
    const colors = this.colors();
    const scale = this.switches.scale ? 1 / Math.sqrt(this.model.files.headDim) : 1;
    for (const name of ["layer", "head", "view"]) parts[name].value = state[name];
    parts.$switches.disabled = !this.encoding;
    const places = state.layer * this.model.files.heads + state.head;
    parts.heads.checked = this.switches.heads.has(places);
    parts.attention.checked = this.switches.residuals.has(2 * state.layer);
    parts.network.checked = this.switches.residuals.has(2 * state.layer + 1);
    parts.positions.checked = !this.switches.positions;
    parts.scale.checked = !this.switches.scale;
    const which = `Layer ${state.layer}, head ${state.head}`;
    parts.$one.innerHTML = this.drawn(result, colors, scale);
    parts.$one.setAttribute("aria-label", `${which}: ${state.view === "score" ? "one score in detail" : "attention weights"}. Arrow keys move the query and the key.`);
    parts.$all.setAttribute("aria-label", `All heads, a row for each layer; chosen: ${which}. Arrow keys choose another.`);
    if (change.layer !== undefined || change.head !== undefined || this.overviewed !== result || !("query" in change || "key" in change)) {
      parts.$all.innerHTML = draw.overview(result, state, colors);
      this.overviewed = result;
    }
    this.showKept(colors, scale);
    this.showTokens();
    parts.$cell.textContent = this.cellText(scale);
    this.tabulate();
    this.remember();
  }

  drawn(result, colors, scale) {
    if (this.state.view === "arcs") return draw.arcs(result, this.state, colors);
    if (this.state.view === "heatmap") return draw.heatmap(result, this.state, colors);
    return result.query ? draw.detail(result, this.state, colors, scale).svg : "<p>Queries and keys come from the model: start it first.</p>";
  }

  showKept(colors, scale) {
    const { $kept, pin } = this.parts;
    pin.setAttribute("aria-pressed", String(Boolean(this.kept)));
    pin.textContent = this.kept ? "Drop the kept one" : "Keep for comparison";
    $kept.hidden = !this.kept;
    if (!this.kept) return;
    const seq = this.kept.tokens.length;
    const state = { ...this.state, query: Math.min(this.state.query, seq - 1), key: Math.min(this.state.key, seq - 1) };
    const kept = Object.assign(Object.create(this), { state });
    $kept.innerHTML = `<p>Kept: ${this.kept.tokens.length} tokens, the same head</p>${Live.prototype.drawn.call(kept, this.kept, colors, scale)}`;
  }

  // Each token is a button that masks it; where something is off, how much its vector has changed.
  showTokens() {
    const { $tokens } = this.parts;
    const { tokens, hiddenStates } = this.result;
    const isChanged = this.baseline && this.result !== this.baseline;
    const shown = tokens.slice(0, 64).map((token, i) => {
      const change = isChanged ? `<small>${cosine(vectorOf(hiddenStates, i), vectorOf(this.baseline.hiddenStates, i)).toFixed(2)}</small>` : "";
      const button = document.createElement("button");
      button.type = "button";
      button.disabled = !this.encoding;
      button.setAttribute("aria-pressed", String(this.switches.tokens.has(i)));
      button.append(token);
      button.insertAdjacentHTML("beforeend", change);
      button.addEventListener("click", () => {
        const set = this.switches.tokens;
        set.has(i) ? set.delete(i) : set.add(i);
        this.compute().then(() => this.parts.$tokens.children[i]?.focus());
      });
      return button;
    });
    $tokens.replaceChildren(...shown);
    if (isChanged) $tokens.insertAdjacentHTML("beforeend", "<span>below each token: its last vector’s cosine with the one that it has with everything on</span>");
  }

  cellText(scale) {
    const { state, result } = this;
    const { tokens } = result;
    if (state.view === "score" && result.query) return draw.detail(result, state, this.colors(), scale).text;
    const weight = draw.headOf(result, state.layer, state.head)[state.query * tokens.length + state.key];
    return `“${tokens[state.query]}” attends to “${tokens[state.key]}” with a weight of ${draw.written(weight)}.`;
  }

  tabulate() {
    const { $table } = this.parts;
    if (!$table.open) return;
    const { tokens } = this.result;
    const seq = Math.min(tokens.length, 32);
    const weights = draw.headOf(this.result, this.state.layer, this.state.head);
    const table = document.createElement("table");
    const head = table.createTHead().insertRow();
    head.innerHTML = '<th scope="col">query ↓ key →</th>';
    for (const token of tokens.slice(0, seq)) head.appendChild(Object.assign(document.createElement("th"), { scope: "col", textContent: token }));
    const body = table.createTBody();
    for (let q = 0; q < seq; q++) {
      const row = body.insertRow();
      row.appendChild(Object.assign(document.createElement("th"), { scope: "row", textContent: tokens[q] }));
      for (let k = 0; k < seq; k++) row.insertCell().textContent = draw.written(weights[q * tokens.length + k]);
    }
    $table.lastElementChild.replaceChildren(table);
  }

  // The address leads back to the sentence, layer, and head, once something was chosen.
  remember() {
    if (!this.encoding) return;
    const { text, pair } = this.parts;
    const { layer, head, view } = this.state;
    const now = { text: text.value, pair: pair.value, layer, head, view };
    const query = new URLSearchParams(Object.entries(now).filter(([, value]) => value !== ""));
    clearTimeout(this.writing); // browsers refuse too many changes in a short time
    this.writing = setTimeout(() => history.replaceState(history.state, "", `?${query}${location.hash}`), 200);
  }

  async save(kind) {
    const { tokens } = this.result;
    const { layer, head } = this.state;
    const name = `attention-layer-${layer}-head-${head}.${kind}`;
    const svg = this.parts.$one.querySelector("svg")?.outerHTML ?? "";
    if (kind === "csv") {
      const quoted = (token) => `"${token.replaceAll('"', '""')}"`;
      const weights = draw.headOf(this.result, layer, head);
      const rows = tokens.map((token, q) => [quoted(token), ...weights.subarray(q * tokens.length, (q + 1) * tokens.length)].join(","));
      return download(new Blob([["query", ...tokens.map(quoted)].join(","), "\n", rows.join("\n"), "\n"], { type: "text/csv" }), name);
    }
    const file = new Blob([svg], { type: "image/svg+xml" });
    if (kind === "svg") return download(file, name);
    const image = new Image();
    image.src = URL.createObjectURL(file);
    await image.decode();
    const { width, height } = this.parts.$one.querySelector("svg").viewBox.baseVal;
    const canvas = Object.assign(document.createElement("canvas"), { width: 2 * width, height: 2 * height });
    const context = canvas.getContext("2d");
    context.fillStyle = getComputedStyle(document.body).backgroundColor;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => download(blob, name));
  }
}

function download(blob, name) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

customElements.define("glass-encoder", Live);
