// The programs that the sandbox and the judge of code are tried with, from the tables in programs/*.yaml.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { InputOutput } from '../../domain/query/query.ts';

export interface Program {
  readonly name: string;
  readonly program: string;
}
/** A program with its cases. */
export interface Honest extends Program {
  readonly io: InputOutput;
}
interface Problem {
  readonly name: string;
  /** Python parameters with their types. */
  readonly params: string;
  /** The body of `solve`. */
  readonly body: string;
  readonly calls: readonly (readonly unknown[])[];
  readonly expected: readonly unknown[];
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

const indented = (text: string, by: number) => text.replace(/^/gm, ' '.repeat(by));
const bare = (params: string) => params.replace(/:[^,]*(?:\[[^\]]*\]+)?/g, '');

function asFunction({ name, params, body, calls, expected }: Problem): Honest {
  const io = { fn_name: 'solve', inputs: calls, outputs: expected.map((value) => [value]) };
  return { name: `${name}: function`, io, program: `def solve(${bare(params)}):\n${indented(body, 4)}` };
}

function asMethod({ name, params, body, calls, expected }: Problem): Honest {
  const lines = calls.map((args) => args.map((arg) => JSON.stringify(arg)).join('\n'));
  const io = { fn_name: 'solve', inputs: lines, outputs: expected.map((value) => JSON.stringify(value)) };
  return {
    name: `${name}: method`,
    io,
    program: `class Solution:\n    def solve(self, ${params}):\n${indented(body, 8)}`,
  };
}

const printed = ({ calls, expected }: Problem): InputOutput => ({
  inputs: calls.map((args) => JSON.stringify(args)),
  outputs: expected.map((value) => pythonJson(value)),
});

/** As Python's json.dumps writes it, with its own characters. */
function pythonJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(', ')}]`;
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([key, item]) => `${JSON.stringify(key)}: ${pythonJson(item)}`)
      .join(', ')}}`;
  return JSON.stringify(value);
}

function asProgram(problem: Problem): Honest {
  const program = `import json, sys, math, heapq, itertools, datetime
from math import sqrt, gcd, isqrt, inf
from collections import *
from functools import lru_cache
from itertools import *
from heapq import *
from bisect import *
from typing import *

def solve(${problem.params}):
${indented(problem.body, 4)}

if __name__ == '__main__':
    print(json.dumps(solve(*json.loads(sys.stdin.read())), ensure_ascii=False))`;
  return { name: `${problem.name}: program`, io: printed(problem), program };
}

function asThread(problem: Problem): Honest {
  const program = `import sys, threading, json
sys.setrecursionlimit(10**6)
threading.stack_size(1 << 26)
def solve(${bare(problem.params)}):
${indented(problem.body, 4)}
def main():
    args = json.loads(input())
    sys.stdout.write(json.dumps(solve(*args), ensure_ascii=False) + "\\n")
t = threading.Thread(target=main)
t.start()
t.join()`;
  return { name: `${problem.name}: thread`, io: printed(problem), program };
}

/** Reads n and n numbers, prints their sum: in every dialect. */
const SUM: InputOutput = {
  inputs: ['3\n1 2 3\n', '1\n-5\n', '2\n1000000000000 1\n'],
  outputs: ['6\n', '-5\n', '1000000000001\n'],
};
const honest = table('honest') as {
  problems: readonly Problem[];
  sums: Readonly<Record<string, string>>;
  rules: readonly Honest[];
};

const FORMS = [asFunction, asThread, asMethod, asProgram] as const;
export const HONEST: readonly Honest[] = [
  // Each problem in one of the forms.
  ...honest.problems.map((problem, i) => FORMS[i % FORMS.length]!(problem)),
  ...Object.entries(honest.sums).map(([name, program]) => ({ name: `input: ${name}`, io: SUM, program })),
  ...honest.rules.map((rule) => ({ ...rule, name: `rule: ${rule.name}` })),
];
