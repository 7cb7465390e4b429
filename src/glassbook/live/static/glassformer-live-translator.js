// The book's translator in the page: it reads a German sentence, and writes English word by word.
// The reader can take its word, choose another one, or show it the right translation's.
// For scripts: `await glassformer.translate("Das ist ein Beispiel.")`.
const element = customElements.whenDefined("glass-translator").then(() => document.querySelector("glass-translator"));
(window.glassformer ??= {}).translate = async (german) => (await element).translate(german);

const about = JSON.parse(document.querySelector("glass-translator").dataset.files);
const [{ LiveElement, Model, filesOf, megabytes }, draw] = await Promise.all(
  [about.model, about.draw].map((url) => import(new URL(url, document.baseURI))),
);
const SHOWN = 5; // words in the chart
const MOST = 40; // words that it writes at most

const CONTROLS = `
<form>
  <label>German <input name="german" autocomplete="off" spellcheck="false" lang="de" list="glass-translator-examples"></label>
  <label>The right English, if you’d like to compare <input name="english" autocomplete="off" spellcheck="false"></label>
  <button name="start"></button>
  <progress hidden max="1" value="0" aria-label="Download"></progress>
</form>
<datalist id="glass-translator-examples"></datalist>
<p class="translator-examples">Or read: </p>
<output class="translator-state" aria-live="polite"></output>
<div class="translator-live" hidden>
  <p class="translator-text" lang="en"></p>
  <div class="translator-bar">
    <button type="button" name="write">Write a word</button>
    <button type="button" name="on">Write to the end</button>
    <button type="button" name="back">Take one back</button>
  </div>
  <ol class="translator-next" aria-label="The likeliest next words; choose one to append it"></ol>
  <div class="translator-bar">
    <label>Cross-attention of layer <select name="layer"></select></label>
    <label>head <select name="head"></select></label>
  </div>
</div>
<div class="translator-picture"></div>
<div class="translator-forced"></div>`;

let shared;

const escape = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
const sentence = (words) => words.join(" ").replace(/ ([.,?!])/g, "$1");
const spaced = (text) => text.toLowerCase().replace(/([.,?!])/g, " $1 ").trim().split(/\s+/).filter(Boolean);

function softmax(logits) {
  const most = Math.max(...logits);
  const weights = Array.from(logits, (logit) => Math.exp(logit - most));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}

const ranked = (chances) => chances.map((_, id) => id).sort((a, b) => chances[b] - chances[a] || a - b);

class Translator extends LiveElement {
  async connectedCallback() {
    if (this.source) return;
    this.source = [];
    const files = filesOf(this);
    this.model = shared ??= new Model(files);
    this.ids = Object.fromEntries(["reads", "writes"].map((name) => [name, new Map(files[name].map((word, id) => [word, id]))]));
    this.build();
    const isThere = await this.model.isDownloaded();
    this.parts.start.textContent = isThere ? "Read it" : `Start the translator (downloads ${megabytes(this.model.size)} MB once)`;
    this.say("Below: a recording. With the model in this page, you can give it your own sentence.");
  }

