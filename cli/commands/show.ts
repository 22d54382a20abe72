// `everturn show <run> <query>`: prints one trajectory, turn by turn.

import { explain } from '../../domain/errors/errors.ts';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { samplesPerQuery } from '../../domain/samples/group.ts';
import { actsOn, readActs } from '../../records/run/steering.ts';
import { readTrajectory } from '../../records/reading/trajectories.ts';
import { command, flag, unusable, wholeFlag } from '../command.ts';
import { findRun } from '../find/place.ts';
import { findRollout, noRollout } from '../../library/find-rollout.ts';
import { OF_ROLLOUT, ROLLOUT_ARGUMENTS } from '../flags.ts';
import { say } from '../io.ts';
import { paintFor, plural } from '../format.ts';
import { trajectoryText } from '../view/trajectory-text.ts';

export const show = command({
  args: ROLLOUT_ARGUMENTS,
  flags: {
    ...OF_ROLLOUT,
    turn: wholeFlag('<n>', 'only this turn', 1),
    tokens: flag('each sampled token id with its log probability'),
    json: flag('the trajectory as one JSON object on stdout'),
  },
  help: 'Example:\n  everturn show my-run arith-0001 --turn 2',
  async run(io, given) {
    const place = await findRun(io, given.run, given.out);
    const { store } = place;
    // A rollout's own records say enough to show it.
    const run = await store.get('run').catch((error: unknown) => say(io, `everturn: ${explain(error)}`));
    const id = await findRollout(place, given);
    const trajectory = await readTrajectory(store, id);
    if (!trajectory) throw await noRollout(place, given.query);
    const { turn: only, tokens } = given;
    const all = trajectory.turns.length;
    if (only !== undefined && only > all) {
      const message = `--turn ${only}: that rollout has ${plural(all, 'turn')}.`;
      throw unusable(message, `Give a turn from 1 to ${all}.`, 'no-such-turn');
    }
    const acts = actsOn(await readActs(store, ({ message }) => say(io, `Left out: ${oneLine(message)}`)), id);
    const turns = trajectory.turns.filter(({ record }) => only === undefined || record.turn === only);
    const samples = run ? samplesPerQuery(run.record) : undefined;
    return {
      json: { ...trajectory, turns, ...(acts.length > 0 && { acts: acts.map(({ act }) => act) }) },
      text: () => trajectoryText(trajectory, { only, tokens, samples, paint: paintFor(io.out, io.env), acts }),
    };
  },
});
