// The calls of a turn as text: a line for each, with what came of it. Names, arguments and outputs are foreign text.

import { oneLine } from '../../domain/text/foreign-text.ts';
import type { CallResult } from '../../domain/tools/tool.ts';
import { plural } from './format.ts';
import type { Paint } from './paint.ts';

const SHOWN_CHARS = 160;

/** `call 1 · price {"fruit":"apple"} → 3  (ok, pure, 12 ms)` */
export function callLines(calls: readonly CallResult[], paint: Paint): string[] {
  return calls.map(({ name, arguments: given, outcome, effect, ms, output }, i) => {
    const facts = [outcome, ...(effect === null ? [] : [effect]), ...(ms === null ? [] : [`${ms} ms`])].join(', ');
    const asked = name === null ? 'unreadable' : `${cut(name)} ${cut(given ?? '')}`;
    const sign = outcome === 'ok' ? '→' : paint('yellow', '→');
    return `  ${paint('bold', `call ${i + 1}`)} · ${asked} ${sign} ${cut(output)}  ${paint('dim', `(${facts})`)}`;
  });
}

/** `price, add (failed)` */
export function calledNames(calls: readonly Pick<CallResult, 'name' | 'outcome'>[]): string {
  const names = calls.map(({ name, outcome }) => {
    const shown = name === null ? 'an unreadable call' : oneLine(name);
    return outcome === 'ok' ? shown : `${shown} (${outcome})`;
  });
  return names.length <= 8
    ? names.join(', ')
    : `${names.slice(0, 8).join(', ')} and ${plural(names.length - 8, 'more', 'more')}`;
}

function cut(text: string): string {
  const line = oneLine(text.slice(0, 4 * SHOWN_CHARS));
  return line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS)}…` : line;
}
