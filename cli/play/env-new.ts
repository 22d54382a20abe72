// The files of a new environment: the code, and rows to try it with. Never over an existing file.

import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isEnvironmentName } from '../../domain/rollout/environment.ts';
import { UsageError } from '../../domain/errors/errors.ts';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { TASKS } from '../../domain/run/query.ts';
import { mustBeOutsideRuns } from '../../records/outside-runs.ts';
import { type Io, print } from '../io.ts';
import { programName } from '../find/place.ts';

export async function newEnvironment(io: Io, name: string, python: boolean): Promise<void> {
  if (!isEnvironmentName(name)) {
    throw new UsageError(`${JSON.stringify(name)} cannot name an environment.`, {
      reason: 'bad-value',
      fix: 'Use a-z, 0-9 and hyphens, at most 64 of them, as in countdown.',
    });
  }
  if ((TASKS as readonly string[]).includes(name)) {
    throw new UsageError(`${JSON.stringify(name)} names a judge of Everturn's.`, {
      reason: 'bad-value',
      fix: `Give it another name, as in my-${name}.`,
    });
  }
  const code = python ? `${name}.py` : `${name}.ts`;
  const rows = `${name}.jsonl`;
  await write(io, code, python ? pythonCode(name) : typescriptCode(name));
  await write(io, rows, ROWS);
  const me = programName(io);
  print(
    io,
    [
      `Wrote ${code} and ${rows}. Then:`,
      '',
      `  ${me} env test ./${code} ${rows}`,
      `  ${me} run ${rows} --environment ./${code}`,
      '',
    ].join('\n'),
  );
}

async function write(io: Io, file: string, text: string): Promise<void> {
  await mustBeOutsideRuns(resolve(io.cwd, file));
  try {
    await writeFile(resolve(io.cwd, file), text, { flag: 'wx' });
  } catch (cause) {
    throw new UsageError(`${oneLine(file)} cannot be written here.`, {
      reason: 'file-exists',
      fix: 'If it exists, give another name, or remove it.',
      cause,
    });
  }
}

const ROWS = [
  { id: 'sum-1', question: 'What is 17 + 25?', wanted: 42 },
  { id: 'sum-2', question: 'What is 8 * 7?', wanted: 56 },
  { id: 'sum-3', question: 'What is 100 - 1?', wanted: 99 },
]
  .map((row) => `${JSON.stringify(row)}\n`)
  .join('');

const pythonCode = (
  name: string,
): string => `"""An environment for Everturn: docs/environment-messages.md has the form of each message."""

import json
import re
import sys


def respond(episode, turn, answer, **_):
    wanted = episode["row"]["wanted"]
    numbers = re.findall(r"-?\\d+", answer)
    if not numbers:
        hint = "I see no number. Give one."
        return {"verdict": "wrong", "messages": [{"role": "user", "content": hint}]}
    off = abs(int(numbers[-1]) - wanted)
    if off == 0:
        return {"verdict": "right", "reward": 1.0, "done": True}
    hint = f"{numbers[-1]} is wrong. Try again."
    return {
        "verdict": "wrong",
        "reward": 1.0 / (1.0 + off),
        "metrics": {"off": off},
        "messages": [{"role": "user", "content": hint}],
    }


def say(line):
    print(json.dumps(line), flush=True)


say({"hello": {"protocol": 1, "name": "${name}", "version": "1"}})
for line in sys.stdin:
    call = json.loads(line)
    try:
        say({"id": call["id"], "result": respond(**call["params"])})
    except Exception as error:  # never a reward
        say({"id": call["id"], "error": {"message": repr(error)}})
`;

const typescriptCode = (
  name: string,
): string => `// An environment for Everturn: docs/environment-messages.md has the form of each message.

interface Answered {
  readonly episode: { readonly key: string; readonly seed: number; readonly row: { readonly wanted: number } };
  readonly turn: number;
  readonly answer: string;
}

export const environment = {
  name: '${name}',
  version: '1',

  respond({ episode, answer }: Answered) {
    const last = answer.match(/-?\\d+/g)?.at(-1);
    if (last === undefined)
      return { verdict: 'wrong', messages: [{ role: 'user', content: 'I see no number. Give one.' }] };
    const off = Math.abs(Number(last) - episode.row.wanted);
    if (off === 0) return { verdict: 'right', reward: 1, done: true };
    return {
      verdict: 'wrong',
      reward: 1 / (1 + off),
      metrics: { off },
      messages: [{ role: 'user', content: \`\${last} is wrong. Try again.\` }],
    };
  },
};
`;
