// `input_output` of a code row: the cases that a program must pass. Also accepted as JSON in a text, as many published
// data sets have it.

import { deeperThan, jsonFacts } from '../../domain/text/json-text.ts';
import type { InputOutput } from '../../domain/query/query.ts';
import type { Inexact } from './names.ts';
import { isObject } from '../../domain/schema/fields.ts';
import { failRow, kindText, shown } from './row-fault.ts';

const EXAMPLE = 'Give {"inputs": […], "outputs": […], "fn_name"?: "…"} with one output per input.';
const MAX_DEPTH = 100;

/** Throws a RowError. */
export function inputOutputOf(value: unknown, inexact: Inexact): InputOutput {
  const bad = (field: string, problem: string, fix = EXAMPLE) => failRow(`input_output${field}`, problem, fix);
  if (value == null) return bad('', 'is missing, and task is code');
  let parsed = value;
  let lost = inexact;
  if (typeof value === 'string') {
    try {
      parsed = JSON.parse(value);
    } catch {
      return bad('', 'is a text that is not JSON');
    }
    const facts = jsonFacts(value, parsed);
    if (facts.doubled !== undefined) return bad('', `has ${shown(facts.doubled)} twice in one object`, 'Keep one.');
    lost = facts.inexact;
  }
  if (!isObject(parsed)) return bad('', `is ${kindText(parsed)}, not an object`);
  const { inputs, outputs, fn_name: name } = parsed;
  if (!Array.isArray(inputs)) return bad('.inputs', `is ${kindText(inputs)}, not a list`);
  if (!Array.isArray(outputs)) return bad('.outputs', `is ${kindText(outputs)}, not a list`);
  if (inputs.length === 0) return bad('.inputs', 'is an empty list');
  if (inputs.length !== outputs.length)
    return bad('.outputs', `has ${outputs.length} entries for ${inputs.length} inputs`);
  if (name != null && (typeof name !== 'string' || name === ''))
    return bad('.fn_name', `is ${name === '' ? 'empty' : kindText(name)}`);
  if (deeperThan([inputs, outputs], MAX_DEPTH))
    return bad('', `is nested deeper than ${MAX_DEPTH} levels`, 'Flatten it.');
  if (lost.size > 0 && holds([inputs, outputs], lost))
    return bad('', 'holds a number with too many digits to be exact', 'Leave that case out, or the row.');
  return { inputs, outputs, ...(typeof name === 'string' ? { fn_name: name } : {}) };
}

/** A case may be a number that lost digits: the expected output would be another one. */
function holds(value: unknown, numbers: Inexact): boolean {
  if (typeof value === 'number') return numbers.has(value);
  return typeof value === 'object' && value !== null && Object.values(value).some((child) => holds(child, numbers));
}
