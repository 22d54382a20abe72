// Every kind of harm that an export may come to: as harms.ts, for the file that check.test.ts exports. The first line
// that differs is named, with its sample.

import { appendFileSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { edit, type Harm } from './harms.ts';

/** Its name makes it one that the check of the folder leaves alone. */
export const EXPORT = '.export.jsonl';

const lines = (change: (lines: string[]) => string[]) => edit(EXPORT, (text) => change(text.split(/(?<=\n)/)).join(''));

export const exportHarms: Readonly<Record<string, Harm>> = {
  'an export without one of its samples': {
    harm: lines((all) => all.toSpliced(2, 1)),
    path: EXPORT,
    problem: /^line 3 is another: the records give query "three\/3", sample 0 there$/,
  },
  'an export with a sample twice': {
    harm: lines((all) => [...all, all[1]!]),
    path: EXPORT,
    problem: /^line 7 is none that the records give$/,
  },
  'an export with two samples swapped': {
    harm: lines((all) => [all[1]!, all[0]!, ...all.slice(2)]),
    path: EXPORT,
    problem: /^line 1 is another: the records give query "one", sample 0 there$/,
  },
  'an export with an edited reward': {
    harm: edit(EXPORT, (text) => text.replace('-0.75', '-0.5')),
    path: EXPORT,
    problem: /^line 1 is another: the records give query "one", sample 0 there$/,
  },
  'an export with a foreign line': {
    harm: (folder) => appendFileSync(join(folder, EXPORT), '{}\n'),
    path: EXPORT,
    problem: /^line 7 is none that the records give$/,
  },
  'a torn export': {
    harm: (folder) => truncateSync(join(folder, EXPORT), 100),
    path: EXPORT,
    problem: /^line 1 is torn: the records give query "one", sample 0 there$/,
  },
  'an emptied export': {
    harm: (folder) => truncateSync(join(folder, EXPORT), 0),
    path: EXPORT,
    problem: /^line 1 is missing: the records give query "one", sample 0 there$/,
  },
  'an export that is not there': {
    harm: (folder) => rmSync(join(folder, EXPORT)),
    path: EXPORT,
    problem: /^cannot read/,
  },
};
