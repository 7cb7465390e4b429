// <glassformer-view>: runs one of bertviz's viewer scripts inside an element of its own.
//
// The scripts look up ids in the document, share a global and ask RequireJS for d3 and jQuery from
// a far host. Here each gets its own shadow tree to look in, its own parameters, and d3 and jQuery
// handed over, so that any number of views live on a page, in any order, and touch nothing else.

const sources = new Map(); // URL -> promise of a script's text

async function fetched(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return response;
}

function text(url) {
  if (!sources.has(url)) {
    const source = fetched(url).then((response) => response.text());
    source.catch(() => sources.delete(url)); // so that a later view may try again
    sources.set(url, source);
  }
  return sources.get(url);
}

// Between two pieces of work the page answers its reader.
const breath = () => new Promise((resume) => setTimeout(resume));

let libraries; // promise of {jQuery, d3}, evaluated once and kept off the page's globals

async function libraryOf(url) {
  const source = await text(url);
  await breath();
  return evaluate(source);
}

function load(jqueryUrl, d3Url) {
  libraries ??= Promise.all([libraryOf(jqueryUrl), libraryOf(d3Url)]).then(([jQuery, d3]) => ({
    jQuery,
    d3: sparing(d3),
  }));
  libraries.catch(() => (libraries = undefined));
  return libraries;
}

function evaluate(source) {
  const module = { exports: {} };
  new Function("module", "exports", "define", source)(module, module.exports, undefined);
  return module.exports;
}

// Has a viewer draw with less work. Lines and cells, thousands that it binds to numbers, are marks:
// the page gets one path for those that look the same. A weight that rounds to nothing would be a
// line of opacity 0, and is not made at all. What is drawn is hidden until it is whole.
function sparing(d3) {
  const { selectAll } = d3.selection.prototype;
  d3.selection.prototype.append = function (name) {
    if (name === "svg" && this.node().id === "vis") hideUntilDrawn(this.node());
    const create = d3.creator(name);
    return this.select(function () {
      const parent = this._parent ?? this; // data without an element are in a node of d3's own
      const isOfNumbers = parent !== this && isNumeric(this.__data__);
      if (!isMark(parent) && !isOfNumbers) return this.appendChild(create.call(this));
      if (this.__data__ === 0 && (name === "line" || name === "path")) return undefined;
      return new Mark(parent, name);
    });
  };
  d3.selection.prototype.selectAll = function (what) {
    return selectAll.call(this, typeof what === "string" ? finder(what) : what);
  };
  return d3;
}

const isNumeric = (data) => typeof data === "number" || Array.isArray(data);
const isMark = (node) => node instanceof Mark;

function hideUntilDrawn(vis) {
  vis.style.display = "none";
  queueMicrotask(() => {
    drawMarks();
    vis.style.display = "";
  });
}

// A line, a cell or a group of them, as d3 knows elements; it keeps its attributes to itself.
class Mark {
  look = {};

  constructor(parent, name) {
    this.localName = name;
    this.parentNode = parent;
    this.sheet = parent.sheet ?? sheetOf(parent);
    (parent.marks ??= []).push(this);
    if (!isMark(parent)) this.sheet.marks.push(this);
  }

  get style() {
    return this;
  }

  setProperty(name, value) {
    this.setAttribute(name, value);
  }

  setAttribute(name, value) {
    this.look[name] = value;
    this.sheet.change();
  }

  removeAttribute(name) {
    this.setAttribute(name, undefined);
  }

  getAttribute(name) {
    return this.look[name] ?? null;
  }

  // Tells of each mark in it that can be seen, with its opacity and head.
  eachSeen(tell, opacity = 1, head = "") {
    const { look, localName, marks } = this;
    const own = opacity * (look.opacity ?? 1);
    if (own === 0) return;
    if (localName !== "g") tell(this, own, head);
    marks?.forEach((mark) => mark.eachSeen(tell, own, look["head-index"] ?? head));
  }
}

// Finds marks as `querySelectorAll` finds elements: by name, class or one attribute.
const SELECTOR = /^(\w*)(?:\.([\w-]+))?(?:\[([\w-]+)='(.*)'\])?$/;

