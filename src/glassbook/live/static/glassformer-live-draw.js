// Pictures of attention, as SVG: all heads, one head as a heat map or as arcs, one score in detail.
// A result has `tokens` and `attentions`, `query`, `key`: each { data, dims }.

const SVG = 'xmlns="http://www.w3.org/2000/svg"';
const FONT = 'font-family="system-ui,sans-serif"';
export const escape = (text) => String(text).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
const short = (token) => (token.length > 14 ? `${token.slice(0, 13)}…` : token);
// The figures of a weight: one that would be written as 0 is said to be less.
export const written = (weight) => (weight >= 0.005 ? weight.toFixed(2) : weight > 0 ? "< 0.01" : "0");

// The weights of one head: row after row, a row for each query.
export function headOf({ attentions: { data, dims } }, layer, head) {
  const size = dims[2] * dims[3];
  const start = (layer * dims[1] + head) * size;
  return data.subarray(start, start + size);
}

// Weights as the pixels of one image: `heads` of them side by side, in rows.
function image(blocks, across, seq, color) {
  const down = Math.ceil(blocks.length / across);
  const canvas = document.createElement("canvas");
  canvas.width = across * (seq + 1) - 1;
  canvas.height = down * (seq + 1) - 1;
  const context = canvas.getContext("2d");
  const probe = document.createElement("canvas").getContext("2d");
  probe.fillStyle = color;
  probe.fillRect(0, 0, 1, 1);
  const [red, green, blue] = probe.getImageData(0, 0, 1, 1).data;
  blocks.forEach((weights, number) => {
    const pixels = context.createImageData(seq, seq);
    for (let i = 0; i < weights.length; i++)
      pixels.data.set([red, green, blue, Math.round(12 + 243 * weights[i])], 4 * i);
    context.putImageData(pixels, (number % across) * (seq + 1), Math.floor(number / across) * (seq + 1));
  });
  return canvas.toDataURL();
}

const picture = (href, x, y, width, height) =>
  `<image href="${href}" x="${x}" y="${y}" width="${width}" height="${height}" preserveAspectRatio="none" style="image-rendering:pixelated"/>`;

// All heads, a row for each layer; the chosen one is framed. Their names are at the left and above.
const [LEFT, ABOVE, HEAD] = [64, 58, 52];
export function overview(result, { layer, head }, colors) {
  const [layers, heads, seq] = result.attentions.dims;
  const [left, top, cell] = [LEFT, ABOVE, HEAD];
  const [width, height] = [heads * cell, layers * cell];
  const blocks = [];
  for (let l = 0; l < layers; l++) for (let h = 0; h < heads; h++) blocks.push(headOf(result, l, h));
  const gap = cell / (seq + 1);
  const labels = [
    `<text x="${left + width / 2}" y="20" text-anchor="middle">head →</text><text transform="translate(20 ${top + height / 2}) rotate(-90)" text-anchor="middle">← layer</text>`,
    ...Array.from({ length: layers }, (_, l) => `<text x="${left - 8}" y="${top + (l + 0.5) * cell + 8}" text-anchor="end">${l}</text>`),
    ...Array.from({ length: heads }, (_, h) => `<text x="${left + (h + 0.5) * cell}" y="${top - 10}" text-anchor="middle">${h}</text>`),
  ];
  return (
    `<svg ${SVG} ${FONT} viewBox="0 0 ${left + width} ${top + height}" font-size="23" fill="${colors.ink}">${labels.join("")}` +
    picture(image(blocks, heads, seq, colors.cell), left, top, width - gap, height - gap) +
    `<rect x="${left + head * cell - 2}" y="${top + layer * cell - 2}" width="${cell - gap + 4}" height="${cell - gap + 4}" fill="none" stroke="${colors.mark}" stroke-width="3"/></svg>`
  );
}

