// The files of a new environment, as in examples/new-environment under another name: the code, and rows to try it with.
// Never over an existing file.

import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isEnvironmentName } from '../../domain/rollout/environment.ts';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { TASKS } from '../../domain/run/query.ts';
import { packageRoot } from '../../local/machine/package-root.ts';
import { mustBeOutsideRuns } from '../../records/outside-runs.ts';
import { type Answer, unusable } from '../command.ts';
import { programName } from '../find/place.ts';
import type { Io } from '../io.ts';

export async function newEnvironment(io: Io, name: string, python: boolean): Promise<Answer> {
  const named = JSON.stringify(name);
  if (!isEnvironmentName(name)) {
    const fix = 'Use a-z, 0-9 and hyphens, at most 64 of them, as in countdown.';
    throw unusable(`${named} cannot name an environment.`, fix);
  }
  if ((TASKS as readonly string[]).includes(name))
    throw unusable(`${named} names a judge of Everturn's.`, `Give it another name, as in my-${name}.`);
  const template = (file: string) => readFileSync(join(packageRoot(), 'examples/new-environment', file), 'utf8');
  const ending = python ? 'py' : 'ts';
  const [code, rows] = [`${name}.${ending}`, `${name}.jsonl`];
  await write(io, code, template(`environment.${ending}`).replace('my-environment', name));
  await write(io, rows, template('rows.jsonl'));
  const me = programName(io);
  const next = `  ${me} env test ./${code} ${rows}\n  ${me} run ${rows} --environment ./${code}\n`;
  return { text: `Wrote ${code} and ${rows}. Then:\n\n${next}` };
}

async function write(io: Io, file: string, text: string): Promise<void> {
  await mustBeOutsideRuns(resolve(io.cwd, file));
  await writeFile(resolve(io.cwd, file), text, { flag: 'wx' }).catch((cause: unknown) => {
    const fix = 'If it exists, give another name, or remove it.';
    throw unusable(`${oneLine(file)} cannot be written here.`, fix, 'file-exists', cause);
  });
}
