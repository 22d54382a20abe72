// Finds the Temporal server's binary, in the documented order: EVERTURN_TEMPORAL_CLI, PATH, our cache, the SDK's
// download, a build from Go modules. A candidate counts once it has answered `--version`. Each failed step reports why;
// if all fail, one error lists the reasons and the package to install.

import { mkdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { TemporalError } from '../../../domain/errors/errors.ts';
import { buildTemporal, GO_NEEDED } from './build.ts';
import { download, sdkCached } from './download.ts';
import { cacheFolder, type Environment } from '../../machine/user-folders.ts';
import { lock } from '../../machine/lock.ts';
import type { OnProgress } from '../../machine/progress.ts';
import { probe, TEMPORAL_CLI_VERSION, type TemporalBinary } from './temporal-version.ts';

type Found = TemporalBinary | { readonly problem: string };

export interface FindOptions {
  readonly env: Environment;
  readonly onProgress?: OnProgress;
  /** Last resort, replaceable in tests. */
  readonly build?: typeof buildTemporal;
  readonly download?: typeof download;
}

interface FoundBinary extends TemporalBinary {
  /** The step that found it. */
  readonly source: string;
}

type Attempt = (source: string, step: () => Promise<Found>, quiet?: boolean) => Promise<FoundBinary | undefined>;

/** Each failed step goes to `tried`, and to `onProgress` unless it is quiet. */
function attempts(tried: string[], onProgress: OnProgress | undefined): Attempt {
  return async (source, step, quiet = false) => {
    const found = await step();
    if ('path' in found) return { ...found, source };
    tried.push(`${source}: ${found.problem}`);
    if (!quiet) onProgress?.({ kind: 'note', text: `${source}: ${found.problem}` });
    return undefined;
  };
}

const folderIn = (env: Environment): string => join(cacheFolder(env), `temporal-${TEMPORAL_CLI_VERSION}`);

async function installed(env: Environment, attempt: Attempt): Promise<FoundBinary | undefined> {
  const named = env['EVERTURN_TEMPORAL_CLI'];
  return (
    (named
      ? await attempt('EVERTURN_TEMPORAL_CLI', () => probe(named))
      : await attempt('EVERTURN_TEMPORAL_CLI', async () => ({ problem: 'not set' }), true)) ??
    (await attempt('PATH', () => onPath(env), true)) ??
    (await attempt('cache', () => probe(join(folderIn(env), 'temporal')), true)) ??
    (await attempt('SDK cache', () => sdkCached(env['TMPDIR'] || tmpdir()), true))
  );
}

/** The binary that is there already, without download or build; or what was tried. */
export async function installedTemporal(
  env: Environment,
): Promise<FoundBinary | { readonly tried: readonly string[] }> {
  const tried: string[] = [];
  return (await installed(env, attempts(tried, undefined))) ?? { tried };
}

export async function findTemporal(options: FindOptions): Promise<FoundBinary> {
  const { env, onProgress } = options;
  const folder = folderIn(env);
  const cached = join(folder, 'temporal');
  const tried: string[] = [];
  const attempt = attempts(tried, onProgress);
  const found = await installed(env, attempt);
  if (found) return found;

  mkdirSync(folder, { recursive: true });
  const held = await lock(join(folder, 'lock'), (holder) =>
    onProgress?.({
      kind: 'step',
      text: `Another process (pid ${holder.pid}) is fetching the Temporal server; waiting for it.`,
    }),
  );
  try {
    const made =
      (await attempt('cache', () => probe(cached), true)) ??
      (await attempt('download', () =>
        (options.download ?? download)({ folder, env, ...(onProgress && { onProgress }) }),
      )) ??
      (await attempt('Go build', () =>
        (options.build ?? buildTemporal)({ folder, env, ...(onProgress && { onProgress }) }),
      ));
    if (made) return made;
  } finally {
    held.release();
  }
  throw notFound(tried);
}

async function onPath(env: Environment): Promise<Found> {
  const problems: string[] = [];
  for (const folder of (env['PATH'] ?? '').split(delimiter)) {
    const path = join(folder, 'temporal');
    // A folder of that name, or an empty PATH entry (the working directory), is not a command.
    if (!folder || !isFile(path)) continue;
    const found = await probe(path);
    if ('path' in found) return found;
    problems.push(found.problem);
  }
  return { problem: problems.join('; ') || 'no `temporal` command' };
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

function notFound(tried: readonly string[]): TemporalError {
  const list = [...new Set(tried)].map((line) => `\n  - ${line}`).join('');
  return new TemporalError(`No Temporal server could be found or built. Tried, in this order:${list}\n`, {
    reason: 'server-not-found',
    fix:
      `Install one of: the Temporal CLI (https://docs.temporal.io/cli, or \`brew install temporal\`) on PATH or named by ` +
      `EVERTURN_TEMPORAL_CLI; or Go ${GO_NEEDED} (https://go.dev/dl) with access to a Go module proxy. ` +
      `Or name a running cluster by TEMPORAL_ADDRESS.`,
  });
}