function matching(marks, [, name, css, attribute, value]) {
  return marks.flatMap((mark) => {
    const { look } = mark;
    const named = (!name || name === mark.localName) && (!css || css === look.class);
    const fits = named && (!attribute || value === String(look[attribute]));
    const within = mark.marks ? matching(mark.marks, [, name, css, attribute, value]) : [];
    return fits ? [mark, ...within] : within;
  });
}

function finder(what) {
  const parts = SELECTOR.exec(what);
  return function () {
    if (isMark(this)) return matching(this.marks ?? [], parts);
    const elements = this.querySelectorAll(what);
    if (!parts) return elements;
    const marked = [this, ...this.querySelectorAll("[data-marks]")];
    return [...elements, ...marked.flatMap(({ marks = [] }) => matching(marks, parts))];
  };
}

// Marks are drawn in the element that has them, but those of all small pictures together above them.
function sheetOf(element) {
  const svg = element.ownerSVGElement;
  if (!element.firstElementChild?.classList.contains("attn_background")) {
    element.dataset.marks = "";
    return (element.sheet = new Sheet(element, false));
  }
  if (!svg.sheet) {
    const above = document.createElementNS(svg.namespaceURI, "g");
    above.dataset.marks = "";
    svg.append(above);
    svg.sheet = new Sheet(above, true);
  }
  return svg.sheet;
}

const changed = new Set(); // sheets whose marks were changed since they were drawn

// What is hidden waits; what was replaced is forgotten.
function drawMarks() {
  for (const sheet of changed) {
    const { parentNode } = sheet.place;
    if (parentNode?.isConnected && parentNode.closest("[visibility=hidden]")) continue;
    changed.delete(sheet);
    sheet.isChanged = false;
    if (parentNode?.isConnected) sheet.draw();
  }
}

const hundredths = (size) => Math.round(100 * size) / 100;
const SHAPES = {
  line: ({ x1, y1, x2, y2 }) => `M${x1} ${y1}L${x2} ${y2}`,
  rect: ({ x, y, width, height }) => `M${x} ${y}h${width}v${height}h-${width}z`,
  path: ({ d }) => d,
  // A small picture's line, filled: a browser draws that faster than a stroke.
  band: ({ x1, y1, x2, y2, "stroke-width": width }) => {
    const high = hundredths((width * Math.hypot(x2 - x1, y2 - y1)) / (x2 - x1));
    const [left, right] = [hundredths(x1), hundredths(x2)];
    const [top, end] = [hundredths(y1 - high / 2), hundredths(y2 - high / 2)];
    return `M${left} ${top}L${right} ${end}v${high}L${left} ${hundredths(top + high)}z`;
  },
};

// What marks of one path share. Opacities of small things are rounded, the finer, the fainter.
const LOOK = "data-of visibility stroke stroke-width stroke-opacity fill fill-opacity".split(" ");
const SHADES = 64;
const exact = (opacity) => opacity;
const rounded = (opacity) => (Math.round(SHADES * Math.sqrt(opacity)) / SHADES) ** 2;

function shared({ look, localName }, opacity, head) {
  const round = look.class === "element" ? rounded : exact;
  const { stroke, fill } = look;
  const line = stroke && stroke !== "none" ? round(opacity * (look["stroke-opacity"] ?? 1)) : 0;
  const area = fill && fill !== "none" ? round(opacity * (look["fill-opacity"] ?? 1)) : 0;
  if (!line && !area) return null;
  const apart = localName === "path" ? look.d : head; // those with a bend lie on each other
  const outline = line ? `${stroke}|${look["stroke-width"]}|${line}` : "none||";
  const inside = area ? `${fill}|${area}` : "none|";
  return `${look.class ?? ""}|${look.visibility ?? ""}|${outline}|${inside}|${apart}`;
}

function sharedByBands({ look }, opacity) {
  const shade = rounded(opacity * look["stroke-opacity"]);
  return shade ? `||none|||${look.stroke}|${shade}` : null;
}

// Draws marks as paths: one for all that share their look.
class Sheet {
  marks = [];
  #paths = new Map(); // look -> path

  constructor(place, isSmall) {
    this.place = place;
    this.isSmall = isSmall;
  }

  change() {
    if (this.isChanged) return;
    this.isChanged = true;
    changed.add(this);
    queueMicrotask(drawMarks);
  }

