// `everturn verdict|note <run> <query> …`: a person's verdict on a turn, beside the judge's; a note on a rollout or a turn.

import { oneLine } from '../../domain/text/foreign-text.ts';
import type { RolloutId } from '../../domain/names/ids.ts';
import {
  actName,
  HUMAN_VERDICTS,
  type NoteAct,
  standingVerdicts,
  type SteeringAct,
  type VerdictAct,
} from '../../domain/run/steering.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import { actsOn, putAct, readActs, type StoredAct } from '../../records/run/steering.ts';
import type { Stored } from '../../records/store.ts';
import { command, flag, required, text, unusable, wholeFlag, withDefault } from '../command.ts';
import { mustBeText, personOf } from '../find/person.ts';
import { findRollout, findRun, noRollout } from '../find/place.ts';
import type { RunPlace } from '../../run/place.ts';
import { JSON_FLAG, OF_ROLLOUT, ROLLOUT_ARGUMENTS } from '../flags.ts';
import { plural, whichOf } from '../format.ts';

const MOST_REASON_CHARS = 2000;
const MOST_TEXT_CHARS = 20_000;

/** The flags of every act on a rollout. */
export const OF_ACT = {
  ...OF_ROLLOUT,
  by: text('<person>', "who (default: git's user.email, else this user)"),
  via: withDefault(text('<program>', 'the program that records it', { hidden: true }), 'cli'),
  dryRun: flag('say what would be recorded, and record nothing'),
  json: JSON_FLAG,
};
export const REASON = text('<text>', 'why, in one line');

export const reasonOf = (reason: string | undefined): string | null =>
  reason === undefined ? null : mustBeText('--reason', reason, MOST_REASON_CHARS);

/** A message to the model that goes with an act. */
export const messageOf = (said: string | undefined): string | null =>
  said === undefined ? null : mustBeText('--say', said, MOST_TEXT_CHARS, true);

/** `turn 2 of arith-0007`, with the sample and the attempt where they are not the first. */
export function rolloutTitle({ query, sample, attempt }: Omit<RolloutId, 'run'>, turn: number | null): string {
  return oneLine(`${turn === null ? '' : `turn ${turn} of `}${[query, ...whichOf({ sample, attempt })].join(', ')}`);
}

/** A dry run writes nothing. */
export async function recordAct({ store }: RunPlace, act: SteeringAct, dryRun: boolean): Promise<StoredAct> {
  if (!dryRun) return putAct(store, act);
  const name = actName(act);
  return { name, act, created: true, file: `steering/${name}.json` };
}

function recordedAnswer({ run }: RunPlace, { file, created, act }: StoredAct, dryRun: boolean, what: string) {
  const lead = dryRun ? 'Would record' : created ? 'Recorded' : 'Recorded before';
  return { json: { run, file, recorded: created && !dryRun, act }, text: `${lead}: ${what}.` };
}

/** The record of a turn; throws a UsageError if the rollout has no such turn. */
async function turnOf({ store }: RunPlace, id: RolloutId, turn: number): Promise<Stored<TurnRecord>> {
  const found = await store.get('turn', id, turn);
  if (found) return found;
  let there = 0;
  while (await store.get('turn', id, there + 1)) there++;
  const open = (await store.get('end', id)) === undefined;
  throw unusable(
    `--turn ${turn}: that rollout has ${plural(there, 'turn')}${open ? ' so far' : ''}.`,
    there === 0 ? 'Wait for its first turn.' : `Give a turn from 1 to ${there}.`,
    'no-such-turn',
  );
}