  build() {
    const root = document.createElement("div");
    root.className = "translator";
    root.innerHTML = CONTROLS;
    root.querySelector(".translator-picture").append(...this.childNodes);
    this.replaceChildren(root);
    this.parts = Object.fromEntries([...root.querySelectorAll("[name]")].map((element) => [element.name, element]));
    for (const name of ["examples", "state", "live", "text", "next", "picture", "forced"]) this.parts[`$${name}`] = root.querySelector(`.translator-${name}`);
    this.parts.progress = root.querySelector("progress");
    this.parts.german.value = this.dataset.text;
    const { layers, heads, examples } = this.model.files;
    const options = (count) => Array.from({ length: count }, (_, i) => `<option>${i}</option>`).join("");
    this.parts.layer.innerHTML = options(layers);
    this.parts.head.innerHTML = `<option value="-1">all, averaged</option>${options(heads)}`;
    this.parts.layer.value = String(layers - 1);
    for (const text of examples) {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: sentence(text.split(" ")), lang: "de" });
      button.addEventListener("click", () => {
        this.parts.german.value = button.textContent;
        this.parts.english.value = "";
        this.read();
      });
      this.parts.$examples.append(button, " ");
    }
    this.listen();
  }

  listen() {
    const { parts } = this;
    parts.start.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.read();
    });
    parts.write.addEventListener("click", () => this.append(this.order[0]));
    parts.on.addEventListener("click", () => this.writeOn());
    parts.back.addEventListener("click", () => this.look(this.target.slice(0, -1)));
    for (const name of ["layer", "head"]) parts[name].addEventListener("change", () => this.show());
  }

  // Ids of a text's words, and the words that the model doesn't know.
  encode(text, side) {
    const words = spaced(text);
    const ids = words.map((word) => this.ids[side].get(word) ?? this.model.files.unknown);
    return { ids, unknown: words.filter((word) => !this.ids[side].has(word)) };
  }

  async read() {
    const { parts, model } = this;
    const { ids, unknown } = this.encode(parts.german.value, "reads");
    if (!ids.length) return this.say("Type a German sentence first.", "error");
    if (ids.length > MOST) return this.say(`This sentence has ${ids.length} words, and at most ${MOST} fit.`, "error");
    try {
      if (!model.isReady) await this.start();
    } catch (error) {
      return this.fail(error);
    }
    this.source = [...ids, model.files.end];
    this.unknown = unknown;
    parts.$live.hidden = false;
    await this.look([model.files.start]);
    await this.force();
  }

  // Run the model on the source and the given beginning of a translation.
  async run(source, target) {
    const whole = (values) => ({ type: "int64", data: BigInt64Array.from(values, BigInt), dims: [1, values.length] });
    const { outputs } = await this.model.ask("run", { name: this.model.files.name, feeds: { src_ids: whole(source), tgt_ids: whole(target) } });
    return outputs;
  }

  async look(target) {
    const { files } = this.model;
    const round = (this.round = (this.round ?? 0) + 1);
    try {
      const { logits, weights } = await this.run(this.source, target);
      if (round !== this.round) return;
      const vocab = logits.dims[1];
      this.chances = softmax(logits.data.subarray((target.length - 1) * vocab, target.length * vocab));
      Object.assign(this, { target, weights, order: ranked(this.chances) });
    } catch (error) {
      return this.fail(error);
    }
    const foreign = this.unknown.length ? ` It doesn’t know ${this.unknown.map((word) => `“${word}”`).join(", ")}: it reads [UNK] instead.` : "";
    const isOver = target.length > 1 && target.at(-1) === files.end;
    this.say((isOver ? `Done after ${target.length - 2} words.` : `${target.length - 1} words written.`) + foreign, "read");
    this.show();
  }

  isOver() {
    return this.target.length > MOST || (this.target.length > 1 && this.target.at(-1) === this.model.files.end);
  }

  async append(word) {
    if (!this.isOver()) await this.look([...this.target, word]);
  }

  async writeOn() {
    for (let before = 0; !this.isOver() && before !== this.target.length; ) {
      before = this.target.length;
      await this.append(this.order[0]);
    }
  }

  show() {
    if (!this.target) return;
    const { parts, model, target, order, chances } = this;
    const words = target.slice(1).map((id) => model.files.writes[id]);
    const isOver = this.isOver();
    parts.$text.textContent = sentence(words.filter((word) => word !== "[END]")) || "…";
    parts.write.disabled = parts.on.disabled = isOver;
    parts.back.disabled = target.length < 2;
    const rows = (isOver ? [] : order.slice(0, SHOWN)).map((id) => {
      const row = document.createElement("li");
      row.innerHTML = `<button type="button"><span>${escape(model.files.writes[id])}</span><i><b style="width:${100 * chances[id]}%"></b></i><span>${draw.written(chances[id])}</span></button>`;
      row.firstElementChild.addEventListener("click", () => this.append(id));
      return row;
    });
    parts.$next.replaceChildren(...rows);
    this.showPicture(words);
  }

  // The weights of the last word and those before: a row for each position that has been read.
  showPicture(words) {
    const { parts, model, source, weights } = this;
    const [, heads, read, columns] = weights.dims;
    const rows = this.isOver() ? read - 1 : read; // after the end, nothing is asked for
    const [layer, head] = [Number(parts.layer.value), Number(parts.head.value)];
    const chosen = head < 0 ? Array.from({ length: heads }, (_, i) => i) : [head];
    const data = new Float32Array(rows * columns);
    for (const one of chosen)
      for (let i = 0; i < data.length; i++) data[i] += weights.data[(layer * heads + one) * read * columns + i] / chosen.length;
    const colors = { cell: "var(--cell)", ink: "var(--ink)", number: "var(--number)" };
    const asked = [...words, "?"].slice(0, rows).map((word) => `→ ${word}`);
    const german = source.map((id) => model.files.reads[id]);
    const which = head < 0 ? "averaged over heads" : `head ${head}`;
    parts.$picture.innerHTML = `${draw.matrix(data, asked, german, colors)}<p>Cross-attention of layer ${layer}, ${which}: a row for each word that is written</p>`;
    const last = Array.from(data.subarray((rows - 1) * columns));
    const most = last.indexOf(Math.max(...last));
    parts.$picture.setAttribute("role", "img");
    parts.$picture.setAttribute("aria-label", `Cross-attention: a row for each word that is written, a column for each German word. For the newest one, the model attends most to “${german[most]}”, with a weight of ${draw.written(last[most])}.`);
  }

  // Teacher forcing: what the model would write next after each beginning of the right translation.
  async force() {
    const { parts, model } = this;
    const { ids, unknown } = this.encode(parts.english.value, "writes");
    parts.$forced.replaceChildren();
    if (!ids.length || ids.length > MOST) return;
    const target = [model.files.start, ...ids];
    const wanted = [...ids, model.files.end];
    const { logits } = await this.run(this.source, target);
    const vocab = logits.dims[1];
    const rows = wanted.map((id, i) => {
      const chances = softmax(logits.data.subarray(i * vocab, (i + 1) * vocab));
      const best = ranked(chances)[0];
      const name = (word) => escape(model.files.writes[word]);
      return `<tr><th scope="row">${name(id)}</th><td>${draw.written(chances[id])}</td><td>${best === id ? "the same" : `${name(best)} (${draw.written(chances[best])})`}</td></tr>`;
    });
    const foreign = unknown.length ? ` Not in its vocabulary: ${unknown.map(escape).join(", ")}.` : "";
    parts.$forced.innerHTML = `<p>Teacher forcing: after each beginning of the right translation, its next word and the model’s own.${foreign}</p><table><thead><tr><th scope="col">right word</th><th scope="col">its probability</th><th scope="col">the model would write</th></tr></thead><tbody>${rows.join("")}</tbody></table>`;
  }

  // The likeliest word each time, and what was computed for the last one.
  async translate(german) {
    const { files } = this.model;
    await this.model.load();
    const source = [...this.encode(german, "reads").ids, files.end];
    const target = [files.start];
    let outputs;
    do {
      outputs = await this.run(source, target);
      const vocab = outputs.logits.dims[1];
      target.push(ranked(Array.from(outputs.logits.data.subarray((target.length - 1) * vocab)))[0]);
    } while (target.at(-1) !== files.end && target.length <= MOST);
    return { tokens: target.slice(1).map((id) => files.writes[id]), logits: outputs.logits, crossAttentions: outputs.weights };
  }
}

customElements.define("glass-translator", Translator);
