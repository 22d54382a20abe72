// The damage that a run's folder may come to, each kind with the file that `check` must name for it. The run is that of
// good-run.ts, with the judgements and the export that check.test.ts adds.

import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { logName } from '../../../domain/rollout/turn-log.ts';
import { logPath, queryFolder, rolloutFolder } from '../../../records/format/layout.ts';
import { kindOf } from '../../../records/format/kinds.ts';
import { encodeRecord } from '../../../records/format/text.ts';
import { aQuery } from '../play.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface Damage {
  /** Relative to the run's folder. */
  readonly file: string;
  readonly change: (folder: string) => void;
  readonly problem: RegExp;
}

const edit = (file: string, change: (text: string) => string) => (folder: string) =>
  writeFileSync(join(folder, file), change(readFileSync(join(folder, file), 'utf8')));

/** A record with other values and a right hash of its own: only other records can tell. */
export const rewrite = (file: string, change: object | ((record: Fields) => object)) =>
  edit(file, (text) => {
    const { format, of_rollout: owner, sha256: _, ...record } = JSON.parse(text);
    const fields = typeof change === 'function' ? change(record) : change;
    return encodeRecord(kindOf(format)!, owner ?? null, { ...record, ...fields }).text;
  });

const edited = (file: string, change: (text: string) => string, problem: RegExp): Damage => ({
  ...{ file, change: edit(file, change), problem },
});
const rewritten = (file: string, change: object | ((record: Fields) => object), problem: RegExp): Damage => ({
  ...{ file, change: rewrite(file, change), problem },
});
const cut = (file: string, length: number, problem: RegExp): Damage => ({
  ...{ file, change: (folder) => truncateSync(join(folder, file), length), problem },
});
const removed = (file: string, problem: RegExp): Damage => ({
  ...{ file, change: (folder) => rmSync(join(folder, file), { recursive: true }), problem },
});
const copied = (from: string, file: string, problem: RegExp): Damage => ({
  ...{ file, change: (folder) => cpSync(join(folder, from), join(folder, file), { recursive: true }), problem },
});
const foreign = (file: string): Damage => ({
  file,
  change(folder) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), 'x');
  },
  problem: /not of this run/,
});
const swapped = (a: string, file: string, problem: RegExp): Damage => ({
  file,
  change(folder) {
    const [one, other] = [join(folder, a), join(folder, file)];
    renameSync(one, `${one}.x`);
    renameSync(other, one);
    renameSync(`${one}.x`, other);
  },
  problem,
});

const at = (query: string, sample = 0) => rolloutFolder({ query, sample, attempt: 1 });
const one = (file: string) => `${at('one')}/${file}`;
const [TURN_1, TURN_2, TURN_3] = [one('turn-001.json'), one('turn-002.json'), one('turn-003.json')] as const;
const [ROLLOUT, VERDICT, END] = [one('rollout.json'), one('verdict-001.json'), one('end.json')] as const;
const logOf = (version: number) => logPath(version, logName({ query: 'one', sample: 0, attempt: 1 }), 'jsonl');

const recordDamage: Readonly<Record<string, Damage>> = {
  'a flipped byte': edited(TURN_2, (text) => text.replace('it is 2', 'it is 3'), /^is changed/),
  'a truncated record': cut(TURN_3, 100, /^is torn/),
  'an emptied record': cut(ROLLOUT, 0, /^is empty/),
  'JSON that is not a record': edited(END, () => '{"outcome":"complete"}\n', /not a record of ours/),
  'a deleted turn': removed(TURN_2, /^is missing/),
  'a deleted last turn': { ...removed(TURN_3, /says turns\[2\] "\w{64}"; the records say nothing/), file: END },
  'a deleted verdict': removed(VERDICT, /^is missing/),
  'a deleted first record': removed(ROLLOUT, /^is missing, though end.json/),
  'a deleted rollout': { ...removed(queryFolder('FOUR'), /never played/), file: `${queryFolder('FOUR')}/1.1` },
  'two turns swapped': swapped(TURN_1, TURN_2, /says turn 1; the records say 2/),
  'ends of two samples swapped': swapped(`${at('one', 1)}/end.json`, END, /belongs to another rollout/),
  'a rollout in another place': {
    ...copied(at('one', 1), at('one', 5), /belongs in/),
    file: `${at('one', 5)}/rollout.json`,
  },
  'a turn too many': copied(TURN_3, one('turn-004.json'), /was played after the end/),
  'a verdict without its turn': copied(VERDICT, one('verdict-009.json'), /judges a turn that is not there/),
  'a foreign file beside the records': foreign(one('turn-1.json')),
  'a foreign folder': { ...foreign('rollouts/zz/one/0.1/x'), file: 'rollouts/zz' },
};

