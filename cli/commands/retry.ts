// `everturn retry <run> <query>`: plays a rollout that failed or could not be judged once more, as its next attempt;
// `--failed` every rollout of the run whose last attempt failed.

import { withLink } from '../../local/service/link.ts';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { rolloutTitle } from '../../library/find-rollout.ts';
import { attemptsToRetry, type EndedAttempt, retryRollout } from '../../library/retry.ts';
import { mapAhead } from '../../records/map-ahead.ts';
import { type Answer, command, flag, unusable } from '../command.ts';
import { EXIT } from '../exit.ts';
import { personOf, reasonOf } from '../../library/person.ts';
import { aroundOf, findRun } from '../find/place.ts';
import { ROLLOUT_ARGUMENTS, RUN_ARGUMENT } from '../flags.ts';
import { type Io, say } from '../io.ts';
import { count, plural } from '../format.ts';
import { OF_ACT, REASON } from './act.ts';

export const retry = command({
  args: { ...RUN_ARGUMENT, '[query]': ROLLOUT_ARGUMENTS['<query>'] },
  flags: {
    ...OF_ACT,
    failed: flag('every rollout of the run whose last attempt failed, in place of a query'),
    reason: REASON,
    detach: flag('return as soon as it has started'),
  },
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
    const [first] = attempts;
    const { run } = place;
    if (!first) return { json: { run, retried: 0 }, text: `No rollout of ${run} failed.` };
    const signed = { by: await personOf(io, given.by), via: given.via, reason: reasonOf(given.reason) };
    const many = plural(attempts.length, 'rollout');
    if (given.dryRun) {
      const one = `${rolloutTitle(first.id, null)} again, as attempt ${first.id.attempt + 1}`;
      return { text: `Would play ${failed ? `${many} again` : one}.` };
    }
    return withLink(aroundOf(io), (link) => {
      const play: Play = (one) => retryRollout({ env: io.env, link }, place, one, { ...signed, at: io.now() });
      if (!failed) return playOne(io, first, play, given.detach);
      say(io, `Playing    ${many} again`);
      return playAll(run, attempts, play, given.detach);
    });
  },
});

type Play = (one: EndedAttempt) => ReturnType<typeof retryRollout>;

async function playOne(io: Io, before: EndedAttempt, play: Play, detach: boolean): Promise<Answer> {
  const { id, workflowId, result } = await play(before);
  say(io, `Playing    ${rolloutTitle(id, null)}`);
  if (detach) return { json: { ...id, workflowId } };
  const { outcome, stopReason, turns, reason: why } = await result();
  return {
    json: { ...id, outcome, stopReason, turns, reason: why },
    text: `${rolloutTitle(id, null)} is ${outcome} (${oneLine(why ?? stopReason)}). result.json counts the first attempt; exports, \`status\` and \`list\` the last.`,
    code: outcome === 'failed' || outcome === 'cancelled' ? EXIT.failed : EXIT.ok,
  };
}

/** Rollouts that are played at once. */
const AT_ONCE = 32;

async function playAll(run: string, all: readonly EndedAttempt[], play: Play, detach: boolean): Promise<Answer> {
  const outcomeOf = async (one: EndedAttempt) => {
    const { result } = await play(one);
    return detach ? undefined : (await result()).outcome;
  };
  const outcomes: Record<string, number> = {};
  for await (const outcome of mapAhead(all, AT_ONCE, outcomeOf))
    if (outcome !== undefined) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  const said = Object.entries(outcomes).map(([outcome, n]) => `${count(n)} ${outcome}`);
  const many = plural(all.length, 'rollout');
  const { failed: again = 0, cancelled = 0 } = outcomes;
  return {
    json: { run, retried: all.length, outcomes },
    text: detach ? `Started ${many}.` : `${many} played again: ${said.join(', ')}.`,
    code: again + cancelled > 0 ? EXIT.failed : EXIT.ok,
  };
}
