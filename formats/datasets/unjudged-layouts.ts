// Rows of benchmarks whose answers no judge of ours can judge: rules. Each is refused by its benchmark's name.

import { found, type RowObject } from './names.ts';
import { failRow } from './row-fault.ts';

/** The fields by which the rows of each are known; the first one says what is right. */
const UNJUDGED: readonly (readonly [benchmark: string, what: string, ...fields: string[]])[] = [
  ['IFEval or IFBench', 'rules', 'instruction_id_list', 'kwargs'],
];

/** `states`: the row has a reference answer, too. */
export function mustBeJudged(row: RowObject, states: () => boolean): void {
  const known = UNJUDGED.find(([, , ...fields]) => found(row, fields).length === fields.length);
  if (!known || states()) return;
  const [benchmark, what, field] = known;
  failRow(
    field!,
    `is as in ${benchmark}: ${what}, which no judge here runs`,
    'Judge them by an environment of your own: everturn env new my-judge --python.',
  );
}
