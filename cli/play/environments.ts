// The user's own environments of a command: each is loaded once, so that one that does not load, or has the name of
// another, is refused before anything is started.

import { TASKS } from '../../domain/query.ts';
import { UsageError } from '../../domain/errors.ts';
import { oneLine } from '../../domain/foreign-text.ts';
import { type DescribedEnvironment, describeEnvironment } from '../../environments/own/own-environments.ts';
import { parseSpec } from '../../environments/own/spec.ts';
import { type Io, say } from '../io.ts';

export async function describeOwn(specs: readonly string[], io: Io): Promise<DescribedEnvironment[]> {
  const parsed = specs.map((text) => parseSpec(text, io.cwd));
  const log = (line: string): void => say(io, oneLine(line));
  const described = await Promise.all(parsed.map((spec) => describeEnvironment(spec, log)));
  const builtIn: readonly string[] = TASKS;
  const names = described.map(({ record }) => record.name);
  for (const [i, name] of names.entries()) {
    const twice = names.indexOf(name) < i;
    if (twice) throw refused(specs[i]!, `is named "${name}", and so is another`);
    if (builtIn.includes(name)) throw refused(specs[i]!, `is named "${name}", as a judge of Everturn's`);
  }
  return described;
}

function refused(text: string, problem: string): UsageError {
  return new UsageError(`--environment ${JSON.stringify(text)} ${problem}.`, {
    reason: 'bad-value',
    fix: 'Give it another name in its hello: rows name it, and records.',
  });
}
