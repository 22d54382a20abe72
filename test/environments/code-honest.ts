// Correct programs in the ways that people and models write them: functions, methods, programs and threaded programs,
// and then the idioms of contests.

import type { InputOutput } from '../../domain/run/query.ts';
import type { Problem } from './code-problem.ts';
import { PROBLEMS } from './code-problems.ts';

export interface Honest {
  readonly name: string;
  readonly io: InputOutput;
  readonly program: string;
}

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
const DIALECTS: Readonly<Record<string, string>> = {
  'map and input': 'n = int(input())\nxs = list(map(int, input().split()))\nprint(sum(xs))',
  'sys.stdin lines': 'import sys\nlines = sys.stdin.readlines()\nprint(sum(int(x) for x in lines[1].split()))',
  'sys.stdin.buffer': 'import sys\nn, *xs = map(int, sys.stdin.buffer.read().split())\nprint(sum(xs))',
  'input replaced': 'import sys\ninput = sys.stdin.readline\nn = int(input())\nprint(sum(map(int, input().split())))',
  'file descriptor 0': 'n, *xs = map(int, open(0).read().split())\nprint(sum(xs))',
  '/dev/stdin': 'with open("/dev/stdin") as f:\n    n, *xs = map(int, f.read().split())\nprint(sum(xs))',
  'os.read': 'import os\nxs = os.read(0, os.fstat(0).st_size).split()\nos.write(1, b"%d\\n" % sum(map(int, xs[1:])))',
  'fast output':
    'import os, io, sys\nsys.stdin = io.BytesIO(os.read(0, os.fstat(0).st_size))\nout = io.StringIO()\nn = int(sys.stdin.readline())\nprint(sum(map(int, sys.stdin.readline().split())), file=out)\nos.write(1, out.getvalue().encode())',
  atexit:
    'import atexit, io, sys\nbuffer = io.StringIO()\nsys.stdout = buffer\n@atexit.register\ndef write():\n    sys.__stdout__.write(buffer.getvalue())\nn = int(input())\nprint(sum(map(int, input().split())))',
  'exit()': 'n = int(input())\nprint(sum(map(int, input().split())))\nexit()',
  'quit()': 'n = int(input())\nprint(sum(map(int, input().split())))\nquit(0)',
  'sys.exit from main':
    'import sys\ndef main():\n    input()\n    print(sum(map(int, input().split())))\n    return 0\nif __name__ == "__main__":\n    sys.exit(main())',
  'os._exit after flush':
    'import os, sys\ninput()\nprint(sum(map(int, input().split())))\nsys.stdout.flush()\nos._exit(0)',
  'a loop to the end of input':
    'total = 0\ninput()\nwhile True:\n    try:\n        total += sum(map(int, input().split()))\n    except EOFError:\n        break\nprint(total)',
  fileinput: 'import fileinput\nlines = [line for line in fileinput.input()]\nprint(sum(map(int, lines[1].split())))',
  'trailing blanks': 'input()\nprint(sum(map(int, input().split())), end=" \\n\\n")',
  'class with a main':
    'class Solver:\n    def __init__(self):\n        self.n = int(input())\n        self.xs = [int(x) for x in input().split()]\n    def run(self):\n        return sum(self.xs)\nprint(Solver().run())',
  dataclass:
    'from __future__ import annotations\nfrom dataclasses import dataclass, field\n@dataclass(order=True)\nclass Row:\n    n: int\n    xs: list[int] = field(default_factory=list)\nrow = Row(int(input()), list(map(int, input().split())))\nprint(sum(row.xs))',
  enum: 'import enum\nclass Kind(enum.IntEnum):\n    A = 0\ninput()\nprint(sum(map(int, input().split())) + Kind.A)',
  decimal:
    'from decimal import Decimal, getcontext\ngetcontext().prec = 50\ninput()\nprint(int(sum(Decimal(x) for x in input().split())))',
  fractions: 'from fractions import Fraction\ninput()\nprint(sum(Fraction(x) for x in input().split()))',
  asyncio:
    'import asyncio\nasync def main():\n    input()\n    print(sum(map(int, input().split())))\nasyncio.run(main())',
  'thread pool':
    'from concurrent.futures import ThreadPoolExecutor\ninput()\nwith ThreadPoolExecutor(4) as pool:\n    print(sum(pool.map(int, input().split())))',
  'temporary file':
    'import tempfile, os\ninput()\nwith tempfile.NamedTemporaryFile("w+") as f:\n    f.write(input()); f.flush(); f.seek(0)\n    print(sum(map(int, f.read().split())))',
  'a file of its own':
    'input()\nwith open("data.txt", "w") as f:\n    f.write(input())\nprint(sum(map(int, open("data.txt").read().split())))',
  'notes on stderr':
    'import sys\ninput()\nxs = input().split()\nprint("debug", xs, file=sys.stderr)\nprint(sum(map(int, xs)))',
  'stdin closed': 'import sys\nn, *xs = map(int, sys.stdin.read().split())\nsys.stdin.close()\nprint(sum(xs))',
  'nothing imported':
    'n = int(stdin.readline())\nprint(reduce(lambda a, b: a + b, map(int, stdin.readline().split())))',
  'names of its own':
    'def gcd(a, b):\n    return a + b\ninput()\ntotal = 0\nfor x in map(int, input().split()):\n    total = gcd(total, x)\nprint(total)',
  pickle:
    'import pickle, base64, hashlib, struct, array\ninput()\nprint(sum(pickle.loads(pickle.dumps(array.array("q", map(int, input().split()))))))',
  generators:
    'def read():\n    while True:\n        try:\n            yield from input().split()\n        except EOFError:\n            return\nxs = list(map(int, read()))\nprint(sum(xs[1:]))',
  'big numbers':
    'input()\nx = sum(map(int, input().split()))\ny = x + 10**4000 - 10**4000\nassert len(str(10**6000)) == 6001\nprint(y)',
  'a lot of memory': 'input()\nbig = [0] * 10**7\nprint(sum(map(int, input().split())) + sum(big))',
  'random with a seed':
    'import random\nrandom.seed(1)\ninput()\nxs = list(map(int, input().split()))\nrandom.shuffle(xs)\nprint(sum(xs))',
  'time and clock':
    'import time\nstart = time.time()\ninput()\nprint(sum(map(int, input().split())))\nassert time.time() - start < 100',
  'an inner exception':
    'input()\ntry:\n    1 / 0\nexcept ZeroDivisionError:\n    pass\nfinally:\n    print(sum(map(int, input().split())))',
};