export const note = command({
  args: { ...ROLLOUT_ARGUMENTS, '<text>': 'the note' },
  flags: { ...OF_ACT, turn: wholeFlag('<n>', 'the turn that it is about (default: the whole rollout)', 1) },
  help: 'A note changes no export. docs/steer.md\n\nExample:\n  everturn note my-run arith-0007 --turn 2 "lost the sign"',
  async run(io, given) {
    const place = await findRun(io, given.run, given.out);
    // A damaged run.json is said before anything is recorded.
    await place.store.get('run');
    const said = mustBeText('The note', given.text, MOST_TEXT_CHARS, true);
    const { turn = null, dryRun, via } = given;
    const id = await findRollout(place, given);
    const about = turn === null ? await place.store.get('rollout', id) : await turnOf(place, id, turn);
    if (!about) throw await noRollout(place, given.query);
    const { query, sample, attempt } = id;
    const of = { query, sample, attempt, turn, hash: about.hash };
    const act: NoteAct = { act: 'note', of, text: said, by: await personOf(io, given.by), via, at: io.now() };
    const stored = await recordAct(place, act, dryRun);
    return recordedAnswer(place, stored, dryRun, `a note of ${oneLine(act.by)} on ${rolloutTitle(id, turn)}`);
  },
});

export const verdict = command({
  args: { ...ROLLOUT_ARGUMENTS, '<verdict>': { help: 'right or wrong', choices: HUMAN_VERDICTS } },
  flags: { ...OF_ACT, turn: required(wholeFlag('<n>', 'the turn', 1)), reason: REASON },
  help:
    "The judge's verdict stays; `everturn export --verdicts human` takes people's. A second verdict of the same person\n" +
    'replaces the first, which stays recorded. docs/steer.md\n\nExample:\n' +
    '  everturn verdict my-run arith-0007 --turn 2 right --reason "equivalent form"',
  async run(io, given) {
    const place = await findRun(io, given.run, given.out);
    // A damaged run.json is said before anything is recorded.
    await place.store.get('run');
    const { turn, dryRun, via } = given;
    const said = given.verdict as VerdictAct['verdict'];
    const reason = reasonOf(given.reason);
    const id = await findRollout(place, given);
    const { record: played, hash } = await turnOf(place, id, turn);
    const judged = (await place.store.get('verdict', id, turn))?.record;
    if (!judged) {
      throw unusable(
        `${rolloutTitle(id, turn)} is still being judged.`,
        "Give the verdict once the judge has given its own; it stays beside the judge's.",
        'still-played',
      );
    }
    const by = await personOf(io, given.by);
    const standing = standingVerdicts(actsOn(await readActs(place.store), id), turn);
    const own = standing.find(({ act }) => act.by === by);
    const { query, sample, attempt } = id;
    const of = { query, sample, attempt, turn: played.turn, hash };
    const after = own?.name ?? null;
    const act: VerdictAct = { act: 'verdict', of, verdict: said, reason, after, by, via, at: io.now() };
    const same = own?.act.verdict === said && own.act.reason === reason;
    const stored = same
      ? { ...own, created: false, file: `steering/${own.name}.json` }
      : await recordAct(place, act, dryRun);
    const others = standing.flatMap(({ act: one }) =>
      one.by === by ? [] : [{ by: one.by, verdict: one.verdict, reason: one.reason }],
    );
    const ended = (await place.store.get('end', id))?.record;
    const wentOn = said !== judged.verdict && (!ended || turn < ended.turns.length);
    const what = oneLine(`${rolloutTitle(id, turn)} is ${said}${reason === null ? '' : ` (${reason})`}`);
    const judge = `the judge said ${judged.verdict} (${oneLine(judged.reason)})`;
    const about = others.flatMap((one) =>
      one.verdict === said
        ? []
        : `${oneLine(one.by)} says ${one.verdict}: exports with --verdicts human leave out what people disagree on, until one of you gives another verdict.`,
    );
    if (wentOn) about.push(WENT_ON);
    const { json, text } = recordedAnswer(place, stored, dryRun, `${oneLine(by)} says that ${what}; ${judge}`);
    return { json: { ...json, judge: { verdict: judged.verdict, reason: judged.reason }, others }, text, about };
  },
});

const WENT_ON =
  "The turns after it answered the judge's feedback: exports with --verdicts human leave this rollout out, unless --contradicted says otherwise.";
