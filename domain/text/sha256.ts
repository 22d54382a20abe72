// SHA-256 (FIPS 180-4) of a text's UTF-8 bytes, pure: it also runs inside workflows, where Node's
// crypto does not exist. Lone surrogates are hashed as their three-byte form, so no two texts collide.

const K = /* cube roots of the first 64 primes */ new Uint32Array(64);
const H0 = /* square roots of the first 8 primes */ new Uint32Array(8);
for (let n = 2, i = 0; i < 64; n++) {
  let prime = true;
  for (let d = 2; d * d <= n; d++) if (n % d === 0) prime = false;
  if (!prime) continue;
  const frac = (x: number) => Math.floor((x - Math.floor(x)) * 0x1_0000_0000);
  if (i < 8) H0[i] = frac(Math.sqrt(n));
  K[i++] = frac(Math.cbrt(n));
}

export function sha256Hex(text: string): string {
  const bytes = utf8(text);
  const length = bytes.length;
  const padded = new Uint8Array(((length + 8) >> 6) * 64 + 64);
  padded.set(bytes);
  padded[length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(length / 0x2000_0000));
  view.setUint32(padded.length - 4, (length << 3) >>> 0);

  const h = Uint32Array.from(H0);
  const w = new Uint32Array(64);
  const rot = (x: number, n: number) => (x >>> n) | (x << (32 - n));
  for (let at = 0; at < padded.length; at += 64) {
    for (let i = 0; i < 16; i++) w[i] = view.getUint32(at + 4 * i);
    for (let i = 16; i < 64; i++) {
      const a = w[i - 15]!;
      const b = w[i - 2]!;
      w[i] = w[i - 16]! + (rot(a, 7) ^ rot(a, 18) ^ (a >>> 3)) + w[i - 7]! + (rot(b, 17) ^ rot(b, 19) ^ (b >>> 10));
    }
    let [a, b, c, d, e, f, g, x] = h as unknown as [number, number, number, number, number, number, number, number];
    for (let i = 0; i < 64; i++) {
      const t1 = (x + (rot(e, 6) ^ rot(e, 11) ^ rot(e, 25)) + ((e & f) ^ (~e & g)) + K[i]! + w[i]!) | 0;
      const t2 = ((rot(a, 2) ^ rot(a, 13) ^ rot(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [x, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
    }
    [a, b, c, d, e, f, g, x].forEach((v, i) => (h[i] = h[i]! + v));
  }
  return Array.from(h, (v) => v.toString(16).padStart(8, '0')).join('');
}

function utf8(text: string): Uint8Array {
  const out = new Uint8Array(3 * text.length);
  let at = 0;
  for (const char of text) {
    const c = char.codePointAt(0)!;
    if (c < 0x80) out[at++] = c;
    else {
      if (c < 0x800) out[at++] = 0xc0 | (c >> 6);
      else {
        if (c < 0x10000) out[at++] = 0xe0 | (c >> 12);
        else {
          out[at++] = 0xf0 | (c >> 18);
          out[at++] = 0x80 | ((c >> 12) & 63);
        }
        out[at++] = 0x80 | ((c >> 6) & 63);
      }
      out[at++] = 0x80 | (c & 63);
    }
  }
  return out.subarray(0, at);
}