  draw() {
    if (this.isSmall) this.place.parentNode.append(this.place); // above what was drawn since
    const shapes = this.#shapes();
    for (const [look, path] of this.#paths) {
      if (shapes.has(look)) continue;
      path.remove();
      this.#paths.delete(look);
    }
    for (const [look, parts] of shapes) {
      const shape = parts.join("");
      const path = this.#paths.get(look) ?? this.#add(look);
      if (path.shape === shape) continue;
      path.shape = shape;
      path.setAttribute("d", shape);
    }
  }

  // Of each look, the shapes of all marks that can be seen.
  #shapes() {
    const shapes = new Map();
    const lookOf = this.isSmall ? sharedByBands : shared;
    for (const top of this.marks) {
      top.eachSeen((mark, opacity, head) => {
        const look = lookOf(mark, opacity, head);
        if (look === null) return;
        if (!shapes.has(look)) shapes.set(look, []);
        shapes.get(look).push(SHAPES[this.isSmall ? "band" : mark.localName](mark.look));
      });
    }
    return shapes;
  }

  #add(look) {
    const path = document.createElementNS(this.place.namespaceURI, "path");
    const values = look.split("|");
    LOOK.forEach((name, i) => values[i] && path.setAttribute(name, values[i]));
    this.#paths.set(look, path);
    this.place.append(path);
    return path;
  }
}

// Selections that start at the element's own tree.
function within(root, { jQuery, d3 }) {
  const find = (what) => (typeof what === "string" ? root.querySelector(what) : what);
  const $ = (what) =>
    typeof what === "string" && !what.startsWith("<")
      ? jQuery(root.querySelectorAll(what))
      : jQuery(what);
  const local = Object.create(d3);
  local.select = (what) => d3.select(find(what));
  local.selectAll = (what) =>
    d3.selectAll(typeof what === "string" ? root.querySelectorAll(what) : what);
  return { $, d3: local };
}

// The numbers stand in the element, or, where a site has put them aside, in a file of their own.
async function stored({ packed, packedUrl }) {
  if (packed) return new Blob([Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0))]);
  return (await fetched(new URL(packedUrl, document.baseURI))).blob();
}

async function unpack(dataset) {
  const stream = (await stored(dataset)).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  return { header, bytes: bytes.subarray(4 + length) };
}

// Bytes as nested lists of the given sizes; `read` turns a byte's place into a number.
function nested(sizes, read, place = { at: 0 }) {
  const [size, ...rest] = sizes;
  return Array.from({ length: size }, () =>
    rest.length ? nested(rest, read, place) : read(place.at++),
  );
}

function parts(header, bytes) {
  const { layers, heads, tokens, vector, steps, least = 0 } = header;
  const seq = tokens.length;
  const count = layers * heads * seq * seq;
  const attn = nested([layers, heads, seq, seq], (i) => (bytes[i] < least ? 0 : bytes[i] / 255));
  if (!vector) return { attn };
  const signed = new Int8Array(bytes.buffer, bytes.byteOffset + count);
  const perHead = seq * vector;
  const half = layers * heads * perHead;
  const [querySteps, keySteps] = steps;
  const vectors = (offset, sizes) =>
    nested([layers, heads, seq, vector], (i) =>
      Number((signed[offset + i] * sizes[Math.floor(i / perHead)]).toPrecision(4)),
    );
  return { attn, queries: vectors(0, querySteps), keys: vectors(half, keySteps) };
}

// What the viewer reads for one filter: rows from one sentence, columns from one, cut on demand.
function cut(whole, tokens, from, to) {
  const left = tokens.slice(...from);
  const right = tokens.slice(...to);
  const perHead = (layers, change) => layers.map((layer) => layer.map(change));
  const made = {};
  const lazy = (name, make) => ({ get: () => (made[name] ??= make()), enumerable: true });
  return Object.defineProperties(
    { left_text: left, right_text: right },
    {
      attn: lazy("attn", () =>
        perHead(whole.attn, (rows) => rows.slice(...from).map((row) => row.slice(...to))),
      ),
      queries: lazy("queries", () => perHead(whole.queries, (rows) => rows.slice(...from))),
      keys: lazy("keys", () => perHead(whole.keys, (rows) => rows.slice(...to))),
    },
  );
}

function filters(header, whole, names) {
  const { tokens, split } = header;
  const all = [0, tokens.length];
  if (!split) return { [names[0]]: cut(whole, tokens, all, all) };
  const [a, b] = [[0, split], [split, tokens.length]];
  const pairs = [[all, all], [a, a], [b, b], [a, b], [b, a]];
  return Object.fromEntries(pairs.map((pair, i) => [names[i], cut(whole, tokens, ...pair)]));
}

