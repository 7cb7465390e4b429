// What the search is asked, and what comes first of what it finds.
//
// Before it looks for a query, leave out what says nothing about where to look: the values in a
// message, and small words. Each word is looked for as the beginning of one, so that "to" would
// find all "tokens". A word that begins none of the book's is replaced by the nearest one that does,
// and a line says so. Of what is found, the entry of a symbol comes first that is written as in
// code, then what has several words of the query in their order, as for a message.

const SMALL = new Set(
  ("a about actually an and are as at be between but by can do does difference for from get got " +
    "has have how i if in is it its just may me mean means must my need no not of on or really " +
    "should so than that the their there these they this to use used using versus vs was we were " +
    "what when where which who why will with work works you your").split(" "),
);
// What stands before the name that is meant, and in a message before what it says.
const BEFORE = /\b(?:torch|nn|functional|F|np|transformers|model|self)\.(?=[A-Za-z])/g;
const HEAD = /^\w*Error(?:\(s\) in \w+)?:/;
const [SETUP, QUERY, RESULT] = [0, 2, 3]; // Material's messages to and from its worker

const telling = (query) => {
  const plain = query
    .replace(HEAD, " ")
    .replace(/[([][\d.,\s]*[)\]]|['‘’`]|[?!.,;:]+(?=\s|$)/g, " ")
    .replace(BEFORE, "");
  const words = plain.split(/[\s=]+/).filter(Boolean);
  const left = words.filter((word) => !SMALL.has(word.toLowerCase()) && !/^[-+]?\d{1,3}$/.test(word));
  return left.length ? left : words;
};

let parts = /\s+/; // what parts words in the index
let index = { docs: [] };
let known = null; // all words of the book, in order, and how many headings and tags have each
const RUN = 4; // words in their order that are a quotation

const flat = (text) =>
  text
    .replace(/<[^>]+>|&\w+;/g, " ")
    .toLowerCase()
    .split(/[^\p{L}\p{N}_]+/u)
    .filter((word) => word && !/^\d+$/.test(word));

const learn = () => {
  const [all, named] = [new Set(), new Map()];
  for (const { title, tags = [], text } of index.docs) {
    const words = (some) => some.toLowerCase().replace(/<[^>]+>/g, " ").split(parts);
    for (const word of words(text)) all.add(word);
    for (const word of new Set(words([title, ...tags].join(" ")))) {
      all.add(word);
      if (/^\p{L}{4,}$/u.test(word)) named.set(word, (named.get(word) ?? 0) + 1);
    }
  }
  const texts = index.docs.map(({ title, text }) => ` ${flat(`${title} ${text}`).join(" ")} `);
  return { all: [...all].sort(), exact: all, named, texts, whole: texts.join("") };
};

const begins = (word) => {
  let [low, high] = [0, known.all.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (known.all[middle] < word) low = middle + 1;
    else high = middle;
  }
  return known.all[low]?.startsWith(word) ?? false;
};

// How many letters must be changed, put in, taken out, or swapped with their neighbor.
const distance = (one, other) => {
  let [before, last] = [[], [...other, 0].map((_, j) => j)];
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const same = one[i - 1] === other[j - 1];
      row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + !same);
      if (one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) {
        row[j] = Math.min(row[j], before[j - 2] + 1);
      }
    }
    [before, last] = [last, row];
  }
  return last[other.length];
};

const nearest = (word) => {
  let [best, least] = [word, word.length < 6 ? 1.5 : 2.5];
  for (const [other, count] of known.named) {
    if (Math.abs(other.length - word.length) > 2) continue;
    // Among words that are equally near, the first letter counts, and then how common a word is.
    const far = distance(word, other) + 0.2 * (word[0] !== other[0]) - 0.1 * Math.min(count / 100, 1);
    if (far < least) [best, least] = [other, far];
  }
  return best;
};

