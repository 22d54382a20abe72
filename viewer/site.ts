// A report as a folder for any static host: index.html with its script and style inside, and the data beside it, read as
// they are looked at. All addresses are relative. Its policy allows its own script and style, by their hashes, and requests
// to its own host only. The folder appears whole or not at all.

import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { UsageError } from '../domain/errors/errors.ts';
import { fileError } from '../records/disk/errors.ts';
import { mustBeOutsideRuns } from '../records/run/outside-runs.ts';
import { reportHtml } from './assets.ts';
import { gather, inert, type ReportOptions, type ReportParts, shaOf, titleOf } from './report.ts';

export interface Site {
  readonly files: number;
  readonly bytes: number;
  readonly rollouts: number;
  readonly left: readonly string[];
}

/** A page with this makes a folder one of ours, which may be replaced. */
const MARK = '<script id="site" type="application/json">';
const PAGE = 'index.html';

export async function writeSite(
  parts: ReportParts,
  run: string,
  { folder, replace, ...options }: ReportOptions & { readonly folder: string; readonly replace: boolean },
): Promise<Site> {
  await mustBeOutsideRuns(folder);
  await mustBeFree(folder, replace);
  const fresh = join(dirname(folder), `.${basename(folder)}.${randomBytes(6).toString('hex')}.tmp`);
  let [files, bytes] = [0, 0];
  const write = async (path: string, text: string) => {
    const file = join(fresh, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    files++;
    bytes += Buffer.byteLength(text);
  };
  try {
    const { index, rollouts } = await gather(parts, run, options, (name, part) =>
      write(name, inert(JSON.stringify(part))),
    );
    const island = { id: 'site', type: 'application/json', text: inert(JSON.stringify(index)) };
    await write(
      PAGE,
      reportHtml({ bundle: parts.bundle, island, sha: shaOf, title: titleOf(index), connect: "'self'" }),
    );
    await moveTo(fresh, folder);
    return { files, bytes, rollouts, left: index.left };
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    throw fileError('write', folder, error);
  }
}

/** Only an empty folder, or with `replace` a site of ours, gives way. */
async function mustBeFree(folder: string, replace: boolean): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw fileError('write', folder, error);
  });
  if (names.length === 0) return;
  const page = await readFile(join(folder, PAGE), 'utf8').catch(() => '');
  if (!page.includes(MARK)) {
    throw new UsageError(`${folder} holds other files.`, {
      reason: 'file-exists',
      fix: 'Name a folder that is not there yet, or an empty one: --site <folder>.',
    });
  }
  if (!replace)
    throw new UsageError(`${folder} is there already.`, { reason: 'file-exists', fix: '--overwrite replaces it.' });
}

async function moveTo(fresh: string, folder: string): Promise<void> {
  const old = `${fresh}.old`;
  const was = await rename(folder, old).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
  await rename(fresh, folder);
  if (was) await rm(old, { recursive: true, force: true });
}
