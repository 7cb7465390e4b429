// What the search is asked, and what comes first of what it finds.
//
// Before it looks for a query, leave out what says nothing about where to look: the values in a
// message, and small words. Each word is looked for as the beginning of one, so that "to" would
// find all "tokens". A word that begins none of the book's is replaced by the nearest one that does,
// and a line says so. Of what is found, the entry of a symbol comes first that is written as in
// code, then what has several words of the query in their order, as for a message. Of a page, the
// section is shown that has the words, and no word is called missing that the page has. Which page
// comes first depends on its best section, and on the whole page, whose tags count most in it: many
// of these are words that no section has, but that readers have who don't know the book's.

const SMALL = new Set(
  ("a about actually am an and any are as at be because between but by can cant could do does doesn " +
    "doesnt don dont doubt during difference for from get gets getting give gives giving got has have " +
    "help how i if in into is isn isnt it its just may me mean means must my need no not now of on or " +
    "please question questions really regarding s should so some still such t than that the their then there " +
    "these they this to use used using versus very vs want was way we were what when where whether " +
    "which while who why will with work works would you your").split(" "),
);
// What stands before the name that is meant, and in a message before what it says.
const BEFORE = /\b(?:torch|nn|functional|F|np|transformers|model|self)\.(?=[A-Za-z])/g;
const HEAD = /^\w*Error(?:\(s\) in \w+)?:/;
const LABEL = /^\s*\[(?:bugs?(?: report)?|discussion|docs?|feature(?: request)?|help wanted|question)\]:?/i;
const [SETUP, QUERY, RESULT] = [0, 2, 3]; // Material's messages to and from its worker

