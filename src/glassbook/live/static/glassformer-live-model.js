// A model in its worker: what each element of a page asks it for, and its download.
export const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

// What an element says of its model, with whole addresses: a worker has another base.
export function filesOf(element) {
  const files = JSON.parse(element.dataset.files);
  const whole = (url) => new URL(url, document.baseURI).href;
  for (const file of files.downloads) file.url = whole(file.url);
  for (const name of files.scripts) files[name] = whole(files[name]);
  if (files.gpu) {
    files.gpu.runtime = whole(files.gpu.runtime);
    files.gpu.download.url = whole(files.gpu.download.url);
  }
  return files;
}

// What to do after a failure, by its kind.
const ADVICE = { blocked: " Press the button to try again.", corrupt: " Press the button to download it again.", memory: " Close other pages, and try again." };

// Whether the browser has WebGPU, on a real graphics processor, and WebAssembly that can wait for it.
async function hasGpu() {
  if (!self.WebAssembly?.Suspending) return false;
  const adapter = await navigator.gpu?.requestAdapter().catch(() => null);
  return Boolean(adapter) && !adapter.info?.isFallbackAdapter;
}

export class Model {
  constructor(files) {
    this.files = this.onCpu = files;
    this.waiting = new Map();
    this.count = 0;
    this.chosen = files.gpu && this.chooseGpu(files);
  }

  async chooseGpu({ gpu, downloads }) {
    if (await hasGpu())
      this.files = { ...this.files, provider: "webgpu", runtime: gpu.runtime, downloads: [gpu.download, ...downloads.slice(1)] };
  }

  // After a failure on the graphics processor, the processor may do it. Return whether it's worth trying.
  leaveGpu({ kind }) {
    if (!this.files.provider || kind === "blocked" || kind === "corrupt") return false;
    this.worker?.terminate();
    this.worker = undefined;
    this.files = this.onCpu;
    return true;
  }

  get size() {
    return this.files.downloads.reduce((total, file) => total + file.size, 0);
  }

  ask(job, given, progress) {
    this.worker ??= this.employ();
    const id = ++this.count;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, progress });
      this.worker.postMessage({ id, job, given });
    });
  }

  employ() {
    if (!self.Worker) throw Object.assign(new Error("This browser has no threads for pages."), { kind: "unsupported" });
    const worker = new Worker(this.files.worker, { type: "module" });
    worker.onmessage = ({ data: { id, bytes, result, error } }) => {
      const { resolve, reject, progress } = this.waiting.get(id);
      if (bytes !== undefined) return progress?.(bytes);
      this.waiting.delete(id);
      if (error) reject(Object.assign(new Error(error.message), { kind: error.kind }));
      else resolve(result);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      for (const { reject } of this.waiting.values())
        reject(Object.assign(new Error("This browser can't run the model in a thread of its own."), { kind: "unsupported" }));
      this.waiting.clear();
      this.worker = this.loading = undefined;
    };
    return worker;
  }

  // Download what isn't kept yet, and start; asked again after a failure, it tries again.
  load(progress) {
    this.loading ??= this.loadOnce(progress).then(
      (state) => Object.assign(this, { isReady: true }, state),
      (error) => {
        this.loading = undefined;
        if (this.leaveGpu(error)) return this.load(progress);
        throw error;
      },
    );
    return this.loading;
  }

  async loadOnce(progress) {
    await this.chosen;
    const { name, packing } = this.files;
    return this.ask("load", { name, packing, files: this.files }, progress);
  }

  start(progress) {
    return this.load(progress);
  }

  async isDownloaded() {
    await this.chosen;
    const store = await self.caches?.open("glassformer-live").catch(() => null);
    if (!store) return false;
    const found = await Promise.all(this.files.downloads.map(({ url }) => store.match(url)));
    return found.every(Boolean);
  }
}

// What all elements do: say how they are, and start their model. Their parts have a `$state`, where
// they speak, a `start` button, and a `progress` bar.
export class LiveElement extends HTMLElement {
  say(text, kind = "") {
    this.parts.$state.textContent = text;
    this.parts.$state.dataset.kind = kind;
  }

  fail(error) {
    this.say(error.message + (ADVICE[error.kind] ?? " What’s below stays as it is."), "error");
  }

  async start() {
    const { parts, model } = this;
    let done = 0;
    parts.progress.hidden = false;
    parts.start.disabled = true;
    this.say(`Downloading ${megabytes(model.size)} MB…`);
    try {
      await model.start((bytes) => {
        done += bytes;
        parts.progress.value = done / model.size;
        if (done >= model.size) this.say("Unpacking…");
      });
      parts.start.textContent = "Read it";
    } finally {
      parts.progress.hidden = true;
      parts.start.disabled = false;
    }
  }
}
