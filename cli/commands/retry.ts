// `everturn retry <run> <query>`: plays a rollout that failed or could not be judged once more, as its next attempt.

import { type Command, Option } from 'commander';
import { mayRetry } from '../../domain/rollout/ending.ts';
import { UsageError } from '../../domain/errors/errors.ts';
import { firstWords, oneLine } from '../../domain/text/foreign-text.ts';
import { questionOf } from '../../domain/run/query.ts';
import type { RetryAct } from '../../domain/run/steering.ts';
import { registerRun } from '../../local/permissions/registered.ts';
import { homeOf } from '../../local/service/home.ts';
import { startRollout } from '../../client/temporal/rollouts.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { openLink } from '../find/link.ts';
import { mustBeText, personOf } from '../find/person.ts';
import { findRun, programName, runArgument, shellQuoted } from '../find/place.ts';
import { findRollout } from '../find/rollout.ts';
import { runMadeBefore, stillPlayed } from '../find/source.ts';
import { type Io, print, printJson, say } from '../io.ts';
import { actArguments, type ActFlags, MOST_REASON_CHARS, nameOf, reasonOption, record } from '../play/act.ts';
import { mustProveSandbox, mustTakeCode } from '../play/code-sandbox.ts';
import { namesCluster } from '../../client/temporal/cluster-settings.ts';

interface Flags extends ActFlags {
  readonly detach?: boolean;
}

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  actArguments(command)
    .addOption(reasonOption())
    .addOption(new Option('--detach', 'return as soon as it has started'))
    .addHelpText(
      'after',
      '\nThe attempt before it stays recorded; exports take the last one. docs/steer.md\n\nExample:\n' +
        '  everturn retry my-run arith-0007',
    )
    .action(async (named: string, query: string, flags: Flags) => exit(await retry(io, named, query, flags)));
}

async function retry(io: Io, named: string, query: string, flags: Flags): Promise<ExitCode> {
  const place = await findRun(io, named, flags.out);
  const run = (await runMadeBefore(place)).record;
  const reason = flags.reason === undefined ? null : mustBeText('--reason', flags.reason, MOST_REASON_CHARS);
  const before = await findRollout(place, query, flags);
  const last = (await place.store.listRolloutsOf(query)).findLast(({ sample }) => sample === before.sample)!;
  const name = oneLine(nameOf(before, null));
  const begun = (await place.store.getRollout(before))!.record;
  const end = await place.store.getEnd(before);
  const refuse = (message: string, fix: string) => new UsageError(message, { reason: 'not-allowed', fix });
  if (!end) throw stillPlayed(io, place, before);
  const again = `\`${programName(io)} fork ${runArgument(io, place)} ${shellQuoted(oneLine(query))} --from-turn 1\``;
  if (!mayRetry(end.record.outcome))
    throw refuse(
      `${name} is ${end.record.outcome}; only what failed or was undecided is tried again.`,
      end.record.outcome === 'complete' ? `${again} plays it again, as a run of its own.` : 'Begin another run.',
    );
  if (last.attempt > before.attempt)
    throw refuse(`${name} was tried again: attempt ${last.attempt}.`, 'Leave --attempt out.');
  if (run.train)
    throw refuse(`A trainer lives on run "${place.run}".`, 'Its feed tries failed members again by itself.');
  if (run.forkedFrom) throw refuse(`Run "${place.run}" is a fork.`, 'Fork the other run once more.');
  if (begun.index === null)
    throw refuse(`A client started ${name} with a row of its own.`, 'Start it again there, with the next `attempt`.');
  const by = await personOf(io, flags.by);
  const id = { ...before, attempt: before.attempt + 1 };
  const { query: of, sample, attempt } = before;
  const act: RetryAct = {
    act: 'retry',
    of: { query: of, sample, attempt, turn: null, hash: end.hash },
    ...{ reason, by, via: flags.via, at: io.now() },
  };
  if (flags.dryRun) {
    print(io, `Would play ${name} again, as attempt ${id.attempt}.`);
    return EXIT.ok;
  }
  const { tools } = begun.settings;
  const isCode = begun.query.task === 'code' || tools?.list.some(({ door }) => door === 'python') === true;
  if (isCode && !namesCluster()) await mustProveSandbox(io);
  const link = await openLink(io);
  try {
    if (isCode) await mustTakeCode(link);
    registerRun(homeOf(io.env), { folder: place.store.folder, ...begun.settings });
    await record(place, act, false);
    const input = { run: place.run, out: place.out, index: begun.index, sample, attempt: id.attempt };
    const title = firstWords(questionOf(begun.query));
    const started = await startRollout(link.session, input, { query: of, title });
    say(io, `Playing    ${oneLine(nameOf(id, null))}`);
    if (flags.detach) {
      if (flags.json) printJson(io, { ...id, workflowId: started.workflowId });
      return EXIT.ok;
    }
    const { outcome, stopReason, turns, reason: why } = await started.result();
    if (flags.json) printJson(io, { ...id, outcome, stopReason, turns, reason: why });
    else
      print(
        io,
        `${oneLine(nameOf(id, null))} is ${outcome} (${oneLine(why ?? stopReason)}). result.json counts the first attempt; exports take the last.`,
      );
    return outcome === 'failed' || outcome === 'cancelled' ? EXIT.failed : EXIT.ok;
  } finally {
    await link.close();
  }
}
