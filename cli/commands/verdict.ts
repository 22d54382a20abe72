// `everturn verdict <run> <query> right|wrong --turn k`: a person's verdict on one turn, recorded beside the judge's.

import { Argument, type Command, Option } from 'commander';
import { UsageError } from '../../domain/errors/errors.ts';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { HUMAN_VERDICTS, type HumanVerdict, standingVerdicts, type VerdictAct } from '../../domain/run/steering.ts';
import { actsOn, readActs } from '../../records/steering.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { mustBeText, personOf } from '../find/person.ts';
import { findRun } from '../find/place.ts';
import { runMadeBefore } from '../find/source.ts';
import { findRollout, whole } from '../find/rollout.ts';
import { type Io, print, printJson, say } from '../io.ts';
import { actArguments, type ActFlags, MOST_REASON_CHARS, nameOf, reasonOption, record, turnOf } from '../play/act.ts';

interface Flags extends ActFlags {
  readonly turn: string;
}

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  actArguments(command)
    .addArgument(new Argument('<verdict>', 'right or wrong').choices(HUMAN_VERDICTS))
    .addOption(new Option('--turn <n>', 'the turn').makeOptionMandatory())
    .addOption(reasonOption())
    .addHelpText(
      'after',
      "\nThe judge's verdict stays; `everturn export --verdicts human` takes people's. A second verdict of the same person\n" +
        'replaces the first, which stays recorded. docs/steer.md\n\nExample:\n' +
        '  everturn verdict my-run arith-0007 --turn 2 right --reason "equivalent form"',
    )
    .action(async (named: string, query: string, verdict: HumanVerdict, flags: Flags) =>
      exit(await give(io, named, query, verdict, flags)),
    );
}

async function give(io: Io, named: string, query: string, verdict: HumanVerdict, flags: Flags): Promise<ExitCode> {
  const place = await findRun(io, named, flags.out);
  await runMadeBefore(place);
  const turn = whole('--turn', flags.turn, 1);
  const reason = flags.reason === undefined ? null : mustBeText('--reason', flags.reason, MOST_REASON_CHARS);
  const id = await findRollout(place, query, flags);
  const { record: played, hash } = await turnOf(place, id, turn);
  const judged = (await place.store.getVerdict(id, turn))?.record;
  if (!judged) {
    throw new UsageError(`${nameOf(id, turn)} is still being judged.`, {
      reason: 'still-played',
      fix: "Give the verdict once the judge has given its own; it stays beside the judge's.",
    });
  }
  const by = await personOf(io, flags.by);
  const { sample, attempt } = id;
  const of = { query: id.query, sample, attempt, turn: played.turn, hash };
  const known = actsOn(await readActs(place.store), id);
  const standing = standingVerdicts(known, turn);
  const own = standing.find(({ act }) => act.by === by);
  const same = own?.act.verdict === verdict && own.act.reason === reason;
  const act: VerdictAct = {
    act: 'verdict',
    of,
    verdict,
    reason,
    after: own?.name ?? null,
    by,
    via: flags.via,
    at: io.now(),
  };
  const stored = same
    ? { ...own, created: false, file: `steering/${own.name}.json` }
    : await record(place, act, flags.dryRun === true);
  const others = standing.filter(({ act: one }) => one.by !== by);
  const ended = (await place.store.getEnd(id))?.record;
  const wentOn = verdict !== judged.verdict && (ended ? turn < ended.turns.length : true);
  if (flags.json) {
    printJson(io, {
      ...{ run: place.run, file: stored.file, recorded: stored.created && flags.dryRun !== true, act: stored.act },
      ...{ judge: { verdict: judged.verdict, reason: judged.reason } },
      others: others.map(({ act: { by: who, verdict: said, reason: why } }) => ({
        by: who,
        verdict: said,
        reason: why,
      })),
    });
    return EXIT.ok;
  }
  const what = oneLine(`${nameOf(id, turn)} is ${verdict}${reason === null ? '' : ` (${reason})`}`);
  const judge = `the judge said ${judged.verdict} (${oneLine(judged.reason)})`;
  const lead = flags.dryRun ? 'Would record' : stored.created ? 'Recorded' : 'Recorded before';
  print(io, `${lead}: ${oneLine(by)} says that ${what}; ${judge}.`);
  for (const { act: one } of others)
    if (one.verdict !== verdict)
      say(
        io,
        `${oneLine(one.by)} says ${one.verdict}: exports with --verdicts human leave out what people disagree on, until one of you gives another verdict.`,
      );
  if (wentOn)
    say(
      io,
      `The turns after it answered the judge's feedback: exports with --verdicts human leave this rollout out, unless --contradicted says otherwise.`,
    );
  return EXIT.ok;
}
