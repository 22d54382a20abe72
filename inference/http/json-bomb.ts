// Rejects a body that is too deep, too wide or has too many parts to be parsed. One pass over the bytes, without a
// buffer: parsing two million brackets, a million keys or a list of empty lists costs a hundred times as much as
// sending them.

/** Answers are four levels deep, with a handful of parts per token. */
const MAX_DEPTH = 64;
const MAX_KEYS = 10_000;
const MAX_PARTS = 2_000_000;

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Takes a body in pieces. Returns the first fault, to be appended to "sent an answer". */
export function bombCheck(): (piece: Buffer) => string | undefined {
  const keys: number[] = [0];
  let parts = 0;
  let inText = false;
  /** True if the previous piece ended with an odd number of backslashes. */
  let escaping = false;
  return (piece) => {
    for (let at = 0; at < piece.length; at++) {
      if (inText) {
        // Most of an answer is strings: indexOf skips them fastest.
        const quote = piece.indexOf(QUOTE, at);
        const end = quote < 0 ? piece.length : quote;
        let start = end;
        while (start > at && piece[start - 1] === BACKSLASH) start--;
        const odd = (end - start) % 2 === 1;
        escaping = start === at ? odd !== escaping : odd;
        if (quote >= 0) {
          inText = escaping;
          escaping = false;
        }
        at = end;
        continue;
      }
      const byte = piece[at]!;
      if (byte === QUOTE) inText = true;
      else if (byte === COMMA) parts++;
      else if (byte === COLON) keys[keys.length - 1]!++;
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
        parts++;
        if (keys.push(0) > MAX_DEPTH) return `nested deeper than ${MAX_DEPTH} levels`;
      } else if ((byte === CLOSE_LIST || byte === CLOSE_OBJECT) && keys.length > 1) keys.pop();
      else continue;
      if (keys.at(-1)! > MAX_KEYS) return `with an object of more than ${MAX_KEYS} keys`;
      if (parts > MAX_PARTS) return `of more than ${MAX_PARTS} parts`;
    }
    return undefined;
  };
}
