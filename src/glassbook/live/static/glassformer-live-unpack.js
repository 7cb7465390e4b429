// Weights as they are sent, unpacked to float32 where the graph expects them.
const BLOCK = 32; // numbers in a block of a GGUF file

// Every number in float16, by its bits.
const HALVES = Array.from({ length: 65536 }, (_, bits) => {
  const [sign, exponent, rest] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return rest ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + rest / 1024) : 2 ** -14 * (rest / 1024));
});

// Each kind writes `count` numbers to `place`, and returns how many bytes it has read.
const KINDS = {
  float32(bytes, at, weights, place, count) {
    weights.set(new Float32Array(bytes.slice(at, at + 4 * count).buffer), place);
    return 4 * count;
  },
  float16(bytes, at, weights, place, count) {
    for (let i = 0; i < count; i++) weights[place + i] = HALVES[bytes[at + 2 * i] | (bytes[at + 2 * i + 1] << 8)];
    return 2 * count;
  },
  // All integers, then the scale of each group, in bfloat16; `unpack` in export.py does the same.
  int8(bytes, at, weights, place, count, size) {
    const integers = new Int8Array(bytes.buffer, bytes.byteOffset + at, count);
    const bits = new Uint32Array(1);
    const scale = new Float32Array(bits.buffer);
    for (let group = 0, there = at + count; group < count / size; group++, there += 2) {
      bits[0] = (bytes[there] | (bytes[there + 1] << 8)) << 16;
      for (let i = group * size; i < (group + 1) * size; i++) weights[place + i] = integers[i] * scale[0];
    }
    return count + (2 * count) / size;
  },
  // Blocks of a GGUF file: a scale, then 32 integers.
  q8_0(bytes, at, weights, place, count) {
    for (let block = 0, there = at; block < count / BLOCK; block++, there += 34) {
      const scale = HALVES[bytes[there] | (bytes[there + 1] << 8)];
      for (let i = 0; i < BLOCK; i++) weights[place + block * BLOCK + i] = scale * ((bytes[there + 2 + i] << 24) >> 24);
    }
    return (34 * count) / BLOCK;
  },
  // A scale, a minimum, and 32 integers of 4 bits, row after row; the graph has them column after
  // column, so all rows' blocks of the same columns are unpacked together.
  q4_1(bytes, at, weights, place, count, rows) {
    const across = count / rows / BLOCK;
    for (let block = 0; block < across; block++)
      for (let row = 0; row < rows; row++) {
        const there = at + 20 * (row * across + block);
        const scale = HALVES[bytes[there] | (bytes[there + 1] << 8)];
        const least = HALVES[bytes[there + 2] | (bytes[there + 3] << 8)];
        let to = place + block * BLOCK * rows + row;
        for (let i = 0; i < 16; i++, to += rows) {
          weights[to] = scale * (bytes[there + 4 + i] & 15) + least;
          weights[to + 16 * rows] = scale * (bytes[there + 4 + i] >> 4) + least;
        }
      }
    return (20 * count) / BLOCK;
  },
};

// A tensor is described by the byte where it starts in the graph's file, how many numbers it has,
// its kind, and for some kinds another size: of a group, or the number of rows.
export function unpack(bytes, tensors, weights) {
  let at = 0;
  for (const [start, count, kind, size] of tensors) at += KINDS[kind](bytes, at, weights, start / 4, count, size);
}