// Where a pointer is in `overview`: a layer and a head, both from 0.
export function headAt(x, y, { dims: [layers, heads] }) {
  const [head, layer] = [Math.floor((x - LEFT) / HEAD), Math.floor((y - ABOVE) / HEAD)];
  return head >= 0 && head < heads && layer >= 0 && layer < layers ? { layer, head } : null;
}

// How a heat map is laid out: the space for words, and the size of a cell.
export function layout(tokens) {
  const label = Math.min(Math.max(64, 10 + 8.3 * Math.max(...tokens.map((token) => short(token).length))), 118);
  const cell = Math.max(2.2, Math.min(44, (640 - label) / tokens.length));
  return { label, cell, size: cell * tokens.length };
}

// One head: a row for each query, a column for each key. The cursor frames a cell.
export function heatmap(result, { layer, head, query, key }, colors) {
  const { tokens } = result;
  const { label, cell, size } = layout(tokens);
  const weights = headOf(result, layer, head);
  const seq = tokens.length;
  const font = Math.min(13, cell * 0.95);
  const parts = [picture(image([weights], 1, seq, colors.cell), label, label, size, size)];
  parts.push(`<text x="${label - 6}" y="14" text-anchor="end" font-size="12">key →</text><text x="${label - 6}" y="${label - 8}" text-anchor="end" font-size="12">query ↓</text>`);
  tokens.forEach((token, i) => {
    const middle = label + (i + 0.5) * cell;
    const [row, column] = [i === query ? ' font-weight="700"' : "", i === key ? ' font-weight="700"' : ""];
    if (font < 7 && i !== query && i !== key && i % Math.ceil(9 / cell)) return;
    const shown = Math.max(font, 9);
    parts.push(`<text x="${label - 6}" y="${middle + shown * 0.35}" text-anchor="end" font-size="${shown}"${row}>${escape(short(token))}</text>`);
    parts.push(`<text transform="translate(${middle + shown * 0.35} ${label - 6}) rotate(-90)" font-size="${shown}"${column}>${escape(short(token))}</text>`);
  });
  if (cell >= 30)
    weights.forEach((weight, i) => {
      if (weight < 0.095) return;
      const [x, y] = [label + ((i % seq) + 0.5) * cell, label + (Math.floor(i / seq) + 0.5) * cell];
      parts.push(`<text x="${x}" y="${y + 4}" text-anchor="middle" font-size="12" fill="${colors.number}">${weight.toFixed(2).slice(weight < 0.995 ? 1 : 0)}</text>`);
    });
  parts.push(`<rect x="${label + key * cell}" y="${label + query * cell}" width="${cell}" height="${cell}" fill="none" stroke="${colors.mark}" stroke-width="2.5"/>`);
  return `<svg ${SVG} ${FONT} viewBox="0 0 ${label + size + 2} ${label + size + 2}" fill="${colors.ink}">${parts.join("")}</svg>`;
}

export const ROW = 26; // the height of a token's line

// The same head as lines from each query, on the left, to each key; the chosen query's are strong.
export function arcs(result, { layer, head, query }, colors) {
  const { tokens } = result;
  const weights = headOf(result, layer, head);
  const seq = tokens.length;
  const least = seq > 40 ? 0.1 : 0.01;
  const y = (i) => (i + 0.5) * ROW;
  const lines = [];
  for (let q = 0; q < seq; q++)
    for (let k = 0; k < seq; k++) {
      const weight = weights[q * seq + k];
      if (weight < least) continue;
      const strength = (q === query ? 1 : 0.28) * weight;
      lines.push([q === query, `<path d="M104 ${y(q)}C155 ${y(q)} 175 ${y(k)} 226 ${y(k)}" fill="none" stroke="${colors.cell}" stroke-width="${q === query ? 3.2 : 2}" stroke-opacity="${strength.toFixed(3)}"/>`]);
    }
  lines.sort(([a], [b]) => a - b);
  const words = tokens.map((token, i) => {
    const weight = weights[query * seq + i];
    const beside = weight >= 0.005 ? ` <tspan fill-opacity=".7">${written(weight)}</tspan>` : "";
    return (
      `<text x="98" y="${y(i) + 4.5}" text-anchor="end"${i === query ? ' font-weight="700"' : ""}>${escape(short(token))}</text>` +
      `<text x="232" y="${y(i) + 4.5}">${escape(short(token))}${beside}</text>`
    );
  });
  return `<svg ${SVG} ${FONT} viewBox="0 0 370 ${seq * ROW}" font-size="13" fill="${colors.ink}">${lines.map(([, line]) => line).join("")}${words.join("")}</svg>`;
}

