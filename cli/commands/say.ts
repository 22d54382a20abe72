// `everturn say <run> <query> "text"`: a person's message to a rollout in flight, behind the feedback before its next turn.

import type { Command } from 'commander';
import { UsageError } from '../../domain/errors/errors.ts';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { rolloutWorkflowId } from '../../domain/run/ids.ts';
import { MOST_MESSAGE_CHARS } from '../../domain/text/say.ts';
import { sayTo } from '../../client/temporal/rollouts.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { openLink } from '../find/link.ts';
import { locateRun } from '../find/locate.ts';
import { mustBeText, personOf } from '../find/person.ts';
import { programName, runArgument, shellQuoted } from '../find/place.ts';
import { findRollout } from '../find/rollout.ts';
import { type Io, print, printJson } from '../io.ts';
import { actArguments, type ActFlags, nameOf } from '../play/act.ts';

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  actArguments(command)
    .argument('<text>', 'the message')
    .addHelpText(
      'after',
      '\nIt is context and carries no loss; exports leave the rollout out, unless --human-turns include asks for it.\n' +
        'Of a rollout that has ended: everturn fork --say. docs/steer.md\n\nExample:\n' +
        '  everturn say my-run arith-0007 "Check the sign."',
    )
    .action(async (named: string, query: string, text: string, flags: ActFlags) =>
      exit(await say(io, named, query, text, flags)),
    );
}

async function say(io: Io, named: string, query: string, given: string, flags: ActFlags): Promise<ExitCode> {
  const place = await locateRun(io, named, flags.out);
  const text = mustBeText('The message', given, MOST_MESSAGE_CHARS, true);
  const by = await personOf(io, flags.by);
  const id = await findRollout(place, query, flags);
  const me = programName(io);
  const run = runArgument(io, place);
  if ((await place.store.getRun())?.record.train) {
    throw new UsageError(`A trainer lives on run "${place.run}": its groups hold the model's turns alone.`, {
      reason: 'not-allowed',
      fix: `Fork the rollout once it has ended: \`${me} fork ${run} ${shellQuoted(oneLine(query))} --say …\`.`,
    });
  }
  if (await place.store.getEnd(id)) {
    throw new UsageError(`${nameOf(id, null)} has ended.`, {
      reason: 'not-allowed',
      fix: `\`${me} fork ${run} ${shellQuoted(oneLine(query))} --from-turn <k> --say …\` plays it again with a message.`,
    });
  }
  if (flags.dryRun) {
    print(io, `Would send: a message of ${oneLine(by)} to ${oneLine(nameOf(id, null))}, before its next turn.`);
    return EXIT.ok;
  }
  const link = await openLink(io);
  try {
    const { turn } = await sayTo(link.session, rolloutWorkflowId(id), { text, by });
    if (flags.json) printJson(io, { run: place.run, query: id.query, sample: id.sample, turn, by });
    else {
      const what = `a message of ${oneLine(by)} to ${oneLine(nameOf(id, null))}, behind the feedback before turn ${turn}`;
      print(
        io,
        `Sent: ${what}. If the rollout ends before that turn, nothing answers it; \`show\` says what was answered.`,
      );
    }
    return EXIT.ok;
  } finally {
    await link.close();
  }
}
