// `everturn worker`: a worker process for the cluster in the environment, or an additional one for the local
// service.

import { namesCluster } from '../../client/temporal/cluster-settings.ts';
import { TemporalError } from '../../domain/errors/errors.ts';
import { serviceStatus } from '../../local/service/service.ts';
import { DEFAULT_DRAIN_SECONDS, DEFAULT_SLOTS, listenAddress, workerSettings } from '../../worker-settings.ts';
import { serve } from '../../worker.ts';
import { command, flag, listFlag, parsed, text, wholeFlag } from '../command.ts';
import type { ExitCode } from '../exit.ts';
import { UNSAFE } from '../flags.ts';
import { programWords } from '../../run/agent-program.ts';
import { type Io, say } from '../io.ts';

/** All addresses of the machine by default: a kubelet asks from outside. */
const healthOf = (given: string) => listenAddress('--health-port', given, '0.0.0.0');

export const worker = command({
  flags: {
    slots: wholeFlag('<n>', `concurrent generations (default: EVERTURN_SLOTS, or ${DEFAULT_SLOTS})`, 1),
    healthPort: parsed('<[host:]n>', 'serve /live, /ready and /metrics by HTTP on this port', healthOf),
    drainSeconds: wholeFlag(
      '<n>',
      `time for work in flight to finish when the worker is ended (default: EVERTURN_DRAIN_SECONDS, or ${DEFAULT_DRAIN_SECONDS})`,
      0,
    ),
    metricsPort: text(
      '<n>',
      'Prometheus metrics of Everturn and of Temporal also on 127.0.0.1:<n>/metrics (or EVERTURN_METRICS, EVERTURN_OTLP)',
    ),
    sessions: text(
      '<[host:]n>',
      'hand out sessions to agents that run elsewhere on this port (or EVERTURN_SESSIONS), to those with EVERTURN_SESSIONS_KEY',
    ),
    unsafeRunCodeWithoutSandbox: UNSAFE,
    runsUnder: text('<dir,…>', 'folders, and s3:// prefixes, that runs and data sets may be in (default: ./runs)', {
      group:
        'Permissions of workflows (docs/security.md). Runs that your own `everturn run` starts here need none of these:',
    }),
    models: text('<dir|id,…>', 'folders of models and tokenizers, and ids of the hub'),
    apiKeyEnv: text('<NAME=url,…>', 'keys, each with a server that it may be sent to'),
    runModules: flag('run the environments and tools that runs bring as modules in their folders, as this user'),
    serve: listFlag('<what>', 'a command or an address: an environment for runs that have the same; may be repeated'),
    mcp: listFlag('<command>', 'an MCP server: the tools of runs that have the same; may be repeated'),
    serveAgent: listFlag('<command>', 'a program: the agent of runs that have the same; may be repeated'),
  },
  help:
    'It must be able to read and write the folders of its runs. Any number of workers may run, on any machines; Ctrl-C\n' +
    'ends one in order, and another continues its work. One that starts while its cluster is away waits for it.\n' +
    'A worker judges code only with a proven sandbox, and prints so otherwise.\n\nExample:\n' +
    '  TEMPORAL_ADDRESS=temporal.example.com:7233 everturn worker --slots 128 --runs-under /shared/runs',
  async run(io, given) {
    useLocalService(io);
    say(io, `Worker for ${process.env['TEMPORAL_ADDRESS'] ?? 'the cluster of temporal.toml'}; Ctrl-C ends it.`);
    const agents = (given.serveAgent ?? []).map((text) => programWords(text, io.cwd, '--serve-agent'));
    const words = Object.fromEntries(Object.entries({ ...given, agents }).filter(([, value]) => value !== undefined));
    const settings = workerSettings(process.env, words, { cwd: io.cwd });
    const { slots = settings.slots, drainSeconds = settings.drainSeconds, healthPort: health } = given;
    const unsafeCode = given.unsafeRunCodeWithoutSandbox || settings.unsafeCode;
    return (await serve({ ...settings, slots, drainSeconds, unsafeCode, ...(health && { health }) })) as ExitCode;
  },
});

/** The worker reads its cluster from the environment, however it was started. */
function useLocalService(io: Io): void {
  if (namesCluster()) return;
  const { up, state } = serviceStatus(io.env);
  if (!up || !state) {
    throw new TemporalError('No cluster is named, and the local service is not running.', {
      reason: 'no-cluster',
      fix: 'Name a cluster by TEMPORAL_ADDRESS, or start the local service with `everturn up` (which has its own worker).',
    });
  }
  process.env['TEMPORAL_ADDRESS'] = state.address;
  process.env['TEMPORAL_NAMESPACE'] = 'default';
}
