// `everturn down`: ends the local service. Open runs stay in its database and continue when it is up again.

import type { Command } from 'commander';
import { openWorkflows } from '../../local/service/idle.ts';
import { serviceStatus, stopService } from '../../local/service/service-control.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { jsonOption } from '../flags.ts';
import { type Io, print, printJson } from '../io.ts';
import { programName } from '../find/place.ts';

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  command
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nNothing is lost: open runs continue when the service is up again.\n\nExample:\n  everturn down',
    )
    .action(async (flags: { readonly json?: boolean }) => {
      const { up, state } = serviceStatus(io.env);
      const open = up && state ? await openWorkflows(state.address) : undefined;
      const was = await stopService(io.env);
      if (flags.json) printJson(io, { wasUp: was !== undefined });
      else if (!was) print(io, 'The local service is not running.');
      else {
        const rest = open ? ` Open runs continue when it is up again (\`${programName(io)} up\`).` : '';
        print(io, `The local service is down.${rest}`);
      }
      exit(EXIT.ok);
    });
}
