// Every kind of harm that judgements may come to: as harms.ts, for the file that check.test.ts writes.

import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { edit, type Harm } from './harms.ts';

const AGAIN = 'judgements/again.jsonl';

export const judgementHarms: Readonly<Record<string, Harm>> = {
  'a judgement of a turn that is not there': {
    harm: edit(AGAIN, (text) => text.replace('"turn":3', '"turn":30')),
    path: AGAIN,
    problem: /^line \d+ judges turn 30 of query "one".* not there/,
  },
  'a judgement of another record': {
    harm: edit(AGAIN, (text) => text.replace(/"of":"[0-9a-f]{4}/, '"of":"0000')),
    path: AGAIN,
    problem: /^line 1 judges another record/,
  },
  'a judgement given twice': {
    harm: edit(AGAIN, (text) => text + text.slice(0, text.indexOf('\n') + 1)),
    path: AGAIN,
    problem: /^line 24 judges turn 1 of query "one".* a second time/,
  },
  'a judgement that tells the old verdict otherwise': {
    harm: edit(AGAIN, (text) => text.replace('"was":{"verdict":"wrong"', '"was":{"verdict":"right"')),
    path: AGAIN,
    problem: /^line 1 says that .* its record says wrong/,
  },
  'torn judgements': {
    harm: (folder) => truncateSync(join(folder, AGAIN), 1000),
    path: AGAIN,
    problem: /torn/,
  },
  'judgements that are none': {
    harm: edit(AGAIN, (text) => text.replace('"verdict":"wrong"', '"verdict":"maybe"')),
    path: AGAIN,
    problem: /^line 1 is not a judgement/,
  },
  'a foreign file among the judgements': {
    harm: (folder) => writeFileSync(join(folder, 'judgements/notes.txt'), 'x'),
    path: 'judgements/notes.txt',
    problem: /not of this run/,
  },
};
