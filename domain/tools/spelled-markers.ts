// Markers of calls by their token ids. In a tokenizer that has a token of its own for `<tool_call>`, a model that calls
// samples this token; one that spells the marker with ordinary tokens quotes it, and calls nothing. Guarantees: a text
// whose markers are all tokens is read as it is; nothing of a call's arguments changes.

import type { Marker, WrittenCall } from './tool.ts';

type Decode = (ids: readonly number[]) => Promise<string>;

interface Said {
  readonly outputIds: readonly number[];
  readonly outputText: string;
}

/** Beyond so many markers of a reply nothing is compared: a reply holds eight calls. */
const MOST = 64;

/**
 * The places in the reply's text where ordinary tokens spell a marker. Without `decode`, null if only the tokenizer knows.
 */
export async function spelledMarkers(
  { outputIds, outputText }: Said,
  markers: readonly Marker[],
  decode?: Decode,
): Promise<readonly number[] | null> {
  const spelled: number[] = [];
  for (const { text, id } of markers) {
    const places = placesOf(outputText, text);
    const tokens = outputIds.flatMap((one, i) => (one === id ? [i] : []));
    if (places.length === tokens.length) continue;
    if (!decode) return null;
    const real = new Set<number>();
    for (const i of tokens.slice(0, MOST)) {
      const upTo = await decode(outputIds.slice(0, i + 1));
      // Text that ends within a character is decoded otherwise; a token is never within one.
      if (upTo.endsWith(text)) real.add(upTo.length - text.length);
    }
    spelled.push(...places.slice(0, MOST).filter((place) => !real.has(place)));
  }
  return spelled.toSorted((a, b) => a - b);
}

function placesOf(text: string, part: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) places.push(at);
  return places;
}

/** Read with no marker at those places. `parse` gets the text without them, and what it found gets them back. */
export function readWithout(
  text: string,
  spelled: readonly number[],
  parse: (text: string) => readonly WrittenCall[],
): readonly WrittenCall[] {
  if (spelled.length === 0) return parse(text);
  const sign = freeSign(text);
  let from = 0;
  const parts: string[] = [];
  for (const place of spelled) {
    // Behind its first character: it is no marker any more, and no other text.
    parts.push(text.slice(from, place + 1));
    from = place + 1;
  }
  parts.push(text.slice(from));
  const back = <T extends string | null>(value: T): T => (value === null ? value : (value.replaceAll(sign, '') as T));
  return parse(parts.join(sign)).map(({ error, ...call }) => ({
    name: back(call.name),
    arguments: back(call.arguments),
    id: back(call.id),
    raw: back(call.raw),
    ...(error !== undefined && { error: back(error) }),
  }));
}

/** A character for private use that the text lacks. */
function freeSign(text: string): string {
  for (let code = 0xe000; ; code++) {
    const sign = String.fromCharCode(code);
    if (!text.includes(sign)) return sign;
  }
}
