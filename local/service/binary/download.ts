// The SDK's source of a server: a file that it downloaded earlier, or its download address. The SDK's launcher is a
// testing package that owns the process and gives up after 5 s, so this file downloads into our own cache.

import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Environment } from '../../machine/user-folders.ts';
import type { OnProgress } from '../../machine/progress.ts';
import { probe, TEMPORAL_CLI_VERSION, type TemporalBinary } from './temporal-version.ts';

type Found = TemporalBinary | { readonly problem: string };

const HOST = 'https://temporal.download';
const ANSWER_TIMEOUT_MS = 5_000;
/** 60 MB at 200 kB/s. */
const ARCHIVE_TIMEOUT_MS = 300_000;

/** The SDK's cached download in the temp folder: SDK default, or a pinned version. */
export async function sdkCached(tempFolder: string): Promise<Found> {
  const { version } = createRequire(import.meta.url)('@temporalio/client/package.json') as { version: string };
  const names = [
    `temporal-sdk-typescript-${version}`,
    `temporal-v${TEMPORAL_CLI_VERSION}`,
    `temporal-${TEMPORAL_CLI_VERSION}`,
  ];
  const problems: string[] = [];
  for (const name of names) {
    const path = join(tempFolder, name);
    if (!existsSync(path)) continue;
    const distrusted = distrust(path);
    const found = distrusted ? { problem: distrusted } : await probe(path);
    if ('path' in found) return found;
    problems.push(found.problem);
  }
  return { problem: problems.join('; ') || `no ${names.join(', ')} in ${tempFolder}` };
}

/** Any user may put files into a shared temp folder: only files of this user and of the system are run. */
function distrust(path: string): string | undefined {
  const { uid, mode } = statSync(path);
  const me = process.getuid?.();
  if (me !== undefined && uid !== me && uid !== 0) return `${path} belongs to another user`;
  return (mode & 0o022) !== 0 ? `${path} can be written by others` : undefined;
}

interface DownloadOptions {
  /** Receives `temporal`; the caller holds its lock. */
  readonly folder: string;
  readonly env: Environment;
  readonly onProgress?: OnProgress;
  readonly host?: string;
}

export async function download(options: DownloadOptions): Promise<Found> {
  const host = options.host ?? HOST;
  const arch = { x64: 'amd64', arm64: 'arm64' }[process.arch as string];
  const platform = { linux: 'linux', darwin: 'darwin' }[process.platform as string];
  if (!arch || !platform) return { problem: `${host} has no build for ${process.platform} on ${process.arch}` };
  const query = new URLSearchParams({ arch, platform, format: 'tar.gz' });
  const workFolder = mkdtempSync(join(options.folder, 'download-'));
  try {
    const info = await fetchFrom(`${host}/cli/v${TEMPORAL_CLI_VERSION}?${query}`, ANSWER_TIMEOUT_MS).then((r) =>
      r.json(),
    );
    const { archiveUrl, fileToExtract } = info as { archiveUrl?: unknown; fileToExtract?: unknown };
    if (typeof archiveUrl !== 'string' || typeof fileToExtract !== 'string' || !/^[\w.-]+$/.test(fileToExtract))
      return { problem: `${host} answered in a form that is not known here` };
    if (!archiveUrl.startsWith('https://') && !archiveUrl.startsWith(host))
      return { problem: `${host} names an archive that is not on HTTPS: ${archiveUrl}` };
    options.onProgress?.({ kind: 'step', text: `Downloading the Temporal server from ${archiveUrl}.` });
    const archive = await fetchFrom(archiveUrl, ARCHIVE_TIMEOUT_MS);
    await untar(archive, fileToExtract, workFolder);
    const out = join(workFolder, fileToExtract);
    chmodSync(out, 0o755);
    const proof = await probe(out);
    if ('problem' in proof) return proof;
    const path = join(options.folder, 'temporal');
    renameSync(out, path);
    return { path, version: proof.version };
  } catch (error) {
    return { problem: `${host}: ${reasonOf(error)}` };
  } finally {
    rmSync(workFolder, { recursive: true, force: true });
  }
}

async function fetchFrom(url: string, timeoutMs: number): Promise<Response> {
  const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
  if (!response.ok) throw new Error(`HTTP ${response.status} for ${url}`);
  return response;
}

async function untar(archive: Response, file: string, folder: string): Promise<void> {
  const tar = spawn('tar', ['-xzf', '-', '-C', folder, file], { stdio: ['pipe', 'ignore', 'pipe'] });
  let complaint = '';
  tar.stderr.on('data', (chunk) => (complaint += String(chunk)));
  const ended = new Promise<void>((resolve, reject) => {
    tar.once('error', reject);
    tar.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`tar: ${complaint.trim() || `exit code ${code}`}`)),
    );
  });
  if (!archive.body) throw new Error('an empty archive');
  await Promise.all([pipeline(Readable.from(archive.body as AsyncIterable<Uint8Array>), tar.stdin), ended]);
}

/** fetch() reports only "fetch failed"; the reason is in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'no answer in time';
  return error.cause instanceof Error ? error.cause.message : error.message;
}
