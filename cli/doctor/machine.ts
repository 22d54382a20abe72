// Checks of this machine: Node, the places that are written, their disk and clock, the ports.

import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { EverturnError, explain } from '../../domain/errors/errors.ts';
import { isFree } from '../../local/machine/ports.ts';
import { DEFAULT_PORT, DEFAULT_UI_PORT } from '../../local/service/dev-server.ts';
import { serviceStatus } from '../../local/service/service.ts';
import { isOnDisk, join } from '../../records/place.ts';
import { EXIT } from '../exit.ts';
import type { Io } from '../io.ts';
import { type Check, fail, type Finding, note, ok } from './check.ts';
import { factsOf, removeFile, writeOnce } from '../../records/places/files.ts';

const NEEDED_NODE = [20, 20] as const;

export const nodeCheck = (version = process.versions.node): Check => ({
  ...{ name: 'Node', code: EXIT.usage, withinMs: 5000 },
  async run() {
    const [major = 0, minor = 0] = version.split('.').map(Number);
    const old = major < NEEDED_NODE[0] || (major === NEEDED_NODE[0] && minor < NEEDED_NODE[1]);
    const fix = `Install Node ${NEEDED_NODE.join('.')} or newer: https://nodejs.org.`;
    return [old ? fail(`${version} is too old`, fix) : ok(version)];
  },
});

const LITTLE_BYTES = 2_000_000_000;
const NOTHING_BYTES = 100_000_000;
const SLOW_MS = 100;
const SKEW_MS = 5000;

/**
 * Writes as a record is written, durably on a disk, and removes that again; a bucket must prove that it lets only the first
 * writer succeed. `other`: the option that names another place.
 */
export const placeCheck = (name: string, place: string, other: string): Check => ({
  name,
  code: EXIT.usage,
  withinMs: 60_000,
  async run() {
    const bucket = !isOnDisk(place);
    const near = bucket ? place : nearestFolder(place);
    const path = join(near, `.everturn-doctor-${process.pid}-${randomBytes(4).toString('hex')}.tmp`);
    try {
      if (bucket) {
        // The first write proves the bucket.
        await writeOnce(path, 'first');
        await removeFile(path);
      }
      const began = performance.now();
      await writeOnce(path, randomBytes(64 * 1024));
      const tookMs = performance.now() - began;
      const skewMs = Math.abs(((await factsOf(path))?.modifiedMs ?? 0) - Date.now());
      const exclusive = `${place} lets only the first of 16 writers succeed; a write of 64 kB takes ${tookMs.toFixed(0)} ms`;
      const differs = `its clock differs from ours by ${(skewMs / 1000).toFixed(0)} s`;
      return [
        ...(bucket ? [ok(exclusive)] : [diskFinding(near, tookMs, other), ...(await space(near))]),
        ...(skewMs > SKEW_MS ? [note(differs, 'Set the clocks: leases and logs rely on them.')] : []),
      ];
    } catch (error) {
      const message = error instanceof Error ? error.message : explain(error);
      const fix = bucket && error instanceof EverturnError ? error.fix : undefined;
      if (bucket) return [fail(message, fix ?? `Give another place (${other}).`)];
      return [
        fail(`${near} cannot be written: ${message}`, `Give another folder (${other}), or correct its permissions.`),
      ];
    } finally {
      await removeFile(path).catch(() => {});
    }
  },
});

function diskFinding(near: string, ms: number, other: string): Finding {
  const write = `a durable write of 64 kB takes ${ms.toFixed(0)} ms`;
  if (ms <= SLOW_MS) return ok(`${near} is writable; ${write}`);
  return note(`${near}: ${write}`, `Each turn waits for one: put it on a faster disk (${other}).`);
}

async function space(folder: string): Promise<Finding[]> {
  const { bavail, bsize, files, ffree } = await statfs(folder);
  const free = bavail * bsize;
  const text = `${(free / 1e9).toFixed(1)} GB free`;
  // Some file systems have no fixed number of files, and report 0.
  if (files > 0 && ffree < 10_000)
    return [fail(`only ${ffree} more files fit`, 'A turn takes two files: remove old runs, or give another --out.')];
  const estimate = '`everturn run --dry-run` estimates what a run takes.';
  if (free < NOTHING_BYTES) return [fail(text, `Make room: ${estimate}`)];
  return [free < LITTLE_BYTES ? note(text, estimate) : ok(text)];
}

/** The folder itself, or the nearest one above it that exists. */
export function nearestFolder(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearestFolder(dirname(folder));
}

export const portsCheck = (io: Io): Check => ({
  ...{ name: 'ports', code: EXIT.temporal, withinMs: 10_000 },
  async run() {
    const { up, state } = serviceStatus(io.env);
    if (up && state)
      return [ok(`the local service has ${state.address}${state.uiAddress ? ` and ${state.uiAddress}` : ''}`)];
    const wanted = [DEFAULT_PORT, DEFAULT_UI_PORT];
    const free = await Promise.all(wanted.map(isFree));
    const taken = wanted.filter((_, i) => !free[i]);
    if (taken.length === 0) return [ok(`${wanted.join(' and ')} on 127.0.0.1 are free`)];
    return [
      note(
        `${taken.join(' and ')} on 127.0.0.1 taken by another program`,
        'The local service takes other ports; `everturn up` prints them. To use that Temporal server, name it in TEMPORAL_ADDRESS.',
      ),
    ];
  },
});