// The entry of a symbol, where that is what a query names, and the sections with the most words of
// it in their order.
const quoted = (query) => {
  const name = query.trim();
  if (/^\w+[._]\w|[a-z][A-Z]/.test(name)) {
    const of = ({ location }) => location.split("#glassformer.")[1] ?? "";
    const entries = index.docs.filter((one) =>
      [of(one), `glassformer.${of(one)}`, of(one).split(".").pop()].includes(name),
    );
    if (entries.length) return entries.map(({ location }) => location);
  }
  const words = flat(query);
  for (let length = words.length; length >= RUN; length--) {
    for (let i = 0; i + length <= words.length; i++) {
      const run = words.slice(i, i + length);
      const phrase = ` ${run.join(" ")} `;
      if (run.filter((word) => !SMALL.has(word)).length < 2) continue;
      if (!known.whole.includes(phrase)) continue;
      const quoting = index.docs.filter((_, j) => known.texts[j].includes(phrase));
      return quoting.map(({ location }) => location);
    }
  }
  return [];
};

const said = document.createElement("p");
said.className = "search-instead";
said.setAttribute("role", "status");

// What is looked for in place of a word: the singular, which begins the plural too; the other
// spelling; the known end of a longer name; and, for a word that nobody wrote, the nearest one.
const SPELLED = /^(\p{L}{3,}i)[sz](?:e[drs]?|ers|ing|ations?)$/u;
const meant = (word) => {
  const plain = word.toLowerCase();
  const one = plain.replace(/ies$/, "y").replace(/([^su])s$/, "$1");
  if (one !== plain && known.exact.has(one)) return one;
  if (begins(plain)) return word;
  const stem = plain.match(SPELLED)?.[1];
  const other = stem && [`${stem}z`, `${stem}s`].find(begins);
  if (other) return other;
  if (plain.includes("_")) {
    const pieces = plain.split("_");
    const ends = pieces.map((_, i) => pieces.slice(i).join("_"));
    return ends.find((end) => known.exact.has(end)) ?? word;
  }
  return /^\p{L}{4,}$/u.test(plain) ? nearest(plain) : word;
};

const asked = (query) => {
  known ??= learn();
  const words = telling(query);
  const found = words.map(meant);
  const isWrong = (word) => !SPELLED.test(word) && !begins(word.toLowerCase());
  const instead = words.some((word, i) => isWrong(word) && found[i] !== word);
  said.textContent = instead ? `Did you mean “${found.join(" ")}”? These are the results for it.` : "";
  if (instead && !said.isConnected) document.querySelector(".md-search-result__meta").after(said);
  const spelled = words.reduce((all, word, i) => (isWrong(word) ? all.replace(word, found[i]) : all), query);
  first = new Set(quoted(spelled));
  return found.join(" ");
};

// Put what is quoted before the rest, pages and within them sections; then pages with a section that
// has all words. Otherwise the order stays.
let first = new Set();
const ordered = ({ data: message }) => {
  if (message?.type !== RESULT) return;
  const { items } = message.data;
  const is = (one) => first.has(one.location);
  const all = ({ terms }) => Object.keys(terms).length > 0 && Object.values(terms).every(Boolean);
  for (const item of items) {
    if (!item.some(is)) continue;
    const best = item[0].score;
    item.sort((a, b) => is(b) - is(a));
    item.filter(is).forEach((one) => (one.score = Math.max(one.score, best)));
  }
  items.sort((a, b) => b.some(is) - a.some(is) || b.some(all) - a.some(all));
};

const { postMessage } = Worker.prototype;
Worker.prototype.postMessage = function (message, ...rest) {
  if (message?.type === SETUP && message.data?.docs) {
    index = message.data;
    parts = new RegExp(index.config.separator);
    known = null;
    (window.requestIdleCallback ?? setTimeout)(() => (known ??= learn()));
  }
  const isQuery = message?.type === QUERY && typeof message.data === "string";
  const sent = isQuery ? { ...message, data: asked(message.data) } : message;
  return postMessage.call(this, sent, ...rest);
};

const { addEventListener: listen } = Worker.prototype;
const heard = new WeakSet();
Worker.prototype.addEventListener = function (...what) {
  if (!heard.has(this)) listen.call(this, "message", ordered); // before anybody hears of it
  heard.add(this);
  return listen.apply(this, what);
};
