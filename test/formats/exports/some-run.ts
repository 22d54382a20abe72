// A run with every kind of rollout that an export meets: chat and text prompts, right and wrong first turns, several
// samples, weights that change inside an answer, a group without signal, a failed and an undecided member.

import { join } from 'node:path';
import type { Query } from '../../../domain/query/query.ts';
import type { RolloutSettings } from '../../../domain/rollout/settings.ts';
import type { TurnRecord } from '../../../domain/rollout/turn.ts';
import { exporterNamed } from '../../../formats/exports/index.ts';
import { parquetTurns } from '../../../formats/exports/parquet.ts';
import { type ExportOptions, exportRun } from '../../../records/export/export-run.ts';
import type { Store } from '../../../records/store.ts';
import { aQuery, play, putRun, type Script, someSettings } from '../../records/play.ts';

export const CHAT: readonly Query[] = ['q1', 'q2', 'q@3', 'q4'].map((id) =>
  aQuery(id, {
    prompt: {
      kind: 'messages',
      messages: [
        { role: 'system', content: 'Answer.' },
        { role: 'user', content: `What is ${id}?` },
      ],
    },
  }),
);

/** The answer says what it is right or wrong about, so that texts of turns differ. */
function turns(script: Pick<Script, 'verdicts'>, sample: number): (turn: number) => Partial<TurnRecord> {
  return (turn) => {
    const length = 2 + ((turn + sample) % 3);
    return {
      outputIds: Array.from({ length }, (_, i) => 1000 * (sample + 1) + 10 * turn + i),
      logprobs: Array.from({ length }, (_, i) => -Math.log(2 + i / 3)),
      answer: `${script.verdicts[turn - 1]} ${sample} ${turn}`,
      outputText: `${script.verdicts[turn - 1]} ${sample} ${turn}<end>`,
      finish: turn === 3 ? 'length' : 'stop',
      versions: [
        { version: 4, start: 0, end: 1 },
        { version: 4 + turn, start: 1, end: length },
      ],
      versionStart: 4,
      versionEnd: 4 + turn,
    };
  };
}

export async function someRun(store: Store, part: Partial<RolloutSettings> = {}): Promise<void> {
  const settings = someSettings({ rewardScaling: 0.3, rewardBias: 0.1, turnDiscount: 0.9, ...part });
  const text = aQuery('raw');
  await putRun(store, [...CHAT, text], { samples: 3, settings });
  const one = (query: Query, index: number, sample: number, script: Pick<Script, 'verdicts' | 'stop'>) =>
    play(store, { query, index, sample, settings, stop: 'success', ...script, turn: turns(script, sample) });
  const [q1, q2, q3, q4] = CHAT as [Query, Query, Query, Query];
  await one(q1, 0, 0, { verdicts: ['right'] });
  await one(q1, 0, 1, { verdicts: ['wrong', 'right'] });
  await one(q1, 0, 2, { verdicts: ['wrong', 'wrong', 'wrong'], stop: 'max-turns' });
  for (const sample of [0, 1, 2]) await one(q2, 1, sample, { verdicts: ['right'] });
  await one(q3, 2, 0, { verdicts: ['wrong', 'wrong', 'right'] });
  await one(q3, 2, 1, { verdicts: ['wrong'], stop: 'failed' });
  await one(q3, 2, 2, { verdicts: ['wrong', 'undecided'], stop: 'undecided' });
  for (const sample of [0, 1]) await one(q4, 3, sample, { verdicts: ['wrong', 'wrong', 'wrong'], stop: 'max-turns' });
  await one(text, 4, 0, { verdicts: ['wrong', 'right'] });
  await one(text, 4, 1, { verdicts: ['right'] });
}

/** A turn a row as Parquet, and the same rows as JSON lines. */
export async function exportTurns(store: Store, path: string, options: ExportOptions = {}): Promise<void> {
  const { open: _, ...asLines } = parquetTurns;
  await exportRun(store, parquetTurns, `${path}.parquet`, { advantages: 'mean', ...options });
  await exportRun(store, asLines, `${path}.jsonl`, { advantages: 'mean', ...options });
}

/** Every format, under the names that test/real/trainers/consumers.py reads. */
export async function exportAll(store: Store, folder: string): Promise<void> {
  const out = (name: string) => join(folder, name);
  for (const name of ['rows', 'messages', 'dpo', 'kto', 'labels'])
    await exportRun(store, exporterNamed(name), out(`${name}.jsonl`));
  await exportRun(store, exporterNamed('rows', 'texts'), out('rows-texts.jsonl'), { advantages: 'mean' });
  await exportRun(store, exporterNamed('parquet'), out('rows.parquet'));
  await exportTurns(store, out('turns'));
  await exportRun(store, exporterNamed('areal'), out('areal-rollout.jsonl'));
  await exportRun(store, exporterNamed('areal', 'turn'), out('areal-turn.jsonl'));
}
