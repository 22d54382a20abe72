// `everturn retry <run> <query>`: plays a rollout that failed or could not be judged once more, as its next attempt;
// `--failed` every rollout of the run whose last attempt failed.

import { mayRetry } from '../../domain/rollout/ending.ts';
import type { EndRecord } from '../../domain/rollout/trajectory.ts';
import type { RolloutId } from '../../domain/names/ids.ts';
import { firstWords, oneLine } from '../../domain/text/foreign-text.ts';
import { questionOf } from '../../domain/query/query.ts';
import type { RetryAct } from '../../domain/run/steering.ts';
import { CODE_QUEUE } from '../../domain/names/queues.ts';
import { registerRun } from '../../local/permissions/registered.ts';
import { homeOf } from '../../local/service/home.ts';
import { startRollout } from '../../client/temporal/start-options.ts';
import { mapAhead } from '../../records/map-ahead.ts';
import { rolloutsInOrder } from '../../records/reading/trajectories.ts';
import type { Stored } from '../../records/store.ts';
import { type Answer, command, flag, unusable, type Values } from '../command.ts';
import { EXIT } from '../exit.ts';
import { withLink } from '../find/link.ts';
import type { Link } from '../../local/service/link.ts';
import { personOf } from '../find/person.ts';
import { findRun, shellQuoted, commandLine } from '../find/place.ts';
import { recordAct } from '../../library/acts.ts';
import { findRollout, rolloutTitle } from '../../library/find-rollout.ts';
import type { RunPlace } from '../../run/place.ts';
import { stillPlayed } from '../find/fork-source.ts';
import { mustHaveSandbox, mustNeedNoProgram, requireWorker } from '../../run/require-worker.ts';
import { ROLLOUT_ARGUMENTS, RUN_ARGUMENT } from '../flags.ts';
import { type Io, say } from '../io.ts';
import { count, plural } from '../format.ts';
import { OF_ACT, REASON, reasonOf } from './act.ts';

const FLAGS = {
  ...OF_ACT,
  failed: flag('every rollout of the run whose last attempt failed, in place of a query'),
  reason: REASON,
  detach: flag('return as soon as it has started'),
};
type Given = Values<typeof FLAGS> & { readonly query: string | undefined };

export const retry = command({
  args: { ...RUN_ARGUMENT, '[query]': ROLLOUT_ARGUMENTS['<query>'] },
  flags: FLAGS,
  help:
    'The attempt before it stays recorded; exports and counts take the last one. docs/steer.md\n\nExamples:\n' +
    '  everturn retry my-run arith-0007\n  everturn retry my-run --failed',
  async run(io, given) {
    const place = await findRun(io, given.run, given.out);
    const { run, store } = place;
    const { train, forkedFrom } = (await store.get('run'))!.record;
    if ((given.query === undefined) !== given.failed || (given.failed && given.attempt !== undefined)) {
      throw unusable(
        given.failed ? '--failed takes the whole run.' : 'There is nothing to play again.',
        'Name a query, or give --failed alone.',
      );
    }
    const before = given.failed ? await failedOf(place) : [await oneOf(io, place, { ...given, query: given.query! })];
    if (train) throw refusal(`A trainer lives on run "${run}".`, 'Its feed tries failed members again by itself.');
    if (forkedFrom) throw refusal(`Run "${run}" is a fork.`, 'Fork the other run once more.');
    return given.failed ? retryAll(io, place, before, given) : retryOne(io, place, before[0]!, given);
  },
});

/** An attempt that may be followed by another one. */
interface Before {
  readonly id: RolloutId;
  readonly end: Stored<EndRecord>;
}

const refusal = (message: string, fix: string) => unusable(message, fix, 'not-allowed');

async function oneOf(io: Io, place: RunPlace, given: Given & { readonly query: string }): Promise<Before> {
  const { store } = place;
  const id = await findRollout(place, given);
  const { query, sample, attempt } = id;
  const last = (await store.listRolloutsOf(query)).findLast((one) => one.sample === sample)!;
  const name = rolloutTitle(id, null);
  const end = await store.get('end', id);
  if (!end) throw stillPlayed(io, place, id);
  if (!mayRetry(end.record.outcome)) {
    const again = `\`${commandLine(io, place, 'fork', shellQuoted(oneLine(query)), '--from-turn 1')}\``;
    throw refusal(
      `${name} is ${end.record.outcome}; only what failed or was undecided is tried again.`,
      end.record.outcome === 'complete' ? `${again} plays it again, as a run of its own.` : 'Begin another run.',
    );
  }
  if (last.attempt > attempt)
    throw refusal(`${name} was tried again: attempt ${last.attempt}.`, 'Leave --attempt out.');
  return { id, end };
}

