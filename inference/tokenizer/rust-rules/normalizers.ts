// How the Rust tokenizers normalise a text before it is cut.

import { ACCENT, CONTROL, normaliseAsRust, trimEndAsRust, trimStartAsRust, type Form } from './unicode.ts';

export interface Normalizer {
  /** Of a sequence. */
  readonly normalizers?: readonly (Normalizer | null)[];
  normalize(text: string): string;
}

type Config = Readonly<Record<string, unknown>>;

export function mendNormalizer(part: Normalizer | null, config: Config): void {
  if (!part) return;
  const nested = (config['normalizers'] ?? []) as Config[];
  part.normalizers?.forEach((inner, i) => mendNormalizer(inner, nested[i] ?? {}));
  const normalize = normalizerOf(config);
  if (normalize) part.normalize = normalize;
}

function normalizerOf(config: Config): ((text: string) => string) | null {
  switch (config['type']) {
    case 'NFC':
    case 'NFD':
    case 'NFKC':
    case 'NFKD':
      return (text) => normaliseAsRust(text, config['type'] as Form);
    case 'Strip':
      return (text) => {
        const left = config['strip_left'] ? trimStartAsRust(text) : text;
        return config['strip_right'] ? trimEndAsRust(left) : left;
      };
    case 'Lowercase':
      return lowercase;
    case 'BertNormalizer':
      return (text) => bert(text, config);
    default:
      return null;
  }
}

/** Letter by letter: a sigma at the end of a word is one like any other. */
function lowercase(text: string): string {
  return text.includes('Σ') ? text.replaceAll('Σ', 'σ').toLowerCase() : text.toLowerCase();
}

const CHINESE =
  /[\u4e00-\u9fff\u3400-\u4dbf\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b920}-\u{2ceaf}\uf900-\ufaff\u{2f800}-\u{2fa1f}]/gu;

function bert(text: string, { clean_text, handle_chinese_chars, strip_accents, lowercase: lower }: Config): string {
  let done = text;
  if (clean_text) {
    const kept = Array.from(done).filter((char) => !dropped(char));
    done = kept.join('').replace(/\p{White_Space}/gu, ' ');
  }
  if (handle_chinese_chars) done = done.replace(CHINESE, ' $& ');
  if (strip_accents ?? lower) done = normaliseAsRust(done, 'NFD').replace(ACCENT, '');
  return lower ? lowercase(done) : done;
}

function dropped(char: string): boolean {
  if (char === '\t' || char === '\n' || char === '\r') return false;
  return char === '\0' || char === '\ufffd' || CONTROL.test(char);
}