/** A record that another one denies. */
const replayDamage: Readonly<Record<string, Damage>> = {
  'a turn played again': {
    ...rewritten(TURN_2, { outputIds: [9, 9, 9] }, /says previous "\w{64}"; the records say "\w{64}"/),
    file: TURN_3,
  },
  'another query under a rollout': rewritten(
    ...([ROLLOUT, { query: aQuery('one', { solutions: ['43'] }) }, /does not play the query at index 0/] as const),
  ),
  'a turn begun before the one before was finished': rewritten(
    ...([TURN_2, { startedAt: 1, finishedAt: 2 }, /was begun at 1, \d+ ms before turn 1 was finished/] as const),
  ),
  'a turn finished before it was begun': rewritten(TURN_2, { finishedAt: 1 }, /ends at 1, before its start/),
  'feedback that its verdict denies': {
    ...rewritten(VERDICT, { verdict: 'right' }, /does not tell the model that turn 1 was right/),
    file: TURN_2,
  },
  'a verdict of another record': rewritten(
    VERDICT,
    { of: 'f'.repeat(64) },
    /says of "f{64}"; the records say "\w{64}"/,
  ),
  'a better reward': rewritten(END, { returns: [1, 1, 1] }, /says returns \[1,1,1\]; the records say \[-0.75,0.5,-1\]/),
  'a success that nobody judged': rewritten(END, { success: [0, 1, 1] }, /says success \[0,1,1\]/),
  'an end as if nothing fitted': rewritten(
    ...([END, { stopReason: 'context-length' }, /says context-length; turn 3 ends it by max-turns/] as const),
  ),
  'an end too early': rewritten(
    `${at('two')}/end.json`,
    { outcome: 'complete', stopReason: 'max-turns' },
    /says max-turns; turn 2 ends it by undecided/,
  ),
};

const wholeDamage: Readonly<Record<string, Damage>> = {
  'a doubled log line': edited(logOf(0), (text) => `${text}${text.split('\n')[1]}\n`, /belongs to no turn/),
  'a log line that lies': edited(
    logOf(0),
    (text) => text.replace('true', 'false'),
    /does not say what the record of turn 2/,
  ),
  'a log missing': removed(logOf(1), /is missing; turn 3/),
  'a log of a version that no turn had': copied(logOf(1), logOf(2), /no turn was logged there/),
  'changed queries': edited('queries.jsonl', (text) => text.replace('"42"', '"43"'), /^is changed/),
  'lost queries': removed('queries.jsonl', /^is missing/),
  'a changed run record': edited('run.json', (text) => text.replace('"samples": 2', '"samples": 1'), /is changed/),
  'a deleted result': removed('result.json', /is missing, though all 8 rollouts have ended/),
  'a result of another run': rewritten('result.json', { run: 'other' }, /says run "other"; the records say "r1"/),
  'a result that counts a right answer too many': rewritten(
    'result.json',
    ({ counts }) => ({ counts: { ...(counts as Fields), rightAt: [1, 5, 0] } }),
    /says rightAt \[1,5,0\]; the records say \[0,/,
  ),
};

const AGAIN = 'judgements/again.jsonl';
const judgementDamage: Readonly<Record<string, Damage>> = {
  'a judgement of a turn that is not there': edited(
    ...([
      AGAIN,
      (text: string) => text.replace('"turn":3', '"turn":30'),
      /^line \d+ judges turn 30 of query "one"/,
    ] as const),
  ),
  'a judgement of another record': edited(
    ...([AGAIN, (text: string) => text.replace(/"of":"\w{4}/, '"of":"0000'), /^line 1 judges another record/] as const),
  ),
  'a judgement given twice': edited(
    AGAIN,
    (text) => text + text.split(/(?<=\n)/)[0]!,
    /^line 24 judges turn 1 .* a second time/,
  ),
  'a judgement that tells the old verdict otherwise': edited(
    AGAIN,
    (text) => text.replace('"was":{"verdict":"wrong"', '"was":{"verdict":"right"'),
    /^line 1 says that .* its record says wrong/,
  ),
  'torn judgements': cut(AGAIN, 1000, /torn/),
  'a foreign file among the judgements': foreign('judgements/notes.txt'),
};

/** Its name makes it one that the check of the folder leaves alone. */
export const EXPORT = '.export.jsonl';
const exported = (change: (lines: string[]) => string[], problem: RegExp) =>
  edited(EXPORT, (text) => change(text.split(/(?<=\n)/)).join(''), problem);
const exportDamage: Readonly<Record<string, Damage>> = {
  'an export without one of its samples': exported(
    (all) => all.toSpliced(2, 1),
    /^line 3 is another: the records give query "three\/3", sample 0 there$/,
  ),
  'an export with a sample twice': exported((all) => [...all, all[1]!], /^line 7 is none that the records give$/),
  'an export with two samples swapped': exported(
    ([first, second, ...more]) => [second!, first!, ...more],
    /^line 1 is another: the records give query "one", sample 0 there$/,
  ),
  'an export with an edited reward': edited(EXPORT, (text) => text.replace('-0.75', '-0.5'), /^line 1 is another/),
  'a torn export': cut(EXPORT, 100, /^line 1 is torn: the records give query "one", sample 0 there$/),
  'an emptied export': cut(EXPORT, 0, /^line 1 is missing: the records give query "one", sample 0 there$/),
  'an export that is not there': removed(EXPORT, /^cannot read/),
};

/** To the folder's own records. */
export const folderDamage: Readonly<Record<string, Damage>> = { ...recordDamage, ...replayDamage, ...wholeDamage };
export const allDamage = Object.entries({ ...folderDamage, ...judgementDamage, ...exportDamage });
