// Harms to a pack as a whole, each in the words and with the way out that every command gives: readers as an error, a check
// and a packer as a line.

import { StoreError } from '../../domain/errors.ts';
import { FROM_COPY } from '../disk/errors.ts';
import { join } from '../place.ts';
import { PACKS } from './manifest.ts';

export interface Harm {
  /** Of the zip, in the run's folder. */
  readonly path: string;
  readonly problem: string;
  /** The way out. */
  readonly fix: string;
}

export const harmLine = ({ problem, fix }: Harm): string => `${problem}. ${fix}`;

export function harmError(folder: string, { path, problem, fix }: Harm): StoreError {
  return new StoreError(`${join(folder, path)} ${problem}`, { reason: 'record-broken', fix });
}

/** Of a published pack: it is away, or its directory cannot be read. */
export const unreadable = (folder: string, pack: string, error: StoreError, rollouts: number): Harm => ({
  path: `${PACKS}/${pack}`,
  problem: `${saidOf(folder, pack, error)}: ${rollouts === 1 ? 'its 1 rollout' : `its ${many(rollouts)}`} cannot be read`,
  fix: error.fix ?? FROM_COPY,
});

export const otherSize = (pack: string, bytes: number, right: number): Harm => ({
  path: `${PACKS}/${pack}`,
  problem: `is changed: it has ${bytes} bytes, its manifest says ${right}`,
  fix: FROM_COPY,
});

/** All that follow: of a pack that no manifest names. */
const unnamed = (pack: string, what: string, fix: string): Harm => ({
  path: `${PACKS}/${pack}`,
  problem: `is named by no manifest, and ${what}`,
  fix,
});

export const onlyCopy = (pack: string, rollouts: number): Harm =>
  unnamed(
    pack,
    `holds ${rollouts === 1 ? '1 rollout that is' : `${many(rollouts)} that are`} nowhere else`,
    'Run `everturn pack` on this run: it proves them, and makes the manifest again.',
  );

/** It cannot be read, or does not prove itself. */
export const unsound = (folder: string, pack: string, error: StoreError): Harm =>
  unnamed(
    pack,
    saidOf(folder, pack, error),
    'Take it and its manifest, the .json of the same number, from a copy of the run; without one, move it out of the ' +
      "run's folder: any unzip gives what is sound in it.",
  );

/** `differs`: what else there is of that rollout. */
export const contradicted = (pack: string, rollout: string, differs: string): Harm =>
  unnamed(
    pack,
    `holds ${rollout}, ${differs}`,
    "Move the wrong one of the two out of the run's folder, and run `everturn pack` on this run.",
  );

const many = (rollouts: number): string => `${rollouts.toLocaleString('en-US')} rollouts`;

/** The text of an error, without the pack's path and a stop. */
function saidOf(folder: string, pack: string, { message }: StoreError): string {
  const path = join(folder, PACKS, pack);
  const said = message.startsWith(path) ? message.slice(path.length).trimStart() : message;
  return said.replace(/^: /, 'its entry ').replace(/\.$/, '');
}
