// Every kind of harm that a run's folder may come to, each with the file that check must name for it.
// The run is the one that check.test.ts plays.

import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { CollectionCounts } from '../../../domain/run/progress.ts';
import { logName } from '../../../domain/rollout/turn-log.ts';
import { logPath, queryFolder, rolloutFolder } from '../../../records/format/layout.ts';
import { FORMATS, type RecordKind } from '../../../records/format/kinds.ts';
import { encodeRecord } from '../../../records/format/text.ts';
import { aQuery } from '../play.ts';

export interface Harm {
  readonly harm: (folder: string) => void | Promise<void>;
  /** Relative to the run's folder. */
  readonly path: string;
  readonly problem: RegExp;
}

export const at = (query: string, sample = 0, attempt = 1) => rolloutFolder({ query, sample, attempt });
const logOf = (query: string, version = 0, kind: 'txt' | 'jsonl' = 'jsonl', sample = 0, attempt = 1) =>
  logPath(version, logName({ query, sample, attempt }), kind);

export const edit = (path: string, change: (text: string) => string | Promise<string>) => async (folder: string) =>
  writeFileSync(join(folder, path), await change(readFileSync(join(folder, path), 'utf8')));

/** Changes a record and gives it a right hash of its own: only the others can tell. */
export const forge = (path: string, kind: RecordKind, change: (record: Readonly<Record<string, unknown>>) => object) =>
  edit(path, async (text) => {
    const { format, of_rollout: owner, sha256, ...record } = JSON.parse(text);
    if (format !== FORMATS[kind] || typeof sha256 !== 'string') throw new Error(`${path} is no ${kind}`);
    return encodeRecord(kind, owner ?? null, { ...record, ...change(record) }).text;
  });

const swap = (a: string, b: string) => (folder: string) => {
  renameSync(join(folder, a), join(folder, 'x'));
  renameSync(join(folder, b), join(folder, a));
  renameSync(join(folder, 'x'), join(folder, b));
};

const remove = (path: string) => (folder: string) => rmSync(join(folder, path), { recursive: true });
const secondLine = (text: string) => text.split('\n')[1]!;

