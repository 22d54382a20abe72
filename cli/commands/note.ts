// `everturn note <run> <query> [--turn k] "text"`: a person's note on a rollout or one of its turns.

import { type Command, Option } from 'commander';
import { oneLine } from '../../domain/text/foreign-text.ts';
import type { NoteAct } from '../../domain/run/steering.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { mustBeText, personOf } from '../find/person.ts';
import { findRun } from '../find/place.ts';
import { runMadeBefore } from '../find/source.ts';
import { findRollout, noRollout, whole } from '../find/rollout.ts';
import { type Io, print, printJson } from '../io.ts';
import { actArguments, type ActFlags, MOST_TEXT_CHARS, nameOf, record, turnOf } from '../play/act.ts';

interface Flags extends ActFlags {
  readonly turn?: string;
}

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  actArguments(command)
    .argument('<text>', 'the note')
    .addOption(new Option('--turn <n>', 'the turn that it is about (default: the whole rollout)'))
    .addHelpText(
      'after',
      '\nA note changes no export. docs/steer.md\n\nExample:\n  everturn note my-run arith-0007 --turn 2 "lost the sign"',
    )
    .action(async (named: string, query: string, text: string, flags: Flags) =>
      exit(await note(io, named, query, text, flags)),
    );
}

async function note(io: Io, named: string, query: string, given: string, flags: Flags): Promise<ExitCode> {
  const place = await findRun(io, named, flags.out);
  await runMadeBefore(place);
  const text = mustBeText('The note', given, MOST_TEXT_CHARS, true);
  const turn = flags.turn === undefined ? null : whole('--turn', flags.turn, 1);
  const id = await findRollout(place, query, flags);
  const about = turn === null ? await place.store.getRollout(id) : await turnOf(place, id, turn);
  if (!about) throw await noRollout(place, query);
  const { sample, attempt } = id;
  const act: NoteAct = {
    act: 'note',
    of: { query: id.query, sample, attempt, turn, hash: about.hash },
    text,
    by: await personOf(io, flags.by),
    via: flags.via,
    at: io.now(),
  };
  const stored = await record(place, act, flags.dryRun === true);
  if (flags.json)
    printJson(io, {
      ...{ run: place.run, file: stored.file, recorded: stored.created && flags.dryRun !== true },
      act: stored.act,
    });
  else {
    const lead = flags.dryRun ? 'Would record' : stored.created ? 'Recorded' : 'Recorded before';
    print(io, `${lead}: a note of ${oneLine(act.by)} on ${oneLine(nameOf(id, turn))}.`);
  }
  return EXIT.ok;
}
