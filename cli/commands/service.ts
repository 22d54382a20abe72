// `everturn up`, `everturn down`: the local service, in the background. Open runs stay in its database and continue when it
// is up again.

import { namesCluster } from '../../client/temporal/cluster-settings.ts';
import { homeOf } from '../../local/service/home.ts';
import { openWorkflows } from '../../local/service/idle.ts';
import { printProgress } from '../../local/machine/progress.ts';
import { ensureService, serviceStatus, stopService } from '../../local/service/service.ts';
import { command } from '../command.ts';
import { JSON_FLAG } from '../flags.ts';
import { typable } from '../io.ts';

export const up = command({
  flags: { json: JSON_FLAG },
  help:
    'It ends on `everturn down`, or by itself after 15 idle minutes (EVERTURN_IDLE_MINUTES).\n' +
    '`run` and `demo` start it if needed.\n\nExample:\n  everturn up',
  async run(io) {
    const { address, uiAddress: ui, started } = await ensureService({ env: io.env, onProgress: printProgress(io.err) });
    const { logs } = homeOf(io.env);
    return {
      json: { address, ui, logs, started },
      text: typable(
        io,
        `The local service is up${started ? '' : ' already'}.\n` +
          `Temporal   ${address}\nUI         ${ui ?? 'off (EVERTURN_UI is off)'}\nLogs       ${logs}\n\`everturn down\` ends it.`,
      ),
      notes: namesCluster() ? ['Note: TEMPORAL_ADDRESS (or temporal.toml) names another cluster; runs go there.'] : [],
    };
  },
});

export const down = command({
  flags: { json: JSON_FLAG },
  help: 'Nothing is lost: open runs continue when the service is up again.\n\nExample:\n  everturn down',
  async run(io) {
    const { up: isUp, state } = serviceStatus(io.env);
    const open = isUp && state ? await openWorkflows(state.address) : undefined;
    const was = await stopService(io.env);
    const rest = open ? ` Open runs continue when it is up again (\`everturn up\`).` : '';
    return {
      json: { wasUp: was !== undefined },
      text: was ? typable(io, `The local service is down.${rest}`) : 'The local service is not running.',
    };
  },
});