// One score element by element: the query's numbers, the key's, and their products.
export function detail(result, { layer, head, query, key }, colors, scale) {
  const width = result.query.dims[3];
  const row = ({ data, dims }, i) => data.subarray(((layer * dims[1] + head) * dims[2] + i) * width, ((layer * dims[1] + head) * dims[2] + i + 1) * width);
  const [q, k] = [row(result.query, query), row(result.key, key)];
  const products = q.map((value, i) => value * k[i]);
  const sum = products.reduce((total, value) => total + value, 0);
  const score = sum * scale;
  const rows = [
    [`q of ${short(result.tokens[query])}`, q, colors.query],
    [`k of ${short(result.tokens[key])}`, k, colors.key],
    ["products", products, colors.cell],
  ];
  const step = 15;
  const left = 130;
  const drawn = rows.map(([name, values, color], number) => {
    const middle = 34 + number * 74;
    const most = Math.max(...values.map(Math.abs), 1e-9);
    const bars = Array.from(values, (value, i) => {
      const height = (32 * Math.abs(value)) / most;
      return `<rect x="${left + i * step}" y="${value < 0 ? middle : middle - height}" width="${step - 3}" height="${height}" fill="${number === 2 && value < 0 ? colors.negative : color}"><title>${value.toFixed(3)}</title></rect>`;
    });
    return `<text x="${left - 10}" y="${middle + 4}" text-anchor="end">${escape(name)}</text><text x="${left + width * step + 6}" y="${middle + 4}" fill-opacity=".7">±${most.toFixed(1)}</text><path d="M${left} ${middle}h${width * step}" stroke="${colors.ink}" stroke-opacity=".3"/>${bars.join("")}`;
  });
  const division = scale === 1 ? "not divided" : `÷ √${width}`;
  const weight = headOf(result, layer, head)[query * result.tokens.length + key];
  const text = `The products add up to ${sum.toFixed(2)}; ${division}: a score of ${score.toFixed(2)}. After the softmax over all keys: ${written(weight)}.`;
  return {
    svg: `<svg ${SVG} ${FONT} viewBox="0 0 ${left + width * step + 60} 222" font-size="13" fill="${colors.ink}">${drawn.join("")}</svg>`,
    text,
  };
}

// A matrix with words at its rows and columns: the largest number has the strongest color.
export function matrix(weights, rows, columns, colors, most = 1) {
  const widest = (words) => Math.max(...words.map((word) => 18 + 8.3 * short(word).length));
  const [left, top] = [widest(rows), widest(columns)];
  const cell = 34;
  const parts = [];
  rows.forEach((word, i) => parts.push(`<text x="${left - 6}" y="${top + (i + 0.5) * cell + 4.5}" text-anchor="end">${escape(short(word))}</text>`));
  columns.forEach((word, i) => parts.push(`<text transform="translate(${left + (i + 0.5) * cell + 4.5} ${top - 6}) rotate(-90)">${escape(short(word))}</text>`));
  weights.forEach((weight, i) => {
    const [x, y] = [left + (i % columns.length) * cell, top + Math.floor(i / columns.length) * cell];
    const strength = Math.abs(weight) / most;
    parts.push(`<rect x="${x}" y="${y}" width="${cell}" height="${cell}" fill="${weight < 0 ? colors.negative : colors.cell}" fill-opacity="${(0.05 + 0.95 * strength).toFixed(3)}"/>`);
    const digits = most > 1 ? weight.toFixed(1) : weight.toFixed(2).replace(/^(-?)0/, "$1");
    if (strength >= 0.095) parts.push(`<text x="${x + cell / 2}" y="${y + cell / 2 + 4}" text-anchor="middle" font-size="11" fill="${colors.number}">${digits}</text>`);
  });
  const [width, height] = [left + columns.length * cell + 2, top + rows.length * cell + 2];
  return `<svg ${SVG} ${FONT} viewBox="0 0 ${width} ${height}" style="max-width:${1.3 * width}px" font-size="13" fill="${colors.ink}">${parts.join("")}</svg>`;
}

