// The programs that the sandbox and the judge of code are tried with, from the tables in programs/*.yaml.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { InputOutput } from '../../../domain/query/query.ts';

export interface Program {
  readonly name: string;
  readonly program: string;
}
/** A program with its cases. */
export interface Honest extends Program {
  readonly io: InputOutput;
}
const table = (name: string): unknown =>
  parse(readFileSync(join(import.meta.dirname, 'programs', `${name}.yaml`), 'utf8'), { maxAliasCount: -1 });

/** `prelude`: what every attack starts with; `HOST` is put in by the runner. */
export const { prelude: ATTACK_PRELUDE, attacks: ATTACKS } = table('attacks') as {
  prelude: string;
  attacks: readonly Program[];
};

const cheats = table('cheats') as Record<'called' | 'printed' | 'excuses', readonly Program[]>;
export const { called: CALL_CHEATS, printed: PRINT_CHEATS, excuses: EXCUSES } = cheats;

/** How many pairs of numbers below n have a prime sum: nothing a cheat knows. */
export const CALLED: InputOutput = { fn_name: 'solve', inputs: [[20], [35], [50]], outputs: [[77], [202], [380]] };
export const CALLED_AS_TEXT: InputOutput = {
  fn_name: 'solve',
  inputs: ['20', '35', '50'],
  outputs: ['77', '202', '380'],
};
export const PRINTED: InputOutput = { inputs: ['20\n', '35\n', '50\n'], outputs: ['77\n', '202\n', '380\n'] };

/** A number that is known only roughly: nothing that swallows every comparison may pass for it. */
export const ROUGH: InputOutput = { inputs: ['3\n', '7\n'], outputs: ['0.333333\n', '0.142857\n'] };
const ROUGHLY = 'nan|inf|-inf|1e999|0|-0.0|0.3|1e-400|0.333333 0.142857|0x1p-2|1/3|٠.٣٣٣٣٣٣'.split('|');
export const ROUGH_CHEATS: readonly Program[] = ROUGHLY.map((text) => ({
  name: text,
  program: `n = int(input())\nprint(${JSON.stringify(text)})`,
}));

export const HONEST = table('honest') as readonly Honest[];
