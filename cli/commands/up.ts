// `everturn up`: the local service, in the background.

import type { Command } from 'commander';
import { namesCluster } from '../../client/temporal/cluster-settings.ts';
import { homeOf } from '../../local/service/home.ts';
import { printProgress } from '../../local/service/progress.ts';
import { ensureService } from '../../local/service/service.ts';
import { NO_UI } from '../find/link.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { jsonOption } from '../flags.ts';
import { type Io, print, printJson, say } from '../io.ts';
import { programName } from '../find/place.ts';

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  command
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nIt ends on `everturn down`, or by itself after 15 idle minutes (EVERTURN_IDLE_MINUTES).\n' +
        '`run` and `demo` start it if needed.\n\nExample:\n  everturn up',
    )
    .action(async (flags: { readonly json?: boolean }) => {
      const { address, uiAddress, started } = await ensureService({ env: io.env, onProgress: printProgress(io.err) });
      const { logs } = homeOf(io.env);
      if (flags.json) printJson(io, { address, ui: uiAddress, logs, started });
      else {
        print(io, `The local service is up${started ? '' : ' already'}.`);
        print(io, `Temporal   ${address}\nUI         ${uiAddress ?? NO_UI}\nLogs       ${logs}`);
        print(io, `\`${programName(io)} down\` ends it.`);
      }
      if (namesCluster()) say(io, 'Note: TEMPORAL_ADDRESS (or temporal.toml) names another cluster; runs go there.');
      exit(EXIT.ok);
    });
}
