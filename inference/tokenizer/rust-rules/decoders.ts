// How the Rust tokenizers put tokens together again to text.

export interface Decoder {
  /** Of a sequence. */
  readonly decoders?: readonly (Decoder | null)[];
  decode_chain(tokens: string[]): string[];
}

type Config = Readonly<Record<string, unknown>>;

export function mendDecoder(part: Decoder | null, config: Config): void {
  if (!part) return;
  const nested = (config['decoders'] ?? []) as Config[];
  part.decoders?.forEach((inner, i) => mendDecoder(inner, nested[i] ?? {}));
  if (config['type'] === 'ByteFallback') part.decode_chain = byteFallback;
  if (config['type'] === 'Metaspace') part.decode_chain = (tokens) => metaspace(tokens, config);
}

const BYTE = /^<0x([0-9A-Fa-f]{2})>$/;

/** Bytes that are no UTF-8 become one U+FFFD each, and a byte order mark stays. */
function byteFallback(tokens: string[]): string[] {
  const texts: string[] = [];
  let bytes: number[] = [];
  const flush = () => {
    if (bytes.length === 0) return;
    try {
      texts.push(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes)));
    } catch {
      for (const _ of bytes) texts.push('\ufffd');
    }
    bytes = [];
  };
  for (const token of tokens) {
    const byte = BYTE.exec(token);
    if (byte) bytes.push(Number.parseInt(byte[1]!, 16));
    else {
      flush();
      texts.push(token);
    }
  }
  flush();
  return texts;
}

/** All marks of the first token go, not only the first. */
function metaspace(tokens: string[], config: Config): string[] {
  const mark = String(config['replacement'] ?? '▁');
  const first = config['prepend_scheme'] === 'never' ? ' ' : '';
  return tokens.map((token, i) => token.replaceAll(mark, i === 0 ? first : ' '));
}
