// `everturn show <run> <query>`: prints one trajectory, turn by turn; with --wrong, which answers of a run are wrong.

import { explain } from '../../domain/errors/errors.ts';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { samplesPerQuery } from '../../domain/samples/group.ts';
import { actsOn, readActs } from '../../records/run/steering.ts';
import { readTrajectory } from '../../records/reading/trajectories.ts';
import { wrongAnswers } from '../../library/wrong-answers.ts';
import { damageCode, damageLines } from '../view/left-out.ts';
import { mustHoldAll } from '../../records/run/present.ts';
import { commandLine } from '../../library/command-line.ts';
import type { RunPlace } from '../../run/place.ts';
import { type Answer, choiceFlag, command, flag, text, unusable, wholeFlag } from '../command.ts';
import { findRun } from '../find/place.ts';
import { findRollout, noRollout } from '../../library/find-rollout.ts';
import { OF_ROLLOUT, RUN_ARGUMENT } from '../flags.ts';
import { type Io, say } from '../io.ts';
import { paintFor, plural } from '../format.ts';
import { trajectoryText } from '../view/trajectory-text.ts';
import { countByReason, reasonsText, wrongText } from '../view/wrong-text.ts';

export const show = command({
  args: { ...RUN_ARGUMENT, '[query]': "the query's id; none with --wrong" },
  flags: {
    ...OF_ROLLOUT,
    turn: wholeFlag('<n>', 'only this turn', 1),
    tokens: flag('each sampled token id with its log probability'),
    wrong: flag('the wrong answers of the run beside their references, by the last judged answer of each rollout'),
    by: choiceFlag('<what>', ['reason'], "with --wrong: how many there are of each verdict's reason"),
    category: text('<name>', "with --wrong: of this category, subject or level of the data set's rows"),
    json: flag('the trajectory, or the wrong answers, as one JSON object on stdout'),
  },
  help: 'Example:\n  everturn show my-run arith-0001 --turn 2\n  everturn show my-run --wrong --by reason --category algebra',
  async run(io, { query, ...flags }) {
    const { wrong, by, category } = flags;
    if (!wrong && (by ?? category) !== undefined)
      throw unusable('--by and --category are about wrong answers.', 'Give them with --wrong.');
    if (wrong && query !== undefined)
      throw unusable('--wrong is about a whole run.', 'Leave the query out, or --wrong.', 'bad-arguments');
    const place = await findRun(io, flags.run, flags.out);
    if (wrong) return shownWrong(io, place, { isCounted: by !== undefined, category });
    if (query === undefined)
      throw unusable('There is no query.', 'Give its id, or --wrong for the wrong answers.', 'bad-arguments');
    const given = { ...flags, query };
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

async function shownWrong(
  io: Io,
  place: RunPlace,
  { isCounted, category }: { readonly isCounted: boolean; readonly category: string | undefined },
): Promise<Answer> {
  await mustHoldAll(place.store);
  const { wrong, broken } = await wrongAnswers(place.store, category);
  const paint = paintFor(io.out, io.env);
  const reasons = countByReason(wrong);
  const one = commandLine(io, place, 'show', isCounted ? '--wrong' : '<query>');
  return {
    json: { wrong: wrong.length, reasons, ...(!isCounted && { answers: wrong }), broken },
    notes: damageLines(broken),
    code: damageCode(broken),
    ...(wrong.length > 0 && { text: () => (isCounted ? reasonsText(reasons, paint) : wrongText(wrong, paint)) }),
    about:
      wrong.length === 0
        ? ['No answer is wrong.']
        : [`${plural(wrong.length, 'wrong answer')}. ${isCounted ? 'Each of them' : 'One whole'}: ${one}`],
  };
}
