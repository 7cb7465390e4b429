// A language model that writes in the page: what it says next, what its heads attend to, and what
// each layer would say. Nothing leaves the page; the model is downloaded when somebody asks for it.
// For scripts: `await glassformer.write("the dog", 8)` writes the likeliest token each time.
const element = customElements.whenDefined("glass-writer").then(() => document.querySelector("glass-writer"));
(window.glassformer ??= {}).write = async (prompt, count) => (await element).model.greedy(prompt, count);

const about = JSON.parse(document.querySelector("glass-writer").dataset.files);
const [{ LiveElement, Model, filesOf, megabytes }, sampling] = await Promise.all(
  [about.model, about.sampling].map((url) => import(new URL(url, document.baseURI))),
);
const SHOWN = 10; // tokens in the chart
const ON = 40; // tokens that "Write on" writes at most
const SMALL = 20e6; // bytes of a model that starts by itself once it's been downloaded
const COUNTS = [1, 2, 3, 5, 10, 20, 50, 100, Infinity]; // top-k

const CONTROLS = `
<form>
  <label>Beginning <textarea name="text" rows="2" spellcheck="false"></textarea></label>
  <button name="start"></button>
  <progress hidden max="1" value="0" aria-label="Download"></progress>
</form>
<output class="writer-state" aria-live="polite"></output>
<div class="writer-still"></div>
<div class="writer-live" hidden>
  <p class="writer-tokens"></p>
  <div class="writer-bar">
    <label>Layer <select name="layer"></select></label>
    <label>Head <select name="head"></select></label>
    <output class="writer-head"></output>
  </div>
  <div class="writer-bar">
    <button type="button" name="write">Write a token</button>
    <button type="button" name="on">Write on</button>
    <button type="button" name="back">Take one back</button>
  </div>
  <ol class="writer-next" aria-label="The likeliest next tokens; choose one to append it"></ol>
  <p class="writer-note"></p>
  <fieldset><legend>How a token is drawn</legend>
    <label>temperature <input type="range" name="temperature" min="0.1" max="2" step="0.05" value="1"><output></output></label>
    <label>top-k <input type="range" name="topK" min="0" max="8" step="1" value="8"><output></output></label>
    <label>top-p <input type="range" name="topP" min="0.05" max="1" step="0.05" value="1"><output></output></label>
  </fieldset>
  <details class="writer-lens"><summary>What each layer would say (logit lens)</summary>
    <p>The output layer reads each layer’s last vector as if it were the last layer’s.</p><div></div></details>
</div>`;

// Without the settings of the sliders.
const PLAIN = { temperature: 1, topK: Infinity, topP: 1 };
const escape = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
const visible = (token) => token.replace(/^ +| +$/g, (spaces) => "␣".repeat(spaces.length)).replaceAll("\n", "↵").replaceAll("\t", "⇥");
const written = (chance) => (chance >= 0.005 ? chance.toFixed(2) : chance > 0 ? "< 0.01" : "0");

const shared = new Map(); // the models of this page, by name

// The language model in its worker.
class Language extends Model {
  async start(progress) {
    await this.load(progress);
    this.texts ??= await this.ask("vocabulary", { name: this.files.name });
  }

  async encode(text) {
    const { ids } = await this.ask("tokenize", { name: this.files.name, text });
    return [...this.files.start, ...ids];
  }

  async decode(ids) {
    return this.ask("decode", { name: this.files.name, ids });
  }

  // Read ids; return the next token's logits, or those of several layers, one after another.
  async step(ids, layers = [this.files.layers - 1]) {
    const { outputs, ms } = await this.ask("step", { name: this.files.name, ids, layers });
    return { logits: outputs.logits.data, weights: outputs.weights, ms };
  }

  async greedy(prompt, count) {
    await this.start();
    const { end, most } = this.files;
    const ids = await this.encode(prompt);
    const prompted = ids.length;
    while (ids.length < Math.min(prompted + count, most) && (ids.length === prompted || ids.at(-1) !== end))
      ids.push(sampling.ranked((await this.step(ids)).logits)[0]);
    const fresh = ids.slice(prompted);
    return { ids: fresh, tokens: fresh.map((id) => this.texts[id]), text: await this.decode(fresh) };
  }
}

class Writer extends LiveElement {
  async connectedCallback() {
    if (this.ids) return;
    this.ids = [];
    const files = filesOf(this);
    if (!shared.has(files.name)) shared.set(files.name, new Language(files));
    this.model = shared.get(files.name);
    this.build();
    const isThere = await this.model.isDownloaded();
    this.parts.start.textContent = isThere ? "Start the model" : `Start the model (downloads ${megabytes(this.model.size)} MB once)`;
    this.say("Below: a recording. With the model in this page, you can write with it.");
    if (isThere && this.model.size < SMALL) await this.read();
  }

