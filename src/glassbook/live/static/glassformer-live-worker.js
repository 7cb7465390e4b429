// Models in a thread of their own, so the page never waits: downloads, unpacks, and runs them.
const KEPT = "glassformer-live";
const LARGE = 100e6; // bytes of weights that aren't copied into a faster order: it takes too much memory

class Trouble extends Error {
  constructor(kind, message) {
    super(message);
    this.kind = kind;
  }
}

let runtime; // ONNX Runtime, once
const models = new Map(); // by name: { session, tokenizer, steps }

// Bytes of a file: from what the browser keeps, otherwise downloaded, checked, and kept.
async function bytesOf(file, progress) {
  const store = await self.caches?.open(KEPT).catch(() => null);
  const kept = await store?.match(file.url).catch(() => null);
  if (kept) {
    const bytes = new Uint8Array(await kept.arrayBuffer());
    if (await isWhole(bytes, file)) {
      progress(bytes.length);
      return { bytes, isKept: true };
    }
    await store.delete(file.url);
  }
  const bytes = await download(file, progress);
  if (!(await isWhole(bytes, file)))
    throw new Trouble("corrupt", `${file.name} arrived damaged (${bytes.length} of ${file.size} bytes).`);
  let isKept = Boolean(store);
  await store?.put(file.url, new Response(bytes)).catch(() => (isKept = false));
  return { bytes, isKept };
}

async function download(file, progress) {
  let response;
  try {
    response = await fetch(file.url, { cache: "no-store" });
  } catch {
    throw new Trouble("blocked", `${file.name} could not be downloaded.`);
  }
  if (!response.ok) throw new Trouble("blocked", `${file.name} could not be downloaded: the server answered ${response.status}.`);
  const parts = [];
  const reader = response.body.getReader();
  try {
    for (let part; !(part = await reader.read()).done; ) {
      parts.push(part.value);
      progress(part.value.length);
    }
  } catch {
    throw new Trouble("blocked", `The download of ${file.name} broke off.`);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

// Where a page isn't secure, browsers don't offer hashes; then the size has to do.
async function isWhole(bytes, file) {
  if (bytes.length !== file.size) return false;
  if (!self.crypto?.subtle) return true;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("") === file.sha256;
}

async function unzipped(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

// The weights of all parts, in float32; a part that's unpacked isn't needed any longer.
async function weightsOf(name, got, module, { total, parts }) {
  const { unpack } = await import(module);
  const weights = new Float32Array(total / 4);
  for (const [number, tensors] of parts.entries()) {
    const file = `${name}.weights${number ? `-${number + 1}` : ""}`;
    unpack(await unzipped(got[file]), tensors, weights);
    delete got[file];
  }
  return new Uint8Array(weights.buffer);
}

async function load({ name, files, packing }, progress) {
  if (models.has(name)) return { isKept: true };
  if (typeof WebAssembly === "undefined") throw new Trouble("unsupported", "This browser has no WebAssembly.");
  const got = {};
  let isKept = true;
  for (const file of files.downloads) {
    const found = await bytesOf(file, progress);
    got[file.name] = found.bytes;
    isKept &&= found.isKept;
  }
  try {
    if (!runtime) {
      runtime = await import(files.runtime);
      runtime.env.wasm.numThreads = 1;
      runtime.env.wasm.wasmBinary = (await unzipped(got[files.downloads[0].name])).buffer;
    }
    const graph = await unzipped(got[`${name}.graph`]);
    const data = await weightsOf(name, got, files.unpack, packing);
    const session = await runtime.InferenceSession.create(graph, {
      executionProviders: [files.provider ?? "wasm"],
      logSeverityLevel: 3, // errors: WebGPU leaves what computes shapes to the processor, and says so
      externalData: [{ path: "weights", data }],
      graphOptimizationLevel: "all",
      extra: { session: { disable_prepacking: packing.total > LARGE ? "1" : "0" } },
    });
    const tokenizer = await tokenizerOf(files.tokenizers, got[`${name}.tokenizer`]);
    const steps = files.steps && new (await import(files.steps)).Steps(runtime, session, files.cache);
    models.set(name, { session, tokenizer, steps });
  } catch (error) {
    const isMemory = /memory|allocat|range/i.test(`${error?.name} ${error?.message ?? error}`);
    throw isMemory
      ? new Trouble("memory", "There isn't enough free memory for the model.")
      : new Trouble("failed", `The model could not be started: ${error?.message ?? error}`);
  }
  return { isKept };
}

async function tokenizerOf(module, bytes) {
  if (!bytes) return null;
  const { Tokenizer } = await import(module);
  const [tokenizer, config] = JSON.parse(new TextDecoder().decode(await unzipped(bytes)));
  return new Tokenizer(tokenizer, config);
}

// Token ids of a text, or of a pair of texts; cut after `most` tokens, as Python's tokenizer cuts.
function tokenize({ name, text, pair, most }) {
  const { tokenizer } = models.get(name);
  const encoding = tokenizer.encode(text, { text_pair: pair || null, return_token_type_ids: true });
  return { ids: encoding.ids, tokens: encoding.tokens, types: encoding.token_type_ids };
}

// What each token says by itself.
function vocabulary({ name }) {
  const { tokenizer } = models.get(name);
  return Array.from(tokenizer.get_vocab().values(), (id) => tokenizer.decode([id]));
}

const decode = ({ name, ids }) => (ids.length ? models.get(name).tokenizer.decode(ids) : "");

async function step({ name, ids, layers }) {
  const start = performance.now();
  const outputs = await models.get(name).steps.read(ids, layers);
  return { outputs, ms: performance.now() - start };
}

async function run({ name, feeds, wanted }) {
  const { session } = models.get(name);
  const tensors = Object.fromEntries(
    Object.entries(feeds).map(([key, { type, data, dims }]) => [key, new runtime.Tensor(type, data, dims)]),
  );
  const start = performance.now();
  const results = await session.run(tensors, wanted ?? session.outputNames);
  const outputs = Object.fromEntries(
    Object.entries(results).map(([key, { data, dims }]) => [key, { data, dims }]),
  );
  return { outputs, ms: performance.now() - start };
}

const jobs = { load, tokenize, vocabulary, decode, run, step };
let last = Promise.resolve(); // one job after another

self.onmessage = ({ data: { id, job, given } }) => {
  last = last.then(async () => {
    try {
      const result = await jobs[job](given, (bytes) => self.postMessage({ id, bytes }));
      const buffers = Object.values(result.outputs ?? {}).map(({ data }) => data.buffer);
      self.postMessage({ id, result }, buffers);
    } catch (error) {
      self.postMessage({ id, error: { kind: error.kind ?? "failed", message: error.message ?? String(error) } });
    }
  });
};