// Rows of numbers of any size as a matrix, and as a table.
export function values(rows, names, columns, colors) {
  const all = rows.flatMap((row) => [...row]);
  const most = Math.max(...all.map(Math.abs));
  const [words, heads] = [names.map(String), columns.map(String)];
  return {
    svg: matrix(all, words, heads, colors, most),
    table: [["", ...heads], ...words.map((word, i) => [word, ...Array.from(rows[i], (value) => value.toFixed(2))])],
  };
}

const CELLS = 48; // numbers of a vector that are drawn

// Vectors as rows of colored cells with their lengths, one tensor below another, on one scale or
// apart; a scale ends below the few largest.
export function strips(tensors, titles, words, colors, first = 0, apart = false) {
  const [cell, row, high] = [7, 15, 15 * words.length + 28];
  const cellsOf = (vector) => [...vector.slice(first, first + CELLS)];
  const left = Math.max(...words.map((word) => 10 + 7.6 * short(word).length));
  const count = tensors[0][0].length;
  const right = left + cell * Math.min(CELLS, count);
  const parts = [`<text x="${right + 44}" y="18" text-anchor="end" font-size="12" fill-opacity=".8">${count > CELLS ? `length of all ${count}` : "length"}</text>`];
  const table = [["vector", "length", "numbers"]];
  tensors.forEach((vectors, k) => {
    const top = 26 + k * high;
    const sizes = (apart ? vectors : tensors.flat()).flatMap(cellsOf).map(Math.abs).filter(Boolean).sort((a, b) => a - b);
    const end = sizes[Math.round(0.98 * (sizes.length - 1))] ?? 1;
    parts.push(`<text x="${left}" y="${top - 8}" font-weight="600">${escape(titles[k])}</text>`);
    vectors.forEach((vector, i) => {
      const length = Math.hypot(...vector).toFixed(1);
      const baseline = top + (i + 0.5) * row + 4.5;
      parts.push(`<text x="${left - 7}" y="${baseline}" text-anchor="end">${escape(short(words[i]))}</text><text x="${right + 44}" y="${baseline}" text-anchor="end">${length}</text>`);
      cellsOf(vector).forEach((value, j) => {
        const strength = Math.min(1, Math.abs(value) / end).toFixed(2);
        parts.push(`<rect x="${left + j * cell}" y="${top + i * row}" width="${cell}" height="${row}" fill="${value < 0 ? colors.negative : colors.cell}" fill-opacity="${strength}"/>`);
      });
      parts.push(`<path d="M${left} ${top + i * row}H${right}" stroke="${colors.ink}" stroke-opacity=".25"/>`);
      table.push([`${titles[k]}: ${words[i]}`, length, ...cellsOf(vector).slice(0, 3).map((value) => value.toFixed(2))]);
    });
  });
  const width = right + 48;
  return { svg: `<svg ${SVG} ${FONT} viewBox="0 0 ${width} ${6 + tensors.length * high}" style="max-width:${1.2 * width}px" font-size="12.7" fill="${colors.ink}">${parts.join("")}</svg>`, table };
}