const telling = (query) => {
  const plain = query
    .replace(LABEL, " ")
    .replace(HEAD, " ")
    .replace(/[([][\d.,\s]*[)\]]|['‘’`]|[?!.,;:]+(?=\s|$)|[？！。，：；]/g, " ")
    .replace(BEFORE, "");
  const words = plain.split(/[\s=]+/).filter(Boolean);
  const left = words.filter((word) => !SMALL.has(word.toLowerCase()) && !/^[-+]?\d{1,3}$/.test(word));
  // What parts words in the index does so here; what's left has no sign that Material would obey.
  const split = (word) => word.replace(/[~^*+"\\]/g, " ").split(parts);
  return (left.length ? left : words).flatMap(split).filter(Boolean);
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

const pageOf = ({ location }) => location.split("#")[0];

// A word's singular, which begins its plural too; and a text in singulars, without signs.
const singular = (word) => word.replace(/ies$/, "y").replace(/([^su])s$/, "$1");
const plainly = (text) => ` ${flat(text.replace(/_/g, " ")).map(singular).join(" ")} `;

// What all forms of a word begin with, and those of the words of a text that tell something; a name
// such as "WordPiece" is a word, and two.
const stemOf = (word) => word.replace(/(?:e[drs]?|ing|ly|ations?)$|([^s])s$/, "$1").replace(/(.)\1$/, "$1");
const doubled = (name) => `${name} ${name.match(PIECE).join(" ")}`;
const stemsOf = (text) =>
  flat(text.replace(/\bfine[- ]tun/gi, "finetun").replace(/\p{L}*\p{Ll}\p{Lu}\p{L}*/gu, doubled))
    .flatMap((word) => word.split("_"))
    .filter((word) => word && !SMALL.has(word))
    .map((word) => (stemOf(word).length > 2 ? stemOf(word) : word));
const pairsOf = (stems, reach) =>
  stems.flatMap((one, i) => stems.slice(i + 1, i + 1 + reach).map((other) => [one, other].sort().join(" ")));

// How well the headings and the tags of whole pages answer a query, as Okapi BM25 has it: a word counts
// by how rare it is, and by how often a page has it, but never more than a few times. Two words count
// once more, together, if a tag has both.
const [HEADING, TAG, PAIR] = [3, 8, 0.3];
const [MANY, LOSS] = [8, 0.3]; // what has half of a word's worth, and what long pages lose
const weigher = () => {
  const pages = new Map();
  for (const one of index.docs) {
    const place = pageOf(one);
    const page = pages.get(place) ?? { stems: new Map(), pairs: new Set(), tags: new Set(), length: 0 };
    pages.set(place, page);
    const add = (weight) => (stem) => {
      page.stems.set(stem, (page.stems.get(stem) ?? 0) + weight);
      page.length += weight;
    };
    stemsOf(one.title).forEach(add(HEADING));
    for (const tag of (one.tags ?? []).filter((tag) => !page.tags.has(tag.toLowerCase()))) {
      page.tags.add(tag.toLowerCase());
      stemsOf(tag).forEach(add(TAG));
      for (const pair of pairsOf(stemsOf(tag), 2)) page.pairs.add(pair);
    }
  }
  const all = [...pages.values()];
  const usual = all.reduce((sum, { length }) => sum + length, 0) / all.length;
  const rarity = (has) => Math.log(1 + all.length / (0.5 + all.filter(has).length));
  const share = (weight, { length }) => weight / (weight + MANY * (1 - LOSS + (LOSS * length) / usual));
  return (query) => {
    const stems = stemsOf(query);
    const rare = new Map(stems.map((stem) => [stem, rarity((page) => page.stems.has(stem))]));
    const both = new Map(pairsOf(stems, 3).map((pair) => [pair, rarity((page) => page.pairs.has(pair))]));
    const worthOf = (page) => {
      let sum = 0;
      for (const [stem, worth] of rare) sum += worth * share(page.stems.get(stem) ?? 0, page);
      for (const [pair, worth] of both) if (page.pairs.has(pair)) sum += PAIR * worth;
      return sum;
    };
    return new Map([...pages].map(([place, page]) => [place, worthOf(page)]));
  };
};

const learn = () => {
  const [all, titled, named] = [new Set(), new Set(), new Map()];
  for (const { title, tags = [], text } of index.docs) {
    const words = (some) => some.toLowerCase().replace(/<[^>]+>/g, " ").split(parts);
    for (const word of words(text)) all.add(word);
    for (const word of new Set(words([title, ...tags].join(" ")))) {
      all.add(word);
      titled.add(word);
      if (/^\p{L}{4,}$/u.test(word)) named.set(word, (named.get(word) ?? 0) + 1);
    }
  }
  // What is said of a section: its text, and, each by itself, the names that are not the whole page's.
  const page = new Map();
  for (const one of index.docs) if (!page.has(pageOf(one))) page.set(pageOf(one), new Set(one.tags));
  const texts = index.docs.map((one) => {
    const own = (one.tags ?? []).filter((tag) => !page.get(pageOf(one)).has(tag));
    return [`${one.title} ${one.text}`, ...own].map((some) => ` ${flat(some).join(" ")} `).join("/");
  });
  const pages = new Map();
  index.docs.forEach((one, j) => pages.set(pageOf(one), (pages.get(pageOf(one)) ?? "") + texts[j]));
  const tagged = new Map();
  for (const one of index.docs) {
    if (!tagged.has(pageOf(one))) tagged.set(pageOf(one), new Set());
    for (const tag of one.tags ?? []) tagged.get(pageOf(one)).add(plainly(tag));
  }
  const whole = texts.join("");
  return { all: [...all].sort(), exact: all, titled, named, tagged, texts, whole, pages, weigh: weigher() };
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

// How a name with signs, such as -1e9, stands in a text: as it is, and not within a longer one.
const written = (name) => {
  const html = name.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  return new RegExp(`(?:^|[^\\w.])${html.replace(/[$()*+.?[\\\]^{|}]/g, "\\$&")}(?!\\w)`);
};
const FEW = 12; // sections with a name with signs, among which a reader can choose

// The entry of a symbol, where that is what a query names, or the sections with a name with signs,
// or with words of the query in their order: each with how many.
const quoted = (query) => {
  const name = query.trim();
  if (/^\w+[._]\w|[a-z][A-Z]/.test(name)) {
    const of = ({ location }) => location.split("#glassformer.")[1] ?? "";
    const entries = index.docs.filter((one) =>
      [of(one), `glassformer.${of(one)}`, of(one).split(".").pop()].includes(name),
    );
    if (entries.length) return entries.map(({ location }) => [location, 1]);
  }
  if (/^\S*$/.test(name) && /^\W|\W$|^\d/.test(name)) {
    const pattern = written(name);
    const entries = index.docs.filter(({ text }) => pattern.test(text));
    if (entries.length <= FEW) return entries.map(({ location }) => [location, 1]);
  }
  const words = flat(query);
  const found = new Map();
  let least = Math.max(RUN, words.length / 3);
  for (let length = words.length; length >= least; length--) {
    for (let i = 0; i + length <= words.length; i++) {
      const run = words.slice(i, i + length);
      const phrase = ` ${run.join(" ")} `;
      if (run.filter((word) => !SMALL.has(word)).length < (found.size ? 3 : 2)) continue;
      if (!known.whole.includes(phrase)) continue;
      if (!found.size) least = Math.max(RUN, length / 3);
      index.docs.forEach(({ location }, j) => {
        if (known.texts[j].includes(phrase) && !found.has(location)) found.set(location, length);
      });
    }
  }
  return found;
};

const said = document.createElement("p");
said.className = "search-instead";
said.setAttribute("role", "status");

// The parts of a name that nobody wrote, each as long as it's known: "BertWordPieceTokenizer" is
// "bert wordpiece tokenizer", and "merge_peft_adapter" is "merge peft adapter".
const PIECE = /\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?\p{Ll}+|\p{Lu}+|\d+\p{L}*/gu;
const parted = (word) => {
  const [pieces, sign] = word.includes("_") ? [word.split("_"), "_"] : [word.match(PIECE) ?? [], ""];
  const found = [];
  if (pieces.length < 2) return found;
  for (let i = 0, j; i < pieces.length; i = j) {
    const part = () => pieces.slice(i, j).join(sign).toLowerCase();
    j = i ? pieces.length : pieces.length - 1; // less than the whole
    while (j > i + 1 && !known.exact.has(part())) j--;
    const isKnown = (part().length > 2 ? known.exact : known.titled).has(part());
    if (isKnown && !SMALL.has(part())) found.push(part());
  }
  return found;
};

// What is looked for in place of a word: the singular, which begins the plural too; what begins all
// forms of a verb that is in no heading; the other spelling; the parts of a name, besides it if it is
// only in texts; and, for a word that nobody wrote, the nearest one.
const SPELLED = /^(\p{L}{3,}i)[sz](?:e[drs]?|ers|ing|ations?)$/u;
const meant = (word) => {
  const plain = word.toLowerCase();
  const one = singular(plain);
  if (one !== plain && known.exact.has(one)) return one;
  const [, verb, end] = plain.match(/^(\p{L}{4,}?)(e[ds]|ing)$/u) ?? [];
  if (end === "ing" && known.exact.has(plain) && known.titled.has(verb)) return verb;
  if (known.exact.has(plain) && !known.titled.has(plain)) {
    if (known.exact.has(verb) || known.exact.has(`${verb}e`)) return verb;
    if (plain.includes("_")) return [word, ...parted(word)].join(" ");
  }
  if (begins(plain)) return word;
  const stem = plain.match(SPELLED)?.[1];
  const other = stem && [`${stem}z`, `${stem}s`].find(begins);
  if (other) return other;
  const pieces = parted(word);
  if (pieces.length) return pieces.join(" ");
  const [, signs, rest] = plain.match(/^([^\p{L}\p{N}]+)([\p{L}\p{N}]+)$/u) ?? [];
  if (signs) return known.exact.has(signs) ? signs : rest;
  return /^\p{L}{4,}$/u.test(plain) ? nearest(plain) : word;
};

const asked = (query) => {
  known ??= learn();
  const words = telling(query);
  const found = words.map(meant);
  const isWrong = (word) => /^\p{L}/u.test(word) && !SPELLED.test(word) && !begins(word.toLowerCase());
  const instead = words.some((word, i) => isWrong(word) && found[i] !== word);
  said.textContent = instead ? `Did you mean “${found.join(" ")}”? These are the results for it.` : "";
  if (instead && !said.isConnected) document.querySelector(".md-search-result__meta").after(said);
  const spelled = words.reduce((all, word, i) => (isWrong(word) ? all.replace(word, found[i]) : all), query);
  first = new Map(quoted(spelled));
  worth = known.weigh(spelled.replace(LABEL, " "));
  const text = plainly(`${query} ${found.join(" ")}`);
  const lengths = (some) => [...some].map((tag) => text.includes(tag) && tag.split(" ").length - 2);
  tags = new Map([...known.tagged].map(([page, some]) => [page, Math.max(0, ...lengths(some))]));
  return found.flatMap((one) => one.split(" ")).map(weighed).join(" ");
};

// Other words may begin with a word, but not with one or two letters; and a name in code says the most.
const weighed = (word, _, { length }) => {
  if (length > 1 && /^\w{1,2}$/.test(word)) return `${word}^1`;
  return length > 1 && /\w_\w|[a-z][A-Z]/.test(word) ? `${word}*^2` : word;
};

// Whether a page has a word, in another form or with the other spelling.
const has = (page, word) => {
  const stem = stemOf(word);
  const stems = [stem, stem.replace(/is$/, "iz"), stem.replace(/iz$/, "is")];
  return stems.some((one) => page.includes(` ${one}`));
};

// Within a page, what is quoted comes first, then the section with the words: its beginning loses
// the favor that Material does it. And no word is called missing that the page has.
const EVEN = 1.05; // a section that is no better than its page isn't shown
const rank = ({ location }) => first.get(location) ?? 0;
const mend = (item) => {
  const page = known.pages.get(pageOf(item[0]));
  const there = new Set(item.flatMap(({ terms }) => Object.keys(terms).filter((term) => terms[term])));
  const isThere = (term) => there.has(term) || flat(term).every((word) => has(page, word));
  const best = item[0].score;
  for (const one of item) {
    const terms = Object.keys(one.terms);
    const share = terms.filter((term) => one.terms[term]).length / terms.length;
    const isTop = terms.length && !one.location.includes("#");
    if (isTop) one.score *= (EVEN * (1 + share ** 2)) / (1 + (1 + share) ** 2);
    for (const term of terms) if (!one.terms[term] && isThere(term)) delete one.terms[term];
  }
  item.sort((a, b) => rank(b) - rank(a) || b.score - a.score);
  item[0].score = best; // what has less is folded
};

// Put pages with what is quoted before the rest. Otherwise, what a section has of the query counts
// more than how often, a rare word more than a frequent one, and a tag that is in the query as a whole
// more than its words; and the whole page counts a little more than its section.
const WHOLE = 0.6;
let first = new Map();
let worth = new Map(); // of each page, as a whole
let tags = new Map(); // of each page with a tag of several words that the query has: with how many
const ordered = ({ data: message }) => {
  if (message?.type !== RESULT) return;
  const { items } = message.data;
  const places = {}; // in how many sections each word is
  for (const { terms } of items.flat()) {
    for (const term of Object.keys(terms)) places[term] = (places[term] ?? 0) + terms[term];
  }
  const weight = (term) => Math.log(1 + index.docs.length / (places[term] || 1));
  const sum = (terms) => terms.reduce((all, term) => all + weight(term), 0);
  const value = ({ terms, score }) => {
    const words = Object.keys(terms);
    return words.length && score * (sum(words.filter((word) => terms[word])) / sum(words)) ** 1.5;
  };
  const best = (item, what) => Math.max(...item.map(what));
  const named = (item) => Math.max(1, tags.get(pageOf(item[0])) ?? 0);
  const wholly = (item) => Math.max(worth.get(pageOf(item[0])) ?? 0, 1e-9); // not nothing
  const pages = items.map((item) => ({
    item,
    most: best(item, rank),
    value: ((1 + named(item)) * best(item, value)) ** (1 - WHOLE) * wholly(item) ** WHOLE,
  }));
  items.forEach(mend);
  pages.sort((a, b) => b.most - a.most || b.value - a.value);
  message.data.items = pages.map(({ item }) => item);
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