/** Rules of comparison that an honest program may count on. */
const RULES: readonly Honest[] = [
  {
    name: 'floats',
    io: { inputs: ['2', '3'], outputs: ['1.414213562373', '1.732050807569'] },
    program: 'print(float(input()) ** 0.5)\n# as it is',
  },
  {
    name: 'more digits',
    io: { inputs: ['3'], outputs: ['0.333333333'] },
    program: 'print("%.15f" % (1 / int(input())))',
  },
  { name: 'whole as float', io: { inputs: ['3'], outputs: ['3'] }, program: 'print(float(input()))  # 3.0' },
  {
    name: 'blank lines around',
    io: { inputs: ['a'], outputs: ['a\nb\n\n'] },
    program: 'print()\nprint(input() + "  ")\nprint("b\\r")',
  },
  {
    name: 'lists of lines',
    io: { inputs: [['1', '2']], outputs: [['1', '2']] },
    program: 'print(input())\nprint(input())',
  },
  {
    name: 'integer keys',
    io: { fn_name: 'f', inputs: [[{ '1': 2 }]], outputs: [{ '1': 3 }] },
    program: 'def f(d):\n    return {k: v + k for k, v in d.items()}',
  },
  {
    name: 'no arguments',
    io: { fn_name: 'f', inputs: [''], outputs: ['[1, 2.5, null]'] },
    program: 'def f():\n    return (1, 2.5, None)',
  },
  {
    name: 'huge integers',
    io: { fn_name: 'f', inputs: ['123456789012345678901234567890'], outputs: ['123456789012345678901234567891'] },
    program: 'def f(n):\n    return n + 1  # exactly',
  },
  {
    name: 'prints while called',
    io: { fn_name: 'f', inputs: ['1'], outputs: ['2'] },
    program: 'def f(n):\n    print("working", n)\n    return n + 1',
  },
  {
    name: 'static method',
    io: { fn_name: 'f', inputs: ['1'], outputs: ['2'] },
    program: 'class Solution:\n    @staticmethod\n    def f(n: int) -> int:\n        return n + 1',
  },
];

const FORMS = [
  [asFunction, asThread],
  [asMethod, asProgram],
] as const;
export const HONEST: readonly Honest[] = [
  // Every second problem in two of the four forms, the others in the other two.
  ...PROBLEMS.flatMap((problem, i) => FORMS[i % 2]!.map((form) => form(problem))),
  ...Object.entries(DIALECTS).map(([name, program]) => ({ name: `input: ${name}`, io: SUM, program })),
  ...RULES.map((rule) => ({ ...rule, name: `rule: ${rule.name}` })),
];
