// Proves what people did to a run's rollouts: every file in `steering/` has the name of its content, is about a record
// that is there, at a time when it was there, and a replaced verdict is one of the same person on the same turn.
// Not covered: whether the person is the one that is named, and acts that were removed from the end of a chain.

import { isDeepStrictEqual } from 'node:util';
import { mayRetry } from '../../domain/rollout/ending.ts';
import { explain } from '../../domain/errors/errors.ts';
import { actName, type SteeringAct } from '../../domain/run/steering.ts';
import { CLOCK_SKEW_MS } from './end.ts';
import { formProblem } from './checked.ts';
import { isActFile, STEERING, steeringFile } from '../format/layout.ts';
import { ownNamesIn } from '../in-flight/listing.ts';
import { decodeRecord } from '../format/text.ts';
import type { OnBreach, Store } from '../store.ts';
import { readText } from '../places/files.ts';

/** Returns the number of acts. */
export async function checkSteering(
  store: Store,
  run: string,
  onBreach: OnBreach,
  clockSkewMs = CLOCK_SKEW_MS,
): Promise<number> {
  const acts = new Map<string, SteeringAct>();
  const files = await ownNamesIn(store.folder, STEERING, isActFile, onBreach);
  for (const file of files) {
    const path = `${STEERING}/${file}`;
    const name = file.slice(0, -'.json'.length);
    const read = await readAct(`${store.folder}/${path}`, name).catch((error: unknown) => explain(error));
    if (typeof read === 'string') onBreach({ path, problem: read });
    else acts.set(name, read);
  }
  for (const [name, act] of acts) {
    const say = (problem: string) => onBreach({ path: steeringFile(name), problem });
    const problem = await placeProblem(store, run, act, clockSkewMs);
    if (problem) say(problem);
    if (act.act !== 'verdict' || act.after === null) continue;
    const before = acts.get(act.after);
    if (!before) say(`replaces ${act.after}, which is not there`);
    else if (before.act !== 'verdict' || before.by !== act.by || !isDeepStrictEqual(before.of, act.of))
      say(`replaces ${act.after}, which is not a verdict of the same person on the same turn`);
  }
  return files.length;
}

async function readAct(path: string, name: string): Promise<SteeringAct | string> {
  const decoded = decodeRecord('steering', null, (await readText(path)) ?? '');
  if ('problem' in decoded) return decoded.problem;
  const problem = formProblem('steering', null, { ...decoded, created: false });
  if (problem) return problem;
  const act = decoded.record as SteeringAct;
  const right = actName(act);
  return right === name ? act : `has the name of another act: its content gives ${right}`;
}

async function placeProblem(
  store: Store,
  run: string,
  { act, of, at }: SteeringAct,
  skewMs: number,
): Promise<string | undefined> {
  const { query, sample, attempt, turn } = of;
  const id = { run, query, sample, attempt };
  const rollout = `query ${JSON.stringify(query)}, sample ${sample}, attempt ${attempt}`;
  if (act !== 'note' && (act === 'verdict') !== (turn !== null)) return 'names a turn, or none, against its kind';
  const what = act === 'retry' ? `the end of ${rollout}` : turn === null ? rollout : `turn ${turn} of ${rollout}`;
  // Unreadable records are reported by the check of their rollout.
  const found = await recordOf().catch(() => null);
  if (found === null) return undefined;
  if (!found) return `is about ${what}, which is not there`;
  if (found.hash !== of.hash) return `is about another record of ${what}: ${of.hash}, not ${found.hash}`;
  if (found.at - at > skewMs) return `was recorded at ${at}, before ${what} at ${found.at}`;
  if (act === 'retry' && !found.mayRetry) return `tries ${rollout} again, which neither failed nor was undecided`;
  const unjudged = act === 'verdict' && (await store.get('verdict', id, turn!).catch(() => null)) === undefined;
  return unjudged ? `is a verdict on ${what}, which the judge has not judged` : undefined;

  async function recordOf(): Promise<{ hash: string; at: number; mayRetry?: boolean } | undefined> {
    if (act === 'retry') {
      const end = await store.get('end', id);
      return end && { hash: end.hash, at: end.record.finishedAt, mayRetry: mayRetry(end.record.outcome) };
    }
    if (turn === null) {
      const begun = await store.get('rollout', id);
      return begun && { hash: begun.hash, at: begun.record.birthTime };
    }
    const played = await store.get('turn', id, turn);
    return played && { hash: played.hash, at: played.record.finishedAt };
  }
}