  build() {
    const root = document.createElement("div");
    root.className = "writer";
    root.innerHTML = CONTROLS;
    const part = (name) => root.querySelector(name);
    part(".writer-still").append(...this.childNodes);
    this.replaceChildren(root);
    this.parts = Object.fromEntries([...root.querySelectorAll("[name]")].map((element) => [element.name, element]));
    for (const name of ["state", "still", "live", "tokens", "head", "next", "note", "lens"]) this.parts[`$${name}`] = part(`.writer-${name}`);
    this.parts.progress = part("progress");
    this.parts.form = part("form");
    this.parts.text.value = this.dataset.text;
    const options = (count) => Array.from({ length: count }, (_, i) => `<option>${i}</option>`).join("");
    this.parts.layer.innerHTML = options(this.model.files.layers);
    this.parts.head.innerHTML = options(this.model.files.heads);
    this.parts.$next.innerHTML = Array.from({ length: SHOWN }, () => `<li><button type="button"><span></span><i><b></b><u></u></i><span></span></button></li>`).join("");
    this.listen();
  }

  listen() {
    const { parts } = this;
    parts.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.read();
    });
    parts.text.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey) return;
      event.preventDefault();
      this.read();
    });
    let timer;
    parts.text.addEventListener("input", () => {
      clearTimeout(timer);
      if (this.model.isReady) timer = setTimeout(() => this.read(), 300);
    });
    for (const name of ["layer", "head"]) parts[name].addEventListener("change", () => this.showTokens());
    for (const name of ["temperature", "topK", "topP"]) parts[name].addEventListener("input", () => this.showNext());
    const choose = (token) => {
      this.isWriting = false;
      this.append(token);
    };
    [...parts.$next.children].forEach((row, i) => row.addEventListener("click", () => choose(this.order[i])));
    parts.write.addEventListener("click", () => choose(this.drawn()));
    parts.on.addEventListener("click", () => (this.isLooping ? (this.isWriting = false) : this.writeOn()));
    parts.back.addEventListener("click", () => this.takeBack());
    parts.$lens.addEventListener("toggle", () => this.showLens().catch((error) => this.fail(error)));
  }

  // Start anew from the reader's text.
  async read() {
    const { model } = this;
    this.isWriting = false;
    try {
      if (!model.texts) await this.start();
      const ids = await model.encode(this.parts.text.value);
      if (!ids.length) return this.say("Type a beginning first.", "error");
      const { most, start } = model.files;
      if (ids.length >= most) return this.say(`This text has ${ids.length - start.length} tokens, and at most ${most - 1 - start.length} fit. Type a shorter one.`, "error");
      Object.assign(this, { prompt: ids, prompted: ids.length });
      if (ids.length > 32) this.say("Reading…");
      await this.look(ids);
    } catch (error) {
      this.fail(error);
    }
  }

  // Read these ids, and show them; whatever was asked for while this was computed comes later.
  async look(ids) {
    const round = (this.round = (this.round ?? 0) + 1);
    const result = await this.model.step(ids);
    if (round !== this.round) return;
    Object.assign(this, { ids, result, order: sampling.ranked(result.logits) });
    this.parts.$still.hidden = true;
    this.parts.$live.hidden = false;
    this.showTokens();
    this.showNext();
    if (this.isWriting) return;
    const unknown = ids.includes(this.model.files.unknown) ? " [UNK] is a word that this model doesn’t know." : "";
    const unkept = this.model.isKept === false ? " The browser didn’t keep the model: it will be downloaded again next time." : "";
    const where = this.model.files.provider ? " on the graphics processor" : "";
    this.say(this.isOver() ?? `${ids.length} tokens, the last step in ${result.ms.toFixed(0)} ms${where}.${unknown}${unkept}`);
    await this.showLens();
  }

  // Why nothing more can be written, if so.
  isOver() {
    const { end, most } = this.model.files;
    if (this.ids.length > this.prompted && this.ids.at(-1) === end) return `The model has ended its text after ${this.ids.length - this.prompted} tokens.`;
    if (this.ids.length >= most) return `The text has ${most} tokens: no more fit.`;
    return undefined;
  }

  async append(token) {
    if (this.isOver()) return this.say(`${this.isOver()} Take one back, or change the beginning.`);
    try {
      await this.look([...this.ids, token]);
    } catch (error) {
      this.fail(error);
    }
  }

  async writeOn() {
    const { prompt } = this;
    const [start, before] = [performance.now(), this.ids.length];
    this.isWriting = this.isLooping = true;
    this.parts.on.textContent = "Stop";
    this.say("Writing…");
    for (let length = -1; this.isWriting && length < this.ids.length && this.ids.length < before + ON && !this.isOver(); ) {
      length = this.ids.length; // if a step has failed, it stays as it is
      await this.append(this.drawn());
    }
    this.isWriting = this.isLooping = false;
    this.parts.on.textContent = "Write on";
    if (this.prompt !== prompt || this.parts.$state.dataset.kind === "error") return;
    const count = this.ids.length - before;
    this.say(this.isOver() ?? `${count} tokens written, ${((1000 * count) / (performance.now() - start)).toFixed(1)} per second.`);
    await this.showLens().catch((error) => this.fail(error));
  }

  takeBack() {
    if (this.ids.length <= this.prompted) return this.say("Nothing is written yet.");
    this.isWriting = false;
    return this.look(this.ids.slice(0, -1)).catch((error) => this.fail(error));
  }

  settings() {
    const { temperature, topK, topP } = this.parts;
    return { temperature: Number(temperature.value), topK: COUNTS[topK.value], topP: Number(topP.value) };
  }

  chances(settings) {
    return sampling.chances(this.result.logits, this.order, settings);
  }

  drawn() {
    return sampling.drawn(this.chances(this.settings()));
  }

  // The text, and under each token how much the last one attends to it.
  showTokens() {
    const { parts, ids, result } = this;
    const [layer, head] = [Number(parts.layer.value), Number(parts.head.value)];
    const [, heads, length] = result.weights.dims;
    const weights = result.weights.data.subarray((layer * heads + head) * length, (layer * heads + head + 1) * length);
    const most = weights.indexOf(Math.max(...weights));
    parts.$tokens.innerHTML = ids
      .map((id, i) => `<span${i >= this.prompted ? ' class="new"' : ""} title="${written(weights[i])}">${escape(visible(this.model.texts[id]))}<i style="opacity:${(weights[i] / weights[most]).toFixed(3)}"></i></span>`)
      .join(" ");
    const name = (i) => `“${visible(this.model.texts[ids[i]])}”`;
    parts.$head.textContent = `In this head, the last token, ${name(length - 1)}, attends most to ${name(most)}, the darkest: a weight of ${written(weights[most])}.`;
    parts.back.disabled = ids.length <= this.prompted;
  }

  showNext() {
    const { parts, order } = this;
    const settings = this.settings();
    const { temperature, topK, topP } = settings;
    const shown = { temperature: temperature.toFixed(2), topK: topK < Infinity ? String(topK) : "off", topP: topP < 1 ? topP.toFixed(2) : "off" };
    for (const [name, value] of Object.entries(shown)) {
      parts[name].nextElementSibling.textContent = value;
      parts[name].setAttribute("aria-valuetext", value);
    }
    const [now, plain] = [this.chances(settings), this.chances(PLAIN)];
    const most = Math.max(now[order[0]], plain[order[0]]);
    [...parts.$next.children].forEach((row, i) => {
      const [token, bars, number] = row.firstElementChild.children;
      token.textContent = visible(this.model.texts[order[i]]);
      bars.firstElementChild.style.width = `${(100 * now[order[i]]) / most}%`;
      bars.lastElementChild.style.width = `${(100 * plain[order[i]]) / most}%`;
      number.textContent = written(now[order[i]]);
    });
    const stay = now.reduce((count, chance) => count + (chance > 0), 0);
    parts.$note.textContent = `${stay.toLocaleString("en")} of ${now.length.toLocaleString("en")} tokens can be drawn. Outlines: as the model says.`;
  }

  async showLens() {
    const { $lens } = this.parts;
    const { ids, model, isWriting } = this;
    if (!$lens.open || !ids.length || isWriting) return;
    const { layers } = model.files;
    const { logits } = await model.step(ids, Array.from({ length: layers }, (_, i) => i));
    if (ids !== this.ids) return; // something newer is on its way
    const size = logits.length / layers;
    const rows = Array.from({ length: layers }, (_, layer) => {
      const row = logits.subarray(layer * size, (layer + 1) * size);
      const order = sampling.ranked(row);
      const chances = sampling.chances(row, order, PLAIN);
      const cells = Array.from(order.subarray(0, 3), (id) => `<td>${escape(visible(model.texts[id]))} <small>${written(chances[id])}</small></td>`);
      return `<tr><th scope="row">${layer}</th>${cells.join("")}</tr>`;
    });
    $lens.lastElementChild.innerHTML = `<table><thead><tr><th scope="col">after layer</th><th scope="col" colspan="3">its likeliest tokens</th></tr></thead><tbody>${rows.join("")}</tbody></table>`;
  }
}

customElements.define("glass-writer", Writer);
