// `everturn retry <run> <query>`: plays a rollout that failed or could not be judged once more, as its next attempt;
// `--failed` every rollout of the run whose last attempt failed.

import { withLink } from '../../local/service/link.ts';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { rolloutTitle } from '../../library/find-rollout.ts';
import { attemptsToRetry, type EndedAttempt, retryRollout } from '../../library/retry.ts';
import { mapAhead } from '../../records/map-ahead.ts';
import { type Answer, command, flag, unusable, type Values } from '../command.ts';
import { EXIT } from '../exit.ts';
import { personOf, reasonOf } from '../../library/person.ts';
import { aroundOf, findRun } from '../find/place.ts';
import { ROLLOUT_ARGUMENTS, RUN_ARGUMENT } from '../flags.ts';
import { type Io, say } from '../io.ts';
import { count, plural } from '../format.ts';
import type { RunPlace } from '../../run/place.ts';
import { OF_ACT, REASON } from './act.ts';

const FLAGS = {
  ...OF_ACT,
  failed: flag('every rollout of the run whose last attempt failed, in place of a query'),
  reason: REASON,
  detach: flag('return as soon as it has started'),
};
type Given = Values<typeof FLAGS>;

export const retry = command({
  args: { ...RUN_ARGUMENT, '[query]': ROLLOUT_ARGUMENTS['<query>'] },
  flags: FLAGS,
  help:
    'The attempt before it stays recorded; exports and counts take the last one. docs/steer.md\n\nExamples:\n' +
    '  everturn retry my-run arith-0007\n  everturn retry my-run --failed',
  async run(io, given) {
    const place = await findRun(io, given.run, given.out);
    const { query, failed } = given;
    if ((query === undefined) !== failed || (failed && given.attempt !== undefined)) {
      throw unusable(
        failed ? '--failed takes the whole run.' : 'There is nothing to play again.',
        'Name a query, or give --failed alone.',
      );
    }
    const which = query === undefined ? undefined : { ...given, query };
    const attempts = await attemptsToRetry(place, io, which);
    return failed ? retryAll(io, place, attempts, given) : retryOne(io, place, attempts[0]!, given);
  },
});

async function begin(io: Io, place: RunPlace, given: Given) {
  const signed = { by: await personOf(io, given.by), via: given.via, reason: reasonOf(given.reason) };
  return <T>(use: (play: (one: EndedAttempt) => ReturnType<typeof retryRollout>) => Promise<T>): Promise<T> =>
    withLink(aroundOf(io), (link) =>
      use((one) => retryRollout({ env: io.env, link }, place, one, { ...signed, at: io.now() })),
    );
}

async function retryOne(io: Io, place: RunPlace, before: EndedAttempt, given: Given): Promise<Answer> {
  const playing = await begin(io, place, given);
  if (given.dryRun)
    return { text: `Would play ${rolloutTitle(before.id, null)} again, as attempt ${before.id.attempt + 1}.` };
  return playing(async (play) => {
    const { id, workflowId, result } = await play(before);
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

async function retryAll(io: Io, place: RunPlace, all: readonly EndedAttempt[], given: Given): Promise<Answer> {
  if (all.length === 0) return { json: { run: place.run, retried: 0 }, text: `No rollout of ${place.run} failed.` };
  const playing = await begin(io, place, given);
  const many = plural(all.length, 'rollout');
  if (given.dryRun) return { text: `Would play ${many} again.` };
  return playing(async (play) => {
    say(io, `Playing    ${many} again`);
    const outcomeOf = async (one: EndedAttempt) => {
      const { result } = await play(one);
      return given.detach ? undefined : (await result()).outcome;
    };
    const outcomes: Record<string, number> = {};
    for await (const outcome of mapAhead(all, AT_ONCE, outcomeOf))
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
