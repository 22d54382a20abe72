// The rollouts that numbers leave out, as lines for stderr: those of damaged records, and those that a person had a part in.

import type { SteeredCount } from '../../domain/rollout/rollout-summary.ts';
import type { Breach } from '../../records/store.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { lines, plural } from '../format.ts';

export function damageLines(broken: readonly Breach[], of = ''): string[] {
  const [first] = broken;
  if (!first) return [];
  const left = `everturn: ${plural(broken.length, 'rollout')}${of} left out: records are damaged`;
  return [`${left}, the first ${first.path}, which ${first.problem}. \`everturn check\` lists all.`];
}

/** Numbers that leave damaged records out are no success: a script reads the code. */
export const damageCode = (...broken: readonly (readonly Breach[])[]): ExitCode =>
  broken.some(({ length }) => length > 0) ? EXIT.breach : EXIT.ok;

/** With the way to count them. */
export function steeredLines({ message, fork }: SteeredCount, of = ''): string[] {
  const line = (n: number, what: string) =>
    n > 0 && `${of}${plural(n, 'rollout')} ${what} left out: --include-steered counts ${n === 1 ? 'it' : 'them'}.`;
  return lines(
    line(message, 'with a person’s message in the context'),
    line(fork, 'of a fork, whose beginning a person chose,'),
  );
}
