// `everturn retry <run> <query>`: plays a rollout that failed or could not be judged once more, as its next attempt.

import { mayRetry } from '../../domain/rollout/ending.ts';
import { firstWords, oneLine } from '../../domain/text/foreign-text.ts';
import { questionOf } from '../../domain/run/query.ts';
import type { RetryAct } from '../../domain/run/steering.ts';
import { CODE_QUEUE } from '../../domain/run/queues.ts';
import { registerRun } from '../../local/permissions/registered.ts';
import { homeOf } from '../../local/service/home.ts';
import { startRollout } from '../../client/temporal/rollouts.ts';
import { command, flag, unusable } from '../command.ts';
import { EXIT } from '../exit.ts';
import { withLink } from '../find/link.ts';
import { personOf } from '../find/person.ts';
import { findRollout, findRun, shellQuoted, typed } from '../find/place.ts';
import { stillPlayed } from '../find/fork-source.ts';
import { mustTake } from '../find/takers.ts';
import { ROLLOUT } from '../flags.ts';
import { say } from '../io.ts';
import { mustHaveSandbox } from '../play/start.ts';
import { nameOf, OF_ACT, REASON, reasonOf, recordAct } from './act.ts';

export const retry = command({
  args: ROLLOUT,
  flags: { ...OF_ACT, reason: REASON, detach: flag('return as soon as it has started') },
  help:
    'The attempt before it stays recorded; exports take the last one. docs/steer.md\n\nExample:\n' +
    '  everturn retry my-run arith-0007',
  async run(io, given) {
    const place = await findRun(io, given.run, given.out);
    const { run, store } = place;
    const { train, forkedFrom } = (await store.getRun())!.record;
    const reason = reasonOf(given.reason);
    const before = await findRollout(place, given);
    const { query, sample, attempt } = before;
    const last = (await store.listRolloutsOf(query)).findLast((id) => id.sample === sample)!;
    const name = nameOf(before, null);
    const { settings, index, query: asked } = (await store.getRollout(before))!.record;
    const end = await store.getEnd(before);
    if (!end) throw stillPlayed(io, place, before);
    const refuse = (message: string, fix: string) => unusable(message, fix, 'not-allowed');
    if (!mayRetry(end.record.outcome)) {
      const again = `\`${typed(io, place, 'fork', shellQuoted(oneLine(query)), '--from-turn 1')}\``;
      throw refuse(
        `${name} is ${end.record.outcome}; only what failed or was undecided is tried again.`,
        end.record.outcome === 'complete' ? `${again} plays it again, as a run of its own.` : 'Begin another run.',
      );
    }
    if (last.attempt > attempt)
      throw refuse(`${name} was tried again: attempt ${last.attempt}.`, 'Leave --attempt out.');
    if (train) throw refuse(`A trainer lives on run "${run}".`, 'Its feed tries failed members again by itself.');
    if (forkedFrom) throw refuse(`Run "${run}" is a fork.`, 'Fork the other run once more.');
    if (index === null)
      throw refuse(`A client started ${name} with a row of its own.`, 'Start it again there, with the next `attempt`.');
    const by = await personOf(io, given.by);
    const id = { ...before, attempt: attempt + 1 };
    if (given.dryRun) return { text: `Would play ${name} again, as attempt ${id.attempt}.` };
    const of = { query, sample, attempt, turn: null, hash: end.hash };
    const act: RetryAct = { act: 'retry', of, reason, by, via: given.via, at: io.now() };
    const programs = asked.task === 'code' || settings.tools?.list.some(({ door }) => door === 'python');
    if (programs) await mustHaveSandbox(io);
    return withLink(io, async (link) => {
      if (programs) await mustTake(io, link, CODE_QUEUE);
      registerRun(homeOf(io.env), { folder: store.folder, ...settings });
      await recordAct(place, act, false);
      const input = { run, out: place.out, index, sample, attempt: id.attempt };
      const started = await startRollout(link.session, input, { query, title: firstWords(questionOf(asked)) });
      say(io, `Playing    ${nameOf(id, null)}`);
      if (given.detach) return { json: { ...id, workflowId: started.workflowId } };
      const { outcome, stopReason, turns, reason: why } = await started.result();
      return {
        json: { ...id, outcome, stopReason, turns, reason: why },
        text: `${nameOf(id, null)} is ${outcome} (${oneLine(why ?? stopReason)}). result.json counts the first attempt; exports take the last.`,
        code: outcome === 'failed' || outcome === 'cancelled' ? EXIT.failed : EXIT.ok,
      };
    });
  },
});
