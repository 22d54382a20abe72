// Rows of IFEval and IFBench: instructions by their names, each with its arguments. One that no rule here follows, or that lacks what it is to
// be told, is a bad row.

import { INSTRUCTIONS, isInstruction } from '../../domain/query/instruction.ts';
import type { Query } from '../../domain/query/query.ts';
import { flawOfWritten, isObject } from '../../domain/schema/fields.ts';
import type { JsonObject } from '../../domain/text/json.ts';
import type { RowObject } from './names.ts';
import { failRow, kindText, shown } from './row-fault.ts';

export const isOfRules = (row: RowObject): boolean => row['instruction_id_list'] != null && row['kwargs'] != null;

/** Throws a RowError. */
export function instructionsOf({ instruction_id_list: names, kwargs }: RowObject): NonNullable<Query['instructions']> {
  if (!Array.isArray(names) || names.length === 0)
    return failRow('instruction_id_list', `is ${kindText(names)}`, 'Give a list of at least one name.');
  const told: readonly unknown[] = Array.isArray(kwargs) ? kwargs : [];
  if (told.length !== names.length) failRow('kwargs', 'has not one object for each instruction', 'Give {} for none.');
  return names.map((name: unknown, i) => {
    const at = `instruction_id_list[${i}]`;
    if (!isInstruction(name))
      return failRow(at, `is ${shown(name)}, for which there is no rule`, 'Those of IFEval and IFBench are judged.');
    const given = told[i] ?? {};
    if (!isObject(given)) return failRow(`kwargs[${i}]`, `is ${kindText(given)}, not an object`, 'Give {} for none.');
    // A table has a column for each argument of all.
    const args = Object.fromEntries(Object.entries(given).filter(([, value]) => value != null)) as JsonObject;
    const flaw = flawOfWritten(INSTRUCTIONS[name], args);
    if (flaw !== undefined) failRow(`kwargs[${i}]`, `does not fit ${name}: ${flaw}`, 'Its authors have them all.');
    return { name, args };
  });
}
