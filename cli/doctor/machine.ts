// Checks of this machine: Node, the built package, the folders that are written, their disk and its clock, the ports.

import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { stat, statfs, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { EverturnError, explain } from '../../domain/errors/errors.ts';
import { isFree } from '../../local/machine/ports.ts';
import { packageRoot } from '../../local/machine/package-root.ts';
import { DEFAULT_PORT, DEFAULT_UI_PORT } from '../../local/service/dev-server.ts';
import { serviceStatus } from '../../local/service/service-control.ts';
import { factsOf, removeFile } from '../../records/disk/facts.ts';
import { writeOnce } from '../../records/disk/write-once.ts';
import { join } from '../../records/place.ts';
import { EXIT } from '../exit.ts';
import type { Io } from '../io.ts';
import { type Check, fail, type Finding, note, ok } from './check.ts';

const NEEDED_NODE = [20, 20] as const;

export function nodeCheck(version = process.versions.node): Check {
  return {
    name: 'Node',
    code: EXIT.usage,
    withinMs: 5000,
    run: async () => {
      const [major = 0, minor = 0] = version.split('.').map(Number);
      const old = major < NEEDED_NODE[0] || (major === NEEDED_NODE[0] && minor < NEEDED_NODE[1]);
      const wanted = NEEDED_NODE.join('.');
      return [
        old ? fail(`${version} is too old`, `Install Node ${wanted} or newer: https://nodejs.org.`) : ok(version),
      ];
    },
  };
}

export const packageCheck: Check = {
  name: 'Everturn',
  code: EXIT.bug,
  withinMs: 5000,
  run: async () => {
    const missing = ['worker.js', 'workflow-bundle.js', 'cli/index.js', 'environments/math/pool/child.js'].find(
      (file) => !existsSync(join(packageRoot(), 'dist', file)),
    );
    return [
      missing === undefined
        ? ok(`built, in ${packageRoot()}`)
        : fail(`dist/${missing} is missing`, 'Run `npm run build` in its folder, or install the package again.'),
    ];
  },
};

const LITTLE_BYTES = 2_000_000_000;
const NOTHING_BYTES = 100_000_000;
const SLOW_MS = 100;
const SKEW_MS = 5000;

/** Writes an object as a record is written, by a bucket that is proved to let only the first writer succeed. */
export function bucketCheck(name: string, place: string): Check {
  return {
    name,
    code: EXIT.usage,
    withinMs: 60_000,
    run: async () => {
      const path = join(place, `.everturn-doctor-${process.pid}-${randomBytes(4).toString('hex')}.tmp`);
      try {
        // The first write proves the bucket.
        await writeOnce(path, 'first');
        await removeFile(path);
        const began = performance.now();
        await writeOnce(path, randomBytes(64 * 1024));
        const tookMs = performance.now() - began;
        const skewMs = Math.abs(((await factsOf(path))?.modifiedMs ?? 0) - Date.now());
        const findings = [
          ok(`${place} lets only the first of 16 writers succeed; a write of 64 kB takes ${tookMs.toFixed(0)} ms`),
        ];
        if (skewMs > SKEW_MS)
          findings.push(note(`its clock differs from ours by ${(skewMs / 1000).toFixed(0)} s`, 'Set the clocks.'));
        return findings;
      } catch (error) {
        return [fail(error instanceof Error ? error.message : explain(error), fixOf(error))];
      } finally {
        await removeFile(path).catch(() => {});
      }
    },
  };
}

const fixOf = (error: unknown): string =>
  (error instanceof EverturnError && error.fix) || 'Give another place (--out).';

/** Writes a file as a record is written, durable, and removes it. */
export function diskCheck(name: string, folder: string, other: string): Check {
  return {
    name,
    code: EXIT.usage,
    withinMs: 30_000,
    run: async () => {
      const near = nearest(folder);
      const path = join(near, `.everturn-doctor-${process.pid}-${randomBytes(4).toString('hex')}.tmp`);
      const findings: Finding[] = [];
      try {
        const began = performance.now();
        await writeOnce(path, randomBytes(64 * 1024));
        const tookMs = performance.now() - began;
        const skewMs = Math.abs((await stat(path)).mtimeMs - Date.now());
        const slow = `a durable write of 64 kB takes ${tookMs.toFixed(0)} ms`;
        findings.push(
          tookMs > SLOW_MS
            ? note(`${near}: ${slow}`, `Each turn waits for one: put it on a faster disk (${other}).`)
            : ok(`${near} is writable; ${slow}`),
        );
        if (skewMs > SKEW_MS)
          findings.push(
            note(
              `its clock differs from ours by ${(skewMs / 1000).toFixed(0)} s`,
              'Set the clocks: leases and logs rely on them.',
            ),
          );
      } catch (error) {
        return [
          fail(
            `${near} cannot be written: ${error instanceof Error ? error.message : explain(error)}`,
            `Give another folder (${other}), or correct its permissions.`,
          ),
        ];
      } finally {
        await unlink(path).catch(() => {});
      }
      return [...findings, ...(await space(near))];
    },
  };
}

async function space(folder: string): Promise<Finding[]> {
  const { bavail, bsize, files, ffree } = await statfs(folder);
  const free = bavail * bsize;
  const text = `${(free / 1e9).toFixed(1)} GB free`;
  // Some file systems have no fixed number of files, and report 0.
  if (files > 0 && ffree < 10_000)
    return [fail(`only ${ffree} more files fit`, 'A turn takes two files: remove old runs, or give another --out.')];
  if (free < NOTHING_BYTES) return [fail(text, 'Make room: `everturn run --dry-run` estimates what a run takes.')];
  return [free < LITTLE_BYTES ? note(text, '`everturn run --dry-run` estimates what a run takes.') : ok(text)];
}

/** The folder itself, or the nearest one above it that exists. */
function nearest(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearest(dirname(folder));
}

export function portsCheck(io: Io): Check {
  return {
    name: 'ports',
    code: EXIT.temporal,
    withinMs: 10_000,
    run: async () => {
      const { up, state } = serviceStatus(io.env);
      if (up && state)
        return [ok(`the local service has ${state.address}${state.uiAddress ? ` and ${state.uiAddress}` : ''}`)];
      const wanted = [DEFAULT_PORT, DEFAULT_UI_PORT];
      const free = await Promise.all(wanted.map(isFree));
      const taken = wanted.filter((_, i) => !free[i]);
      return [
        taken.length === 0
          ? ok(`${wanted.join(' and ')} on 127.0.0.1 are free`)
          : note(
              `${taken.join(' and ')} on 127.0.0.1 taken by another program`,
              'The local service takes other ports; `everturn up` prints them. To use that Temporal server, name it in TEMPORAL_ADDRESS.',
            ),
      ];
    },
  };
}
