// The user's own environments of a run: each is loaded once, so that one that does not load, or has the name of
// another, is refused before anything is started.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isEnvironmentName } from '../domain/rollout/environment.ts';
import { BY_TASK } from '../domain/rollout/agent.ts';
import { TASKS } from '../domain/query/query.ts';
import {
  type AskQueue,
  createOwnEnvironments,
  type DescribedEnvironment,
  describeOwnEnvironment,
} from '../environments/own/own-environments.ts';
import { MAX_RUBRIC_BYTES, namesModelAlone } from '../environments/own/rubric/rubric.ts';
import { parseSpec, type Spec } from '../environments/own/spec.ts';
import type { Benchmark } from '../formats/benchmarks/find-rows.ts';
import { readRegular } from '../local/machine/regular-file.ts';
import { putCode } from '../records/run/code.ts';
import { unusable } from '../domain/errors/unusable.ts';
import { type Caller, logOf } from './caller.ts';

/** An environment with the words that named it. */
export interface NamedEnvironment extends DescribedEnvironment {
  readonly from: string;
}

type Asker = Pick<Caller, 'cwd' | 'onEvent'>;

export async function describeOwn(
  given: readonly string[],
  caller: Asker,
  askQueue?: AskQueue,
  benchmark?: Benchmark,
): Promise<NamedEnvironment[]> {
  // By task is how rows are judged that name no environment; and a model alone judges the benchmarks that a model judges.
  const named = given
    .filter((text) => text.trim() !== BY_TASK)
    .map((text) => [text, parseSpec(text, caller.cwd)] as const)
    .filter(([, spec]) => !benchmark || benchmark.page.rubric || !isModelAlone(spec));
  const [specs, parsed] = [named.map(([text]) => text), named.map(([, spec]) => spec)];
  const described = await Promise.all(
    parsed.map(async (spec, i) => ({
      ...(await describeOwnEnvironment(spec, logOf(caller), askQueue, rubricOf(benchmark))),
      from: specs[i]!,
    })),
  );
  const builtIn: readonly string[] = TASKS;
  const names = described.map(({ record }) => record.name);
  for (const [i, name] of names.entries()) {
    const twice = names.indexOf(name) < i;
    if (twice) throw refused(specs[i]!, `is named "${name}", and so is another`);
    if (builtIn.includes(name)) throw refused(specs[i]!, `is named "${name}", as a judge of Everturn's`);
  }
  return described;
}

const isModelAlone = ({ door, words }: Spec): boolean =>
  door === 'rubric' && namesModelAlone(readRegular(words[0]!, MAX_RUBRIC_BYTES));

/** Those that can judge rows without a page; one that cannot be read stays, and is refused with them. */
export const withoutModelsAlone = (given: readonly string[], cwd: string): readonly string[] =>
  given.filter((text) => {
    try {
      return !isModelAlone(parseSpec(text, cwd));
    } catch {
      return true;
    }
  });

/** Its rubric, by a name that an environment may have. */
function rubricOf(benchmark: Benchmark | undefined) {
  const { name = '', page } = benchmark ?? {};
  return page?.rubric && { name: isEnvironmentName(name) ? name : 'rubric', rubric: page.rubric };
}

/** Throws a UsageError for a benchmark that a model judges, where none is named. */
export function mustNameJudge(benchmark: Benchmark | undefined, environments: readonly unknown[] = []): void {
  if (!benchmark?.page.rubric || environments.length > 0) return;
  const judge = '{"server": "https://api.openai.com/v1", "model": "gpt-4.1", "apiKeyEnv": "OPENAI_API_KEY"}';
  const message = `The answers to ${benchmark.name} are judged by a model, and none is named.`;
  throw unusable(message, `Give --environment rubric:./judge.json, a file such as ${judge}.`, 'bad-arguments');
}

/** An environment in a folder of its own, for judging without a worker. */
export async function unpacked(spec: string, caller: Asker) {
  const [described] = await describeOwn([spec], caller);
  const { record, code } = described!;
  const folder = await mkdtemp(join(tmpdir(), 'everturn-environment-'));
  if (code) await putCode(folder, code);
  return {
    record,
    /** As a process of its own has it. */
    open() {
      const own = createOwnEnvironments({ log: logOf(caller), permitted: ({ spec: words }) => words });
      return { environment: own.open(record, folder), close: () => own.close() };
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

function refused(text: string, problem: string): Error {
  const fix = 'docs/environment-messages.md says what an environment declares.';
  return unusable(`--environment ${JSON.stringify(text)} ${problem}.`, fix);
}
