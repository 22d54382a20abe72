// What must be true of a run, whatever was done to it. Trusts nobody: the folder is read by folder.ts, `everturn
// check` must agree, and both are held against what the model server counted outside, and Temporal's own histories.

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Ask } from '../support/hostile-server.ts';
import { type Json, type PlayedRollout, readRun } from './folder.ts';
import { generations, histories } from './histories.ts';
import { idOf, type RunOptions, type Workload } from './workload.ts';

/** What has the run that is checked, and who counted. */
export interface Checkable extends Pick<Workload, 'out' | 'everturn'> {
  readonly model: Pick<Workload['model'], 'asks'>;
  /** Asked for histories. */
  readonly session?: Workload['session'];
}

export interface Checked {
  /** Whatever is not as it must be; nothing in an honest run. */
  readonly problems: readonly string[];
  /** Turns in the store. */
  readonly turns: number;
  /** Generations that the model server was asked for. */
  readonly asked: number;
  /** Those beyond one for each turn: what kills and faults cost. */
  readonly duplicates: number;
  /** Asked for although the turn's record stood in its folder. */
  readonly askedAgain: number;
  /** Attempts beyond the first that the records themselves tell of. */
  readonly attemptsTold: number;
  readonly rollouts: ReadonlyMap<string, PlayedRollout>;
}

export interface Expected extends Pick<RunOptions, 'name' | 'rollouts' | 'turns'> {
  /** What commands name the run by; default its name. */
  readonly place?: string;
  /** Of each query; default one. */
  readonly samples?: number;
  /** False where the histories are not asked: they take a while. */
  readonly histories?: boolean;
  /** How far workers' clocks are set apart. */
  readonly clockSkewSeconds?: number;
  /** False where the model is not the hostile server: nobody counts outside, nor knows what it will say. */
  readonly counted?: boolean;
}

export async function checkRun(workload: Checkable, expected: Expected): Promise<Checked> {
  const { name, place = name, rollouts, samples = 1, turns, counted = true } = expected;
  const read = readRun(join(workload.out, name));
  const problems = [...read.problems];
  for (let i = 0; i < rollouts; i++) {
    const key = `${idOf(Math.floor(i / samples))}/${i % samples}`;
    const played = read.rollouts.get(key);
    if (!played) problems.push(`${key} was not played`);
    else problems.push(...rolloutProblems(played, counted ? { turns, outcomes: ['complete'] } : REAL));
  }
  if (read.rollouts.size !== rollouts) problems.push(`${read.rollouts.size} rollouts in the folder, not ${rollouts}`);

  const asks = workload.model.asks().filter(({ key }) => key.startsWith(`${name}/`));
  const asked = asks.filter(({ event }) => event === 'ask');
  if (counted) problems.push(...saidProblems(name, read.rollouts, asks));
  const skew = expected.clockSkewSeconds === undefined ? [] : ['--clock-skew', String(expected.clockSkewSeconds)];
  const own = await workload.everturn.run('check', place, '--json', ...skew);
  if (own.code !== 0) problems.push(`everturn check ends with ${own.code}: ${own.stdout.slice(0, 2000)}${own.stderr}`);
  const { session } = workload;
  if (session && expected.histories !== false) problems.push(...(await historyProblems({ session }, expected)));

  const played = [...read.rollouts.values()].flatMap((rollout) => rollout.turns);
  return {
    problems,
    turns: played.length,
    asked: asked.length,
    duplicates: asked.length - new Set(asked.map(({ key }) => key)).size,
    askedAgain: asked.filter(({ known }) => known).length,
    attemptsTold: played.reduce((sum, turn) => sum + Number(turn['attempt']) - 1, 0),
    rollouts: read.rollouts,
  };
}

interface Wanted {
  /** Null: as many as it has. */
  readonly turns: number | null;
  readonly outcomes: readonly string[];
}

/** A real model may say what no judge can read. */
const REAL: Wanted = { turns: null, outcomes: ['complete', 'undecided'] };

function rolloutProblems({ key, turns: played, verdicts, end, rollout }: PlayedRollout, wanted: Wanted): string[] {
  if (!rollout || !end) return [`${key} has no ${rollout ? 'end' : 'beginning'}`];
  const problems: string[] = [];
  const { turns, outcomes } = wanted;
  if (turns !== null && played.length !== turns) problems.push(`${key} has ${played.length} turns, not ${turns}`);
  if (verdicts.length !== played.length) problems.push(`${key} has ${verdicts.length} verdicts`);
  if (!outcomes.includes(String(end['outcome'])))
    problems.push(`${key} is ${String(end['outcome'])}: ${JSON.stringify(end)}`);
  return problems;
}

/** Each turn's context and answer are exactly what the model server was asked and said, each token once. */
function saidProblems(run: string, rollouts: ReadonlyMap<string, PlayedRollout>, asks: readonly Ask[]): string[] {
  const said = new Set(
    asks.flatMap(({ key, how, context, output }) => (how === 'answered' ? [`${key} ${context} ${output}`] : [])),
  );
  const problems: string[] = [];
  for (const { key, turns } of rollouts.values()) {
    const sequence: number[] = [];
    for (const turn of turns) {
      sequence.push(...ids(turn, 'contextIds'));
      const context = hashOf(sequence);
      sequence.push(...ids(turn, 'outputIds'));
      const it = `${run}/${key}/${String(turn['turn'])}`;
      if (!said.has(`${it} ${context} ${hashOf(ids(turn, 'outputIds'))}`))
        problems.push(`${it}: the model server never said that to that`);
    }
  }
  return problems;
}

/** Each rollout is one workflow, which has completed, and in which each turn's generation completed once. */
async function historyProblems(workload: Pick<Workload, 'session'>, expected: Expected): Promise<string[]> {
  const problems: string[] = [];
  for await (const { id, events } of histories(workload, expected)) {
    const scheduled = generations(events);
    const completed = events.filter(({ activityTaskCompletedEventAttributes: a }) =>
      scheduled.includes(String(a?.scheduledEventId)),
    ).length;
    const closed = events.filter((event) => event.workflowExecutionCompletedEventAttributes).length;
    if (completed !== expected.turns || scheduled.length !== expected.turns || closed !== 1)
      problems.push(`${id}: ${completed} of ${scheduled.length} generations completed, closed ${closed} times`);
  }
  return problems;
}

/** What was played, timing, attempts and the hashes of what carries them aside: equal texts are equal runs. */
export function canonical(rollouts: ReadonlyMap<string, PlayedRollout>): string {
  const aside = new Set('run startedAt finishedAt birthTime tookMs attempt previous of sha256 of_rollout'.split(' '));
  const strip = (record: Json | undefined) =>
    record && Object.fromEntries(Object.entries(record).filter(([field]) => !aside.has(field)));
  return [...rollouts.values()]
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ key, turns, verdicts, rollout, end }) => {
      const { turns: _, ...ended } = strip(end) ?? {};
      return JSON.stringify([key, strip(rollout), turns.map(strip), verdicts.map(strip), ended]);
    })
    .join('\n');
}

function ids(record: Json, field: 'contextIds' | 'outputIds'): number[] {
  return record[field] as number[];
}

function hashOf(ids: readonly number[]): string {
  return createHash('sha256').update(JSON.stringify(ids)).digest('hex');
}
