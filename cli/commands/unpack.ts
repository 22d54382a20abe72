// `everturn unpack <run>`: loose files of packed rollouts again, as they were before `everturn pack`.

import type { Command } from 'commander';
import { calledAgain } from '../../storage/disk/errors.ts';
import { unpackRun } from '../../storage/pack/unpack.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { findRun } from '../find/place.ts';
import { jsonOption, outOption } from '../flags.ts';
import { type Io, print, printJson } from '../io.ts';
import { plural } from '../view/format.ts';

interface Flags {
  readonly out: string;
  readonly json?: boolean;
}

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  command
    .argument('<run>', "a run's name, or its folder")
    .addOption(outOption())
    .addOption(jsonOption('the summary as one JSON object'))
    .addHelpText(
      'after',
      '\nIt may be killed and called again at any time. A pack whose manifest is gone is proved\nand unpacked as well; a damaged one is named and stays as it is.\n\nExample:\n  everturn unpack my-run',
    )
    .action(async (named: string, { out, json }: Flags) => {
      const { store } = await findRun(io, named, out);
      const done = await unpackRun(store.folder).catch((error: unknown) => {
        throw calledAgain(error);
      });
      if (json) printJson(io, { folder: store.folder, ...done });
      else print(io, `${plural(done.rollouts, 'rollout')} unpacked from ${plural(done.packs, 'file')}.`);
      exit(EXIT.ok);
    });
}
