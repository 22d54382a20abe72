// Colours on a terminal that supports them, none elsewhere.

import { styleText } from 'node:util';
import type { Io, Stream } from '../io.ts';

export type Tint = 'bold' | 'dim' | 'green' | 'red' | 'yellow' | 'cyan';
export type Paint = (tint: Tint, text: string) => string;

/** NO_COLOR and FORCE_COLOR as usual; otherwise colours if the stream is a terminal. */
export function paintFor(stream: Stream, env: Io['env']): Paint {
  const forced = env['FORCE_COLOR'];
  const wanted = env['NO_COLOR'] ? false : forced ? forced !== '0' : stream.isTTY === true && env['TERM'] !== 'dumb';
  return wanted ? (tint, text) => styleText(tint, text, { validateStream: false }) : (_, text) => text;
}
