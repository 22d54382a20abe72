// `input_output` of a code row: the cases that a program must pass. Also accepted as a text that holds
// the JSON, as data sets in the wild keep it.

import type { InputOutput } from '../domain/query.ts';
import { isObject, kindOf, wrong, type Problem } from './problem.ts';

const EXAMPLE = 'Give {"inputs": […], "outputs": […], "fn_name"?: "…"} with one output per input.';
const MAX_DEPTH = 100;

export function inputOutputOf(value: unknown): InputOutput | Problem {
  const bad = (field: string, problem: string) => wrong(`input_output${field}`, problem, EXAMPLE);
  if (value == null) return bad('', 'is missing, and task is code');
  let parsed = value;
  if (typeof value === 'string') {
    try {
      parsed = JSON.parse(value);
    } catch {
      return bad('', 'is a text that is not JSON');
    }
  }
  if (!isObject(parsed)) return bad('', `is ${kindOf(parsed)}, not an object`);
  const { inputs, outputs, fn_name: name } = parsed;
  if (!Array.isArray(inputs)) return bad('.inputs', `is ${kindOf(inputs)}, not a list`);
  if (!Array.isArray(outputs)) return bad('.outputs', `is ${kindOf(outputs)}, not a list`);
  if (inputs.length === 0) return bad('.inputs', 'is an empty list');
  if (inputs.length !== outputs.length) {
    return bad('.outputs', `has ${outputs.length} entries for ${inputs.length} inputs`);
  }
  if (name != null && (typeof name !== 'string' || name === ''))
    return bad('.fn_name', `is ${name === '' ? 'empty' : kindOf(name)}`);
  if (deeperThan([inputs, outputs], MAX_DEPTH)) {
    return wrong('input_output', `is nested deeper than ${MAX_DEPTH} levels`, 'Flatten it.');
  }
  return { inputs, outputs, ...(typeof name === 'string' ? { fn_name: name } : {}) };
}

/** Level by level: what is nested too deep for this would overflow the stack of whoever writes it out. */
function deeperThan(value: unknown, levels: number): boolean {
  let level: object[] = [value as object];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true;
    level = level.flatMap((node) => Object.values(node).filter((child) => typeof child === 'object' && child !== null));
  }
  return false;
}
