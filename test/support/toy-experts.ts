// The routing of the scripted servers: two layers, two experts of four, which depend on all tokens up to the one that is fed.

/** Numbers of a token: layers times experts. */
export const ROUTING = 4;
/** What config.json says of such a model. */
export const ROUTED_CONFIG = { num_hidden_layers: 2, num_experts: 4, num_experts_per_tok: 2 };

export function expertsOf(fed: readonly number[], type: 'int32' | 'uint8'): Buffer {
  const numbers = fed.flatMap((_, i) => {
    const seen = fed.slice(0, i + 1).reduce((sum, id, at) => (sum * 31 + id * (at + 1)) % 65_521, 7);
    return [seen % 4, (seen + 1) % 4, (seen >> 4) % 4, ((seen >> 4) + 1) % 4];
  });
  return Buffer.from(type === 'int32' ? Int32Array.from(numbers).buffer : Uint8Array.from(numbers).buffer);
}

/** A .npy file, as numpy writes it. */
export function npy(rows: number, data: Buffer): Buffer {
  const head = `{'descr': '|u1', 'fortran_order': False, 'shape': (${rows}, 2, 2), }`;
  const text = `${head.padEnd(128 - 11)}\n`;
  return Buffer.concat([
    Buffer.from('\x93NUMPY\x01\x00', 'latin1'),
    Buffer.from([text.length, 0]),
    Buffer.from(text),
    data,
  ]);
}

export const base64 = (data: Buffer): string => data.toString('base64');
