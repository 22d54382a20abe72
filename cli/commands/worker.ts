// `everturn worker`: a worker process for the cluster in the environment, or an additional one for the local
// service.

import { type Command, Option } from 'commander';
import { namesCluster } from '../../client/temporal/cluster-settings.ts';
import { TemporalError, UsageError } from '../../domain/errors/errors.ts';
import { serviceStatus } from '../../local/service/service-control.ts';
import { DEFAULT_DRAIN_SECONDS, DEFAULT_SLOTS, wholeNumber, workerSettings } from '../../worker-settings.ts';
import { serve } from '../../worker.ts';
import type { ExitCode } from '../exit.ts';
import { unsafeOption } from '../flags.ts';
import { type Io, say } from '../io.ts';

interface Flags {
  readonly slots?: string;
  readonly healthPort?: string;
  readonly drainSeconds?: string;
  readonly metricsPort?: string;
  readonly unsafeRunCodeWithoutSandbox?: boolean;
  readonly runsUnder?: string;
  readonly models?: string;
  readonly apiKeyEnv?: string;
  readonly runModules?: boolean;
  readonly serve?: readonly string[];
  readonly mcp?: readonly string[];
}

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  command
    .addOption(new Option('--slots <n>', `concurrent generations (default: EVERTURN_SLOTS, or ${DEFAULT_SLOTS})`))
    .addOption(new Option('--health-port <[host:]n>', 'serve /live, /ready and /metrics by HTTP on this port'))
    .addOption(
      new Option(
        '--drain-seconds <n>',
        `time for work in flight to finish when the worker is ended (default: EVERTURN_DRAIN_SECONDS, or ${DEFAULT_DRAIN_SECONDS})`,
      ),
    )
    .addOption(
      new Option(
        '--metrics-port <n>',
        'Prometheus metrics of Everturn and of Temporal also on 127.0.0.1:<n>/metrics (or EVERTURN_METRICS, EVERTURN_OTLP)',
      ),
    )
    .addOption(unsafeOption())
    .optionsGroup(
      'Permissions of workflows (docs/security.md). Runs that your own `everturn run` starts here need none of these:',
    )
    .addOption(
      new Option(
        '--runs-under <dir,…>',
        'folders, and s3:// prefixes, that runs and data sets may be in (default: ./runs)',
      ),
    )
    .addOption(new Option('--models <dir|id,…>', 'folders of models and tokenizers, and ids of the hub'))
    .addOption(new Option('--api-key-env <NAME=url,…>', 'keys, each with a server that it may be sent to'))
    .addOption(
      new Option(
        '--run-modules',
        'run the environments and tools that runs bring as modules in their folders, as this user',
      ),
    )
    .addOption(
      new Option(
        '--serve <what>',
        'a command or an address: an environment for runs that have the same; may be repeated',
      ).argParser((text: string, before: string[] | undefined) => [...(before ?? []), text]),
    )
    .addOption(
      new Option('--mcp <command>', 'an MCP server: the tools of runs that have the same; may be repeated').argParser(
        (text: string, before: string[] | undefined) => [...(before ?? []), text],
      ),
    )
    .optionsGroup('')
    .addHelpText(
      'after',
      '\nIt must be able to read and write the folders of its runs. Any number of workers may run, on any machines; Ctrl-C\n' +
        'ends one in order, and another continues its work. One that starts while its cluster is away waits for it.\n' +
        'A worker judges code only with a proven sandbox, and prints so otherwise.\n\nExample:\n  TEMPORAL_ADDRESS=temporal.example.com:7233 everturn worker --slots 128 --runs-under /shared/runs',
    )
    .action(async (flags: Flags) => {
      const slots = wholeNumber('--slots', flags.slots, 1);
      const drainSeconds = wholeNumber('--drain-seconds', flags.drainSeconds, 0);
      const health = flags.healthPort === undefined ? undefined : healthOf(flags.healthPort);
      useLocalService(io);
      say(io, `Worker for ${process.env['TEMPORAL_ADDRESS'] ?? 'the cluster of temporal.toml'}; Ctrl-C ends it.`);
      const settings = workerSettings(process.env, flags, { cwd: io.cwd });
      const code = await serve({
        ...settings,
        slots: slots ?? settings.slots,
        drainSeconds: drainSeconds ?? settings.drainSeconds,
        unsafeCode: flags.unsafeRunCodeWithoutSandbox === true || settings.unsafeCode,
        ...(health && { health }),
      });
      exit(code as ExitCode);
    });
}

/** All addresses of the machine by default: a kubelet asks from outside. */
function healthOf(text: string): { readonly host: string; readonly port: number } {
  const [, host = '0.0.0.0', port] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? [];
  if (port !== undefined && Number(port) <= 65_535) return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
  throw new UsageError(`--health-port is "${text}".`, {
    reason: 'bad-value',
    fix: 'It takes a port, or a host and a port: 9000, 127.0.0.1:9000.',
  });
}

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
