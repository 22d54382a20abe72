// The tests of LiveCodeBench: JSON in a text, or Base64 of zlib of a pickle of that text. The pickle is never executed: the one
// text that it holds is read out of its opcodes, and any other pickle is refused.

import { inflateSync } from 'node:zlib';
import { isObject } from '../../domain/schema/fields.ts';
import { failRow } from './row-fault.ts';

interface Case {
  readonly input: unknown;
  readonly output: unknown;
}

const MOST_BYTES = 1 << 28;

/** Throws a RowError. */
export function unpackedTests(field: string, value: unknown): readonly Case[] {
  const list = typeof value === 'string' ? fromText(field, value) : value;
  const isCase = (one: unknown): boolean => isObject(one) && 'input' in one && 'output' in one;
  if (!Array.isArray(list) || !list.every(isCase))
    return failRow(
      field,
      'is no list of cases',
      'Give [{"input": …, "output": …}], also packed as LiveCodeBench has it.',
    );
  return list as Case[];
}

function fromText(field: string, text: string): unknown {
  const said = text.trimStart().startsWith('[') ? text : unpacked(text);
  try {
    if (said !== undefined) return JSON.parse(said);
  } catch {
    // Reported below.
  }
  return failRow(field, 'is neither JSON nor packed JSON', 'Leave it as the data set has it, or give a list of cases.');
}

function unpacked(text: string): string | undefined {
  try {
    return textOfPickle(inflateSync(Buffer.from(text, 'base64'), { maxOutputLength: MOST_BYTES }));
  } catch {
    return undefined;
  }
}

const PROTO = 0x80;
const FRAME = 0x95;
const STOP = 0x2e;
/** BINUNICODE, SHORT_BINUNICODE, BINUNICODE8: the bytes of the length that follows. */
const TEXTS: Readonly<Record<number, 1 | 4 | 8>> = { 0x58: 4, 0x8c: 1, 0x8d: 8 };
/** What notes an object for later, with the bytes of its place: BINPUT, LONG_BINPUT, MEMOIZE. */
const NOTES: Readonly<Record<number, number>> = { 0x71: 1, 0x72: 4, 0x94: 0 };

/** Undefined for a pickle of anything but one text. Throws where it ends early. */
function textOfPickle(pickle: Buffer): string | undefined {
  let at = 0;
  let text: string | undefined;
  for (;;) {
    const code = pickle.readUInt8(at++);
    const sized = TEXTS[code];
    if (code === STOP) return at === pickle.length ? text : undefined;
    if (code === PROTO) at += 1;
    else if (code === FRAME) at += 8;
    else if (NOTES[code] !== undefined) at += NOTES[code];
    else if (sized !== undefined && text === undefined) {
      const length = sized === 8 ? Number(pickle.readBigUInt64LE(at)) : pickle.readUIntLE(at, sized);
      at += sized + length;
      if (at > pickle.length) return undefined;
      text = pickle.toString('utf8', at - length, at);
    } else return undefined;
  }
}