const range = (count) => Array.from({ length: count }, (_, i) => i);

function parameters(kind, header, whole) {
  const names = kind === "neuron" ? ["all", "aa", "bb", "ab", "ba"] : ["0", "1", "2", "3", "4"];
  return {
    attention: filters(header, whole, names),
    default_filter: header.filter ?? names[0],
    root_div_id: "view",
    layer: header.layer,
    head: header.head,
    heads: header.shown,
    include_layers: range(header.layers),
    include_heads: range(header.heads),
    total_heads: header.heads,
    bidirectional: header.bidirectional,
    display_mode: "light",
  };
}

const TOKENS = {
  head: ["#left > g:nth-child(2) > g", "#right > g:nth-child(2) > g"],
  model: [],
  neuron: ["#collapsed #leftText > g", "#expanded #leftText > g"],
};

// Where words stand, and how wide they may be there.
const WORDS = {
  head: ["#left text, #right text", 101],
  model: ["text.token", 77],
  neuron: ["text.token", 88],
};
const graphemes = new Intl.Segmenter();

// As much of a word as there is room for; the text is left as it was.
function shortened(text, room) {
  const whole = text.textContent;
  if (text.getComputedTextLength() <= room) return whole;
  const letters = Array.from(graphemes.segment(whole), ({ segment }) => segment);
  const cut = (count) => `${letters.slice(0, count).join("")}…`;
  let [fits, much] = [1, letters.length];
  while (much - fits > 1) {
    const middle = (fits + much) >> 1;
    text.textContent = cut(middle);
    if (text.getComputedTextLength() <= room) fits = middle;
    else much = middle;
  }
  text.textContent = whole;
  return cut(fits);
}

const SQUARE = 25; // of a head: a finger finds it, on a narrow phone too

// Which ink is easier to read on a color #rrggbb, by the contrast of WCAG.
function ink(color) {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const part = parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  const light = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return 1.05 / (light + 0.05) > (light + 0.05) / 0.05 ? "white" : "black";
}

const near = new IntersectionObserver(
  (entries) => entries.forEach((entry) => entry.isIntersecting && entry.target.draw()),
  { rootMargin: "600px" },
);
addEventListener("beforeprint", () =>
  document.querySelectorAll("glassformer-view").forEach((view) => view.draw()),
);

class GlassformerView extends HTMLElement {
  #drawn = false;
  #short = new Map(); // each word as it is shown: what was measured once is known when redrawn
  #pinned = null; // the token whose weights stay shown when the pointer leaves: [column, index]

  connectedCallback() {
    if (!this.shadowRoot) {
      const template = this.querySelector("template");
      if (!template) return;
      this.attachShadow({ mode: "open" }).append(template.content.cloneNode(true));
    }
    near.observe(this);
  }

  disconnectedCallback() {
    near.unobserve(this);
  }

  async draw() {
    if (this.#drawn) return;
    this.#drawn = true;
    near.unobserve(this);
    try {
      await this.#run();
      this.dataset.state = "drawn";
    } catch (error) {
      this.dataset.state = "failed";
      this.#find(".hint").textContent = `This view could not be drawn (${error.message}).`;
      console.error(error);
    }
  }

  async #run() {
    const { kind } = this.dataset;
    const [jqueryUrl, d3Url, viewerUrl] = this.dataset.scripts
      .split(" ")
      .map((url) => new URL(url, document.baseURI).href);
    const [loaded, viewer, { header, bytes }] = await Promise.all([
      load(jqueryUrl, d3Url),
      text(viewerUrl),
      unpack(this.dataset),
    ]);
    await breath();
    const params = parameters(kind, header, parts(header, bytes));
    await breath();
    const { $, d3 } = within(this.shadowRoot, loaded);
    const requirejs = (_, start) => start($, d3);
    new Function("require", "requirejs", "window", "console", "PYTHON_PARAMS", viewer)(
      { config() {} },
      requirejs,
      { bertviz_params: params },
      { log() {} },
      params,
    );
    await breath();
    this.#fit(kind, params);
    this.#listen(kind, params);
    this.#tidy(kind, params);
    const redrawn = new MutationObserver(() => this.#tidy(kind, params));
    redrawn.observe(this.#find("#vis"), { childList: true });
  }

  #find(what) {
    return this.shadowRoot.querySelector(what);
  }

  #all(what) {
    return [...this.shadowRoot.querySelectorAll(what)];
  }