export const harms: Readonly<Record<string, Harm>> = {
  'a flipped byte': {
    harm: edit(`${at('one')}/turn-002.json`, (text) => text.replace('it is 2', 'it is 3')),
    path: `${at('one')}/turn-002.json`,
    problem: /^is changed/,
  },
  'a truncated record': {
    harm: (folder) => truncateSync(join(folder, at('one'), 'turn-003.json'), 100),
    path: `${at('one')}/turn-003.json`,
    problem: /^is torn/,
  },
  'an emptied record': {
    harm: (folder) => truncateSync(join(folder, at('one'), 'rollout.json'), 0),
    path: `${at('one')}/rollout.json`,
    problem: /^is empty/,
  },
  'JSON that is not a record': {
    harm: (folder) => writeFileSync(join(folder, at('one'), 'end.json'), '{"outcome":"complete"}\n'),
    path: `${at('one')}/end.json`,
    problem: /not a record of ours/,
  },
  'a deleted turn': {
    harm: remove(`${at('one')}/turn-002.json`),
    path: `${at('one')}/turn-002.json`,
    problem: /^is missing/,
  },
  'a deleted last turn': {
    harm: remove(`${at('one')}/turn-003.json`),
    path: `${at('one')}/end.json`,
    problem: /says turns\[2\] "\w{64}"; the records say nothing/,
  },
  'a deleted verdict': {
    harm: remove(`${at('one')}/verdict-003.json`),
    path: `${at('one')}/verdict-003.json`,
    problem: /^is missing/,
  },
  'a deleted rollout record': {
    harm: remove(`${at('one')}/rollout.json`),
    path: `${at('one')}/rollout.json`,
    problem: /^is missing, though end.json/,
  },
  'a deleted rollout': {
    harm: remove(queryFolder('FOUR')),
    path: `${queryFolder('FOUR')}/1.1`,
    problem: /never played/,
  },
  'two turns swapped': {
    harm: swap(`${at('one')}/turn-001.json`, `${at('one')}/turn-002.json`),
    path: `${at('one')}/turn-002.json`,
    problem: /says turn 1; the records say 2/,
  },
  'turns of two rollouts swapped': {
    harm: swap(`${at('one')}/turn-001.json`, `${at('FOUR')}/turn-001.json`),
    path: `${at('FOUR')}/turn-001.json`,
    problem: /belongs to another rollout/,
  },
  'ends of two samples swapped': {
    harm: swap(`${at('one')}/end.json`, `${at('one', 1)}/end.json`),
    path: `${at('one')}/end.json`,
    problem: /belongs to another rollout/,
  },
  'a rollout in another place': {
    harm: (folder) => renameSync(join(folder, at('one', 1)), join(folder, at('one', 5))),
    path: `${at('one', 5)}/rollout.json`,
    problem: /belongs in/,
  },
  'a turn played again': {
    harm: forge(`${at('one')}/turn-002.json`, 'turn', () => ({ outputIds: [9, 9, 9] })),
    path: `${at('one')}/turn-003.json`,
    problem: /says previous "\w{64}"; the records say "\w{64}"/,
  },
  'a last turn played again': {
    harm: forge(`${at('one')}/turn-003.json`, 'turn', () => ({ outputIds: [9, 9, 9] })),
    path: `${at('one')}/end.json`,
    problem: /says turns\[2\] "\w{64}"; the records say "\w{64}"/,
  },
  'another query under a rollout': {
    harm: forge(`${at('one')}/rollout.json`, 'rollout', () => ({ query: aQuery('one', { solutions: ['43'] }) })),
    path: `${at('one')}/rollout.json`,
    problem: /does not play the query at index 0/,
  },
  'a turn too many': {
    harm: (folder) => cpSync(join(folder, at('one'), 'turn-003.json'), join(folder, at('one'), 'turn-004.json')),
    path: `${at('one')}/turn-004.json`,
    problem: /was played after the end/,
  },
  'a logprob too few': {
    harm: forge(`${at('one')}/turn-003.json`, 'turn', () => ({ logprobs: [-1] })),
    path: `${at('one')}/turn-003.json`,
    problem: /1 logprobs for 3 output tokens/,
  },
  'version spans with a hole': {
    harm: forge(`${at('one')}/turn-003.json`, 'turn', () => ({ versions: [{ version: 1, start: 1, end: 3 }] })),
    path: `${at('one')}/turn-003.json`,
    problem: /version spans/,
  },
  'versions that its spans deny': {
    harm: forge(`${at('one')}/turn-003.json`, 'turn', () => ({ versionEnd: 7 })),
    path: `${at('one')}/turn-003.json`,
    problem: /says versionEnd 7; the records say 1/,
  },
  'a wrong context length': {
    harm: forge(`${at('one')}/turn-002.json`, 'turn', () => ({ contextLength: 8 })),
    path: `${at('one')}/turn-002.json`,
    problem: /says contextLength 8; the records say 9/,
  },
  'more output than its budget': {
    harm: forge(`${at('one')}/turn-003.json`, 'turn', () => ({ maxNewTokens: 2 })),
    path: `${at('one')}/turn-003.json`,
    problem: /more than its budget/,
  },
  'feedback that its verdict denies': {
    harm: forge(`${at('one')}/verdict-001.json`, 'verdict', () => ({ verdict: 'right' })),
    path: `${at('one')}/turn-002.json`,
    problem: /does not tell the model that turn 1 was right/,
  },
  'a verdict of another record': {
    harm: forge(`${at('one')}/verdict-001.json`, 'verdict', () => ({ of: 'f'.repeat(64) })),
    path: `${at('one')}/verdict-001.json`,
    problem: /says of "f{64}"; the records say "\w{64}"/,
  },
  'a verdict without its turn': {
    harm: (folder) => cpSync(join(folder, at('one'), 'verdict-003.json'), join(folder, at('one'), 'verdict-009.json')),
    path: `${at('one')}/verdict-009.json`,
    problem: /judges a turn that is not there/,
  },
  'a better reward': {
    harm: forge(`${at('one')}/end.json`, 'end', () => ({ returns: [1, 1, 1] })),
    path: `${at('one')}/end.json`,
    problem: /says returns \[1,1,1\]; the records say \[-0.75,0.5,-1\]/,
  },
  'a success that nobody judged': {
    harm: forge(`${at('one')}/end.json`, 'end', () => ({ success: [0, 1, 1] })),
    path: `${at('one')}/end.json`,
    problem: /says success \[0,1,1\]/,
  },
  'an outcome that its stop reason denies': {
    harm: forge(`${at('two')}/end.json`, 'end', () => ({ outcome: 'complete' })),
    path: `${at('two')}/end.json`,
    problem: /says outcome "complete"/,
  },
  'an end too early': {
    harm: forge(`${at('two')}/end.json`, 'end', () => ({ outcome: 'complete', stopReason: 'max-turns' })),
    path: `${at('two')}/end.json`,
    problem: /says max-turns; turn 2 ends it by undecided/,
  },
  'a doubled log line': {
    harm: edit(logOf('one'), (text) => `${text}${secondLine(text)}\n`),
    path: logOf('one'),
    problem: /belongs to no turn/,
  },
  'a log line missing': {
    harm: edit(logOf('one'), (text) => `${text.split('\n')[0]}\n`),
    path: logOf('one'),
    problem: /does not say what the record of turn 2 says/,
  },
  'a log line that lies': {
    harm: edit(logOf('one'), (text) => text.replace('true', 'false')),
    path: logOf('one'),
    problem: /does not say what the record of turn 2 says/,
  },
  'a foreign log line': {
    harm: (folder) => appendFileSync(join(folder, logOf('one')), '{"success":true}\n'),
    path: logOf('one'),
    problem: /belongs to no turn/,
  },
  'a log missing': {
    harm: remove(logOf('one', 1)),
    path: logOf('one', 1),
    problem: /is missing; turn 3/,
  },
  'a log of a version that no turn had': {
    harm: (folder) => cpSync(join(folder, 'answers/1'), join(folder, 'answers/2'), { recursive: true }),
    path: logOf('one', 2),
    problem: /no turn was logged there/,
  },
  'changed queries': {
    harm: edit('queries.jsonl', (text) => text.replace('"42"', '"43"')),
    path: 'queries.jsonl',
    problem: /^is changed/,
  },
  'lost queries': {
    harm: remove('queries.jsonl'),
    path: 'queries.jsonl',
    problem: /^is missing/,
  },
  'a changed run record': {
    harm: edit('run.json', (text) => text.replace('"samples": 2', '"samples": 1')),
    path: 'run.json',
    problem: /is changed/,
  },
  'a result that counts a rollout too many': {
    harm: forge('result.json', 'result', ({ counts }) => {
      const { outcomes, ...rest } = counts as CollectionCounts;
      return { counts: { ...rest, outcomes: { ...outcomes, complete: 6 } } };
    }),
    path: 'result.json',
    problem: /says complete 6; the records say 5/,
  },
  'a result that counts a right answer too many': {
    harm: forge('result.json', 'result', ({ counts }) => ({
      counts: { ...(counts as CollectionCounts), rightAt: [1, 5, 0] },
    })),
    path: 'result.json',
    problem: /says rightAt \[1,5,0\]; the records say \[0,/,
  },
  'a changed result': {
    harm: edit('result.json', (text) => text.replace('"cancelled": false', '"cancelled": true')),
    path: 'result.json',
    problem: /is changed/,
  },
  'a foreign file beside the records': {
    harm: (folder) => writeFileSync(join(folder, at('one'), 'turn-1.json'), '{}'),
    path: `${at('one')}/turn-1.json`,
    problem: /not of this run/,
  },
  'a foreign file among the shards': {
    harm: (folder) => writeFileSync(join(folder, 'rollouts/notes.txt'), 'x'),
    path: 'rollouts/notes.txt',
    problem: /not of this run/,
  },
  'a foreign folder': {
    harm: (folder) => void mkdirSync(join(folder, 'rollouts/zz/one/0.1'), { recursive: true }),
    path: 'rollouts/zz',
    problem: /not of this run/,
  },
};
