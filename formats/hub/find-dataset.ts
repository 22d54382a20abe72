// The files of a data set that a user names: a file, or a place on the hub, whose files are loaded into the cache that Python's
// `huggingface_hub` uses too: blobs by hash, links of each commit, commits by revision. A file is read only if its bytes are
// those that the hub names at the commit, also where another program put it there.

import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, realpath, stat, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { DatasetError } from '../../domain/errors/errors.ts';
import { placeAtCommit } from '../../domain/run/hub-source.ts';
import { readRegular } from '../../local/machine/regular-file.ts';
import type { Environment } from '../../local/machine/user-folders.ts';
import type { DataSource } from '../datasets/dataset.ts';
import { harborSource, isHarborPlace } from '../datasets/harbor.ts';
import { datasetExtension } from '../datasets/index.ts';
import { type Hub, type HubFile, openHub } from './client.ts';
import { type HubPlace, hubPlaceMeant, isCommit, isHubPlace, parseHubPlace } from './place.ts';
import { hubSettings } from './settings.ts';
import { chooseSplit, splitsOf } from './splits.ts';

export interface Finder {
  /** Absolute. */
  readonly cwd: string;
  readonly env: Environment;
  readonly signal?: AbortSignal | undefined;
}

/** `named`: a file, relative to `cwd`, `hf:…` or `harbor:…`. A file need not be there. */
export async function findDataset(named: string, { cwd, env, signal }: Finder): Promise<DataSource> {
  if (isHarborPlace(named)) return harborSource(named, cwd);
  if (!isHubPlace(named)) return fileNamed(named, resolve(cwd, named));
  const place = parseHubPlace(named);
  const settings = hubSettings(env);
  const folder = join(settings.cache, `datasets--${place.repo.replace('/', '--')}`);
  const copy = settings.isOffline
    ? await cachedCopy(folder, place)
    : await hubCopy(folder, place, await openHub(place, settings, signal));
  const { commit, names, load } = copy;
  const wanted = place.wanted.join('/');
  const readme = names.includes(README) ? readRegular((await load(README)).path, MOST_README_BYTES) : undefined;
  const where = settings.isOffline ? ' in the cache, and HF_HUB_OFFLINE is set' : '';
  const split = names.includes(wanted)
    ? undefined
    : chooseSplit(splitsOf(names, readme), place.wanted, place.repo, where);
  const loaded: (LoadedFile & { readonly name: string })[] = [];
  for (const name of split?.files ?? [wanted]) loaded.push({ name, ...(await load(name)) });
  return {
    path: `hf:${place.repo}/${split ? `${split.config}/${split.split}` : wanted}`,
    files: loaded.map(({ path }) => path),
    hub: { commit, files: loaded.map(({ name, sha256 }) => ({ name, sha256 })) },
  };
}

function fileNamed(named: string, path: string): DataSource {
  const meant = hubPlaceMeant(named);
  if (meant === undefined || datasetExtension(named) !== undefined || existsSync(path)) return { path, files: [path] };
  const fix = `If it is one of the hub, write ${meant}.`;
  throw new DatasetError(`There is no data set at ${path}`, { reason: 'hub-place', fix });
}

/** The data set of a run's record: without the network where the cache holds it. */
export async function findRecorded(
  { path, hub }: Pick<DataSource, 'path' | 'hub'>,
  finder: Finder,
): Promise<DataSource> {
  if (isHarborPlace(path)) return harborSource(path, finder.cwd);
  if (!hub) return { path, files: [path] };
  const place = placeAtCommit(path, hub);
  const offline = { ...finder, env: { ...finder.env, HF_HUB_OFFLINE: '1' } };
  return findDataset(place, offline).catch(() => findDataset(place, finder));
}

const README = 'README.md';
const MOST_README_BYTES = 1 << 24;

interface LoadedFile {
  readonly path: string;
  readonly sha256: string;
}

/** A data set at one commit. */
interface Copy {
  readonly commit: string;
  readonly names: readonly string[];
  readonly load: (name: string) => Promise<LoadedFile>;
}

async function hubCopy(folder: string, { revision }: HubPlace, hub: Hub): Promise<Copy> {
  const { commit, files } = await hub.list();
  if (commit !== revision) {
    const ref = join(folder, 'refs', revision);
    await mkdir(dirname(ref), { recursive: true });
    await writeFile(ref, commit);
  }
  const byName = new Map(files.map((file) => [file.name, file]));
  return { commit, names: [...byName.keys()], load: (name) => loadInto(folder, hub, commit, byName.get(name)!) };
}

async function loadInto(folder: string, hub: Hub, commit: string, { name, oid }: HubFile): Promise<LoadedFile> {
  const path = join(folder, 'snapshots', commit, name);
  const blob = join(folder, 'blobs', oid);
  if (!existsSync(path)) {
    await mkdir(dirname(path), { recursive: true });
    await mkdir(dirname(blob), { recursive: true });
    if (!existsSync(blob)) await hub.load(name, commit, blob, (part) => hashOf(part, oid));
    await symlink(relative(dirname(path), blob), path).catch((error: NodeJS.ErrnoException) =>
      error.code === 'EEXIST' ? undefined : copyFile(blob, path),
    );
  }
  return { path, sha256: await hashOf(path, oid) };
}

async function cachedCopy(folder: string, { repo, revision }: HubPlace): Promise<Copy> {
  const ref = await readFile(join(folder, 'refs', revision), 'utf8').catch(() => revision);
  const commit = ref.trim();
  const snapshot = join(folder, 'snapshots', commit);
  const names = isCommit(commit) ? await readdir(snapshot, { recursive: true }).catch(() => []) : [];
  const refuse = (what: string) => {
    const fix = `Repeat the command once without it, or: hf download --repo-type dataset --revision ${revision} ${repo}`;
    throw new DatasetError(`HF_HUB_OFFLINE is set, and ${what}`, { reason: 'hub-offline', fix });
  };
  if (names.length === 0) refuse(`hf:${repo}@${revision} is not in ${folder}`);
  const load = async (name: string): Promise<LoadedFile> => {
    const [, stem, count] = /^(.*-)\d{5}(-of-\d{5}\.)/.exec(name) ?? [];
    const shards = names.filter((other) => other.startsWith(stem ?? name) && other.includes(count ?? '')).length;
    if (count !== undefined && shards !== Number.parseInt(count.slice(4), 10))
      refuse(`${snapshot} has ${shards} files of ${stem}*${count}*`);
    const path = join(snapshot, name);
    // The name of a blob is the hash that the hub gave.
    return { path, sha256: await hashOf(path, basename(await realpath(path))) };
  };
  return { commit, names, load };
}

/** The SHA-256 of a file. Throws a DatasetError where `oid` is a hash, and not that of the file. */
async function hashOf(path: string, oid: string): Promise<string> {
  const { size } = await stat(path);
  const [sha256, git] = [createHash('sha256'), createHash('sha1').update(`blob ${size}\0`)];
  for await (const bytes of createReadStream(path)) for (const hash of [sha256, git]) hash.update(bytes);
  const hashes = [sha256.digest('hex'), git.digest('hex')] as const;
  if (hashes.includes(oid) || !/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(oid)) return hashes[0];
  throw new DatasetError(`${path} has another content than the hub names at this commit`, {
    reason: 'dataset-changed',
    fix: 'Remove it and the file that it links to, if they are there, and repeat the command.',
  });
}