  // After each drawing: fit the picture to the page and make its parts reachable.
  #tidy(kind, params) {
    if (!this.#find("#vis > svg")) return;
    this.#fit(kind, params);
    TOKENS[kind].forEach((column, c) =>
      this.#all(column).forEach((token, i) => {
        token.dataset.token = `${c} ${i}`;
        token.setAttribute("role", "button");
        token.setAttribute("tabindex", i ? "-1" : "0");
        token.setAttribute("aria-label", `${token.querySelector("text").textContent} (${i})`);
      }),
    );
    this.#shorten(kind);
    if (kind === "head") this.#labelHeads();
    if (kind === "model") this.#labelThumbnails(params);
    if (this.#pinned) this.#point("mouseover");
  }

  #fit(kind, params) {
    const svg = this.#find("#vis > svg");
    const height = parseFloat(svg.dataset.height ?? svg.getAttribute("height"));
    svg.dataset.height = height;
    const open = kind === "neuron" && this.#expanded();
    const rows = params.attention[params.default_filter].left_text.length;
    const box = {
      head: [0, 0, Math.max(336, SQUARE * params.total_heads + 2), height + 4],
      model: [0, 0, 970, height],
      neuron: open ? [0, 0, 1010, rows * 26 + 50] : [0, 36, 420, rows * 26 + 14],
    }[kind];
    svg.setAttribute("viewBox", box.join(" "));
    svg.removeAttribute("height");
    const vis = this.#find("#vis");
    vis.style.setProperty("--width", `${box[2]}px`);
    vis.style.setProperty("--narrowest", `${box[2] > 450 ? 0.68 * box[2] : 0}px`);
  }

  // A word wider than its column loses letters at its end, as many as it must; its tooltip has all.
  #shorten(kind) {
    const [where, room] = WORDS[kind];
    for (const text of this.#all(where)) {
      if (text.dataset.whole) continue;
      const whole = text.textContent;
      if (!this.#short.has(whole)) this.#short.set(whole, shortened(text, room));
      const short = this.#short.get(whole);
      if (short === whole) continue;
      text.textContent = short;
      text.dataset.whole = whole;
      const tooltip = document.createElementNS(text.namespaceURI, "title");
      tooltip.textContent = whole;
      text.parentNode.append(tooltip);
    }
  }

  // Lines of many heads are faint (a weight is divided by their number): one filter lifts them.
  #brighten(svg) {
    const filter = document.createElementNS(svg.namespaceURI, "filter");
    filter.id = "brighter";
    filter.setAttribute("filterUnits", "userSpaceOnUse");
    const region = { x: "0", y: "0", width: "100%", height: "100%" };
    Object.entries(region).forEach(([side, size]) => filter.setAttribute(side, size));
    filter.innerHTML = '<feComponentTransfer><feFuncA type="gamma"/></feComponentTransfer>';
    svg.prepend(filter);
  }

  #labelHeads() {
    this.#brighten(this.#find("#vis > svg"));
    const boxes = this.#all("#vis > svg > g:last-of-type > rect");
    boxes.forEach((box, head) => {
      box.setAttribute("role", "checkbox");
      box.setAttribute("tabindex", "0");
      box.setAttribute("aria-label", `head ${head}`);
      box.setAttribute("x", SQUARE * head);
      box.setAttribute("width", SQUARE);
      box.setAttribute("height", SQUARE);
      const number = document.createElementNS(box.namespaceURI, "text");
      number.setAttribute("class", "head-number");
      number.setAttribute("aria-hidden", "true");
      number.setAttribute("x", SQUARE * (head + 0.5));
      number.setAttribute("y", SQUARE / 2 + 4);
      number.textContent = head;
      box.after(number);
    });
    this.#checkHeads();
  }

  // A head that is switched off has a lightened color, which d3 writes as rgb().
  #checkHeads() {
    const boxes = this.#all("[role=checkbox]");
    const on = boxes.filter((box) => box.getAttribute("fill").startsWith("#"));
    boxes.forEach((box) => box.setAttribute("aria-checked", String(on.includes(box))));
    on.forEach((box) => (box.nextElementSibling.dataset.ink = ink(box.getAttribute("fill"))));
    const exponent = 1 / (1 + Math.log2(on.length) / 3);
    this.#find("#brighter feFuncA").setAttribute("exponent", exponent.toFixed(2));
  }

  #labelThumbnails({ total_heads: heads }) {
    this.#all("rect.attn_background").forEach((background, i) => {
      const region = background.parentNode.lastElementChild;
      region.dataset.thumbnail = i;
      region.setAttribute("role", "button");
      region.setAttribute("tabindex", i ? "-1" : "0");
      region.setAttribute("aria-label", `layer ${Math.floor(i / heads)}, head ${i % heads}`);
    });
  }

  #listen(kind, params) {
    const vis = this.#find("#vis");
    for (const name of ["mouseover", "mouseleave"]) {
      vis.addEventListener(name, (e) => e.isTrusted && this.#pinned && e.stopPropagation(), true);
    }
    vis.addEventListener("focusin", (e) => {
      const token = e.target.closest?.("[data-token]");
      if (token) this.#pin(token.dataset.token.split(" ").map(Number));
    });
    vis.addEventListener("click", (e) => {
      if (!e.target.closest("[data-token],[role]")) this.#pin(null);
      if (kind === "head") this.#checkHeads();
      if (kind === "neuron") this.#showDetail(params);
      if (kind === "model") this.#showPanel();
    });
    vis.addEventListener("dblclick", () => kind === "head" && this.#checkHeads());
    vis.addEventListener("keydown", (e) => this.#key(e, params));
    this.#find(".detail-button")?.addEventListener("click", () => {
      const sign = this.#expanded() ? "#expanded .minus-sign" : "#collapsed .plus-sign";
      this.#find(sign).nextElementSibling.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    });
  }

  #key(event, { total_heads: heads }) {
    const { target, key } = event;
    if (key === "Escape") this.#pin(null);
    if ((key === "Enter" || key === " ") && target.matches("[role=checkbox],[data-thumbnail]")) {
      const name = event.shiftKey ? "dblclick" : "click";
      target.dispatchEvent(new MouseEvent(name, { bubbles: true }));
      event.preventDefault();
    }
    const next = this.#neighbor(target, key, heads);
    if (!next) return;
    target.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
    event.preventDefault();
  }

  #neighbor(target, key, heads) {
    const step = { ArrowUp: -1, ArrowDown: 1, ArrowLeft: 0, ArrowRight: 0 }[key];
    if (step === undefined) return null;
    if (target.dataset.token) {
      const [column, index] = target.dataset.token.split(" ").map(Number);
      return this.#find(`[data-token="${column} ${index + step}"]`);
    }
    if (!target.dataset.thumbnail) return null;
    const across = { ArrowLeft: -1, ArrowRight: 1 }[key] ?? step * heads;
    return this.#find(`[data-thumbnail="${Number(target.dataset.thumbnail) + across}"]`);
  }

  #pin(place) {
    if (String(place) === String(this.#pinned)) return;
    if (this.#pinned) this.#point("mouseleave");
    this.#pinned = place;
    if (place) this.#point("mouseover");
  }

  // Tells the viewer that the pointer is on (or has left) the pinned token.
  #point(name) {
    const token = this.#find(`[data-token="${this.#pinned.join(" ")}"]`);
    if (!token) return;
    token.dispatchEvent(new MouseEvent(name, { bubbles: name === "mouseover" }));
    if (name === "mouseleave") token.parentNode.parentNode.dispatchEvent(new MouseEvent(name));
  }

  // A head's words stand beside its small picture: where the window is narrow, out of sight.
  #showPanel() {
    this.#shorten("model");
    this.#find("rect.detail")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  #expanded() {
    return this.#find("#expanded")?.getAttribute("visibility") === "visible";
  }

  #showDetail(params) {
    const open = this.#expanded();
    this.#find(".detail-button").setAttribute("aria-pressed", String(open));
    if (this.#pinned) this.#pinned = [Number(open), this.#pinned[1]];
    drawMarks();
    this.#fit("neuron", params);
    if (this.#pinned) this.#point("mouseover");
  }
}

if (!customElements.get("glassformer-view")) {
  customElements.define("glassformer-view", GlassformerView);
}
