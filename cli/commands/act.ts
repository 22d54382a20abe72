// `everturn verdict|note <run> <query> …`: a person's verdict on a turn, beside the judge's; a note on a rollout or a turn.

import { oneLine } from '../../domain/text/foreign-text.ts';
import { HUMAN_VERDICTS, type VerdictAct } from '../../domain/run/steering.ts';
import { recordNote, recordVerdict } from '../../library/acts.ts';
import { rolloutTitle } from '../../library/find-rollout.ts';
import type { StoredAct } from '../../records/run/steering.ts';
import type { RunPlace } from '../../run/place.ts';
import { type Answer, command, flag, required, text, type Values, wholeFlag, withDefault } from '../command.ts';
import { MOST_TEXT_CHARS, mustBeText, personOf, reasonOf } from '../../library/person.ts';
import { findRun } from '../find/place.ts';
import { JSON_FLAG, OF_ROLLOUT, ROLLOUT_ARGUMENTS } from '../flags.ts';
import { type Io, typable } from '../io.ts';
import { errorText } from '../exit.ts';
import { newToken } from '../../client/feed/feed-http.ts';
import type { Runs, Steering } from '../../viewer/index.ts';

/** The flags of every act on a rollout. */
export const OF_ACT = {
  ...OF_ROLLOUT,
  by: text('<person>', "who (default: git's user.email, else this user)"),
  via: withDefault(text('<program>', 'the program that records it', { hidden: true }), 'cli'),
  dryRun: flag('say what would be recorded, and record nothing'),
  json: JSON_FLAG,
};
export const REASON = text('<text>', 'why, in one line');

function recordedAnswer({ run }: RunPlace, { file, created, act }: StoredAct, dryRun: boolean, what: string) {
  const lead = dryRun ? 'Would record' : created ? 'Recorded' : 'Recorded before';
  return { json: { run, file, recorded: created && !dryRun, act }, text: `${lead}: ${what}.` };
}

export const note = command({
  args: { ...ROLLOUT_ARGUMENTS, '<text>': 'the note' },
  flags: { ...OF_ACT, turn: wholeFlag('<n>', 'the turn that it is about (default: the whole rollout)', 1) },
  help: 'A note changes no export. docs/steer.md\n\nExample:\n  everturn note my-run arith-0007 --turn 2 "lost the sign"',
  run: noteAnswer,
});

interface OfRollout extends Values<typeof OF_ACT> {
  readonly run: string;
  readonly query: string;
}

export async function noteAnswer(
  io: Io,
  given: OfRollout & { readonly turn: number | undefined; readonly text: string },
): Promise<Answer> {
  const place = await findRun(io, given.run, given.out);
  // A damaged run.json is said before anything is recorded.
  await place.store.get('run');
  const words = mustBeText('The note', given.text, MOST_TEXT_CHARS, true);
  const { turn = null, dryRun, via } = given;
  const by = await personOf(io, given.by);
  const { id, stored } = await recordNote(place, given, { turn, text: words, by, via, at: io.now(), dryRun });
  return recordedAnswer(place, stored, dryRun, `a note of ${oneLine(by)} on ${rolloutTitle(id, turn)}`);
}

export const verdict = command({
  args: { ...ROLLOUT_ARGUMENTS, '<verdict>': { help: 'right or wrong', choices: HUMAN_VERDICTS } },
  flags: { ...OF_ACT, turn: required(wholeFlag('<n>', 'the turn', 1)), reason: REASON },
  help:
    "The judge's verdict stays; `everturn export --verdicts human` takes people's. A second verdict of the same person\n" +
    'replaces the first, which stays recorded. docs/steer.md\n\nExample:\n' +
    '  everturn verdict my-run arith-0007 --turn 2 right --reason "equivalent form"',
  run: (io, given) => verdictAnswer(io, { ...given, verdict: given.verdict as VerdictAct['verdict'] }),
});

type Verdict = Pick<VerdictAct, 'verdict'> & { readonly turn: number; readonly reason: string | undefined };

export async function verdictAnswer(io: Io, given: OfRollout & Verdict): Promise<Answer> {
  const place = await findRun(io, given.run, given.out);
  // A damaged run.json is said before anything is recorded.
  await place.store.get('run');
  const { turn, dryRun, via, verdict: said } = given;
  const reason = reasonOf(given.reason);
  const by = await personOf(io, given.by);
  const signed = { by, via, at: io.now(), dryRun };
  const found = await recordVerdict(place, given, { turn, verdict: said, reason, ...signed });
  const { id, stored, judge, others, wentOn } = found;
  const what = oneLine(`${rolloutTitle(id, turn)} is ${said}${reason === null ? '' : ` (${reason})`}`);
  const judged = `the judge said ${judge.verdict} (${oneLine(judge.reason)})`;
  const about = others.flatMap((one) =>
    one.verdict === said
      ? []
      : `${oneLine(one.by)} says ${one.verdict}: exports with --verdicts human leave out what people disagree on, until one of you gives another verdict.`,
  );
  if (wentOn) about.push(WENT_ON);
  const { json, text } = recordedAnswer(place, stored, dryRun, `${oneLine(by)} says that ${what}; ${judged}`);
  return { json: { ...json, judge, others }, text, about };
}

const WENT_ON =
  "The turns after it answered the judge's feedback: exports with --verdicts human leave this rollout out, unless --contradicted says otherwise.";

/** Verdicts and notes from the viewer's page: checked, recorded and said as on the command line. */
export async function steeringOf(
  io: Io,
  { out, has }: Pick<Runs, 'out' | 'has'>,
  by: string | undefined,
): Promise<Steering> {
  return { key: newToken(), has, act: actsBy(io, out, await personOf(io, by)) };
}

export function actsBy(io: Io, out: string, by: string): Steering['act'] {
  const signed = { out, by, via: 'view', dryRun: false, json: false };
  return async ({ turn, ...asked }) => {
    try {
      const { text, about = [] } =
        asked.act === 'note'
          ? await noteAnswer(io, { ...asked, ...signed, turn: turn === 0 ? undefined : turn })
          : await verdictAnswer(io, {
              ...asked,
              ...signed,
              turn,
              reason: asked.reason === '' ? undefined : asked.reason,
            });
      return { ok: true, said: [text, ...about].join('\n') };
    } catch (error) {
      return { ok: false, said: typable(io, errorText(error, false)).trim() };
    }
  };
}