/** The failed rollouts: the last attempt of each sample counts. */
async function failedOf({ store }: RunPlace): Promise<Before[]> {
  const failed: Before[] = [];
  for await (const id of rolloutsInOrder(store)) {
    const end = await store.get('end', id);
    if (end?.record.outcome === 'failed') failed.push({ id, end });
  }
  return failed;
}

/** Records that a person wants it, and starts it. Throws where it is none of the data set's. */
async function begin(io: Io, link: Link, place: RunPlace, { id: before, end }: Before, by: string, given: Given) {
  const { query, sample, attempt } = before;
  const { settings, index, query: asked } = (await place.store.get('rollout', before))!.record;
  mustNeedNoProgram(settings, `${rolloutTitle(before, null)} is not tried again: it`);
  const id = { ...before, attempt: attempt + 1 };
  const programs = asked.task === 'code' || settings.tools?.list.some(({ door }) => door === 'python');
  if (programs) {
    await mustHaveSandbox(io.env);
    await requireWorker(io.env, link, CODE_QUEUE);
  }
  registerRun(homeOf(io.env), { folder: place.store.folder, ...settings });
  const of = { query, sample, attempt, turn: null, hash: end.hash };
  const reason = reasonOf(given.reason);
  const act: RetryAct = { act: 'retry', of, reason, by, via: given.via, at: io.now() };
  await recordAct(place, act, false);
  const input = { run: place.run, out: place.out, index: index!, sample, attempt: id.attempt };
  return { id, ...(await startRollout(link.session, input, { query, title: firstWords(questionOf(asked)) })) };
}

async function isOfDataset({ store }: RunPlace, { id }: Before): Promise<boolean> {
  return (await store.get('rollout', id))!.record.index !== null;
}

async function retryOne(io: Io, place: RunPlace, before: Before, given: Given): Promise<Answer> {
  const name = rolloutTitle(before.id, null);
  if (!(await isOfDataset(place, before)))
    throw refusal(`A client started ${name} with a row of its own.`, 'Start it again there, with the next `attempt`.');
  const by = await personOf(io, given.by);
  if (given.dryRun) return { text: `Would play ${name} again, as attempt ${before.id.attempt + 1}.` };
  return withLink(io, async (link) => {
    const { id, workflowId, result } = await begin(io, link, place, before, by, given);
    say(io, `Playing    ${rolloutTitle(id, null)}`);
    if (given.detach) return { json: { ...id, workflowId } };
    const { outcome, stopReason, turns, reason: why } = await result();
    return {
      json: { ...id, outcome, stopReason, turns, reason: why },
      text: `${rolloutTitle(id, null)} is ${outcome} (${oneLine(why ?? stopReason)}). result.json counts the first attempt; exports, \`status\` and \`list\` the last.`,
      code: outcome === 'failed' || outcome === 'cancelled' ? EXIT.failed : EXIT.ok,
    };
  });
}

/** Rollouts that are played at once. */
const AT_ONCE = 32;

async function retryAll(io: Io, place: RunPlace, failed: readonly Before[], given: Given): Promise<Answer> {
  const all: Before[] = [];
  for (const one of failed) if (await isOfDataset(place, one)) all.push(one);
  if (all.length === 0) return { json: { run: place.run, retried: 0 }, text: `No rollout of ${place.run} failed.` };
  const by = await personOf(io, given.by);
  const many = plural(all.length, 'rollout');
  if (given.dryRun) return { text: `Would play ${many} again.` };
  return withLink(io, async (link) => {
    say(io, `Playing    ${many} again`);
    const play = async (one: Before) => {
      const { result } = await begin(io, link, place, one, by, given);
      return given.detach ? undefined : (await result()).outcome;
    };
    const outcomes: Record<string, number> = {};
    for await (const outcome of mapAhead(all, AT_ONCE, play))
      if (outcome !== undefined) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    const said = Object.entries(outcomes).map(([outcome, n]) => `${count(n)} ${outcome}`);
    const { failed: again = 0, cancelled = 0 } = outcomes;
    return {
      json: { run: place.run, retried: all.length, outcomes },
      text: given.detach ? `Started ${many}.` : `${many} played again: ${said.join(', ')}.`,
      code: again + cancelled > 0 ? EXIT.failed : EXIT.ok,
    };
  });
}
