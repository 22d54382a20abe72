// AReaL's name-resolving folders, as its default ("nfs") writes them: a folder per name, with one file ENTRY. Reads only;
// a name that is not there yet is undefined. Layout of inclusionAI/AReaL@820ca498, realhf/base/names.py.

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../records/disk/errors.ts';

export interface ArealPlace {
  /** The root of the folders. */
  readonly root: string;
  readonly user: string;
  readonly experiment: string;
  readonly trial: string;
}

export interface ArealNames {
  /** Samples that the trainer has loaded so far: the only acknowledgement that it gives. */
  trainingSamples(): Promise<number>;
  /** Steps whose weights are saved; null before the first. */
  modelVersion(role: string): Promise<number | null>;
  /** `host:port` of each puller, by its rank; undefined until all that announced themselves have an address. */
  pullers(): Promise<readonly string[] | undefined>;
}

export function arealNames({ root, user, experiment, trial }: ArealPlace): ArealNames {
  const folder = join(root, user, experiment, trial);
  const number = async (name: string): Promise<number | null> => {
    const text = await entry(join(folder, name));
    return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
  };
  return {
    trainingSamples: async () => (await number('training_samples')) ?? 0,
    modelVersion: (role) => number(join('model_version', role)),
    async pullers() {
      const peers = join(folder, 'push_pull_stream_peers');
      const ranks = await Promise.all((await names(peers)).map((name) => entry(join(peers, name))));
      const sorted = ranks.map(Number).sort((a, b) => a - b);
      if (sorted.length === 0 || sorted.some((rank, i) => rank !== i)) return undefined;
      const found = await Promise.all(sorted.map((i) => entry(join(folder, 'push_pull_stream', `puller${i}`))));
      const all = found.filter((address) => address !== undefined && /^[\w.-]+:\d{1,5}$/.test(address)) as string[];
      return all.length === sorted.length ? all : undefined;
    },
  };
}

async function entry(folder: string): Promise<string | undefined> {
  try {
    return (await readFile(join(folder, 'ENTRY'), 'utf8')).trim();
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

async function names(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

function isAbsent(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ESTALE';
}
