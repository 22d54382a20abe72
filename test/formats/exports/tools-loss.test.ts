// Tokens of tools' results carry no loss, in any format of export: trajectories are generated in which the model's tokens
// are even and all others odd, and each format's own mask is read as its trainer reads it. A new format needs a reader here.

import fc from 'fast-check';
import { parquetReadObjects } from 'hyparquet';
import { beforeAll, describe, expect, test } from 'vitest';
import { scoredTurns } from '../../../domain/rollout/ending.ts';
import type { NeutralRow } from '../../../domain/samples/neutral-row.ts';
import type { Trajectory } from '../../../domain/rollout/trajectory.ts';
import type { VerdictValue } from '../../../domain/rollout/verdict.ts';
import { EXPORTERS, exporterNamed } from '../../../formats/exports/index.ts';
import type { Exporter } from '../../../domain/samples/exporter.ts';
import type { TurnRow } from '../../../formats/exports/turn-row.ts';
import { playedCalls } from './played-calls.ts';

let played: Trajectory;
beforeAll(async () => void (played = await playedCalls()));

type Ids = readonly number[];
/** Tokens that a line's trainer trains on. */
type Reader = (line: string, trajectory: Trajectory) => Ids;
const read = <T>(line: string): T => JSON.parse(line) as T;
const masked = (ids: Ids, mask: readonly unknown[]): Ids => ids.filter((_, i) => mask[i] === true || mask[i] === 1);
/** Of a format that holds texts: the token's number stands for it. */
const inText = (text: string): Ids => [...text.matchAll(/\d+/g)].map(([digits]) => Number(digits));
interface Said {
  readonly content: string;
  readonly loss?: boolean;
}
const areal: Reader = (line) => {
  const { data } = read<{ data: { packed_input_ids: number[]; prompt_mask: boolean[] } }>(line);
  return masked(
    data.packed_input_ids,
    data.prompt_mask.map((one) => !one),
  );
};

const READERS: Readonly<Record<string, Reader>> = {
  areal,
  rows: (line) => {
    const { response_ids: ids, response_mask: mask } = read<{ response_ids: number[]; response_mask: number[] }>(line);
    return masked(ids, mask);
  },
  'parquet-turns': (line) => read<{ response_ids: number[] }>(line).response_ids,
  messages: (line) =>
    read<{ messages: Said[] }>(line).messages.flatMap(({ content, loss }) => (loss ? inText(content) : [])),
  dpo: (line) => {
    const { chosen, rejected } = read<{ chosen: Said[]; rejected: Said[] }>(line);
    return [...chosen, ...rejected].flatMap(({ content }) => inText(content));
  },
  kto: (line) => read<{ completion: Said[] }>(line).completion.flatMap(({ content }) => inText(content)),
  labels: (line) => read<{ labels: number[] }>(line).labels.filter((id) => id !== -100),
};

async function parquetRows<Row>(exporter: Exporter, trajectory: Trajectory): Promise<Row[]> {
  const encoder = exporter.open!();
  const chunks = [...encoder.add(trajectory, {}), ...encoder.end()];
  const bytes = Buffer.concat(chunks.map((chunk) => Buffer.from(chunk as Uint8Array)));
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  return (await parquetReadObjects({ file })) as Row[];
}

interface Turn {
  readonly context: Ids;
  readonly output: Ids;
  readonly verdict: VerdictValue;
}
const ids = (parity: 0 | 1) =>
  fc.array(
    fc.nat(9_999).map((n) => 2 * n + parity),
    { minLength: 1, maxLength: 6 },
  );
const turn = (...verdicts: VerdictValue[]) =>
  fc.record({ context: ids(1), output: ids(0), verdict: fc.constantFrom(...verdicts) });
/** The last one is an answer. */
const turns = fc
  .tuple(fc.array(turn('called', 'called', 'right', 'wrong'), { maxLength: 6 }), turn('right', 'wrong'))
  .map(([some, last]) => [...some, last]);

/** The played trajectory with these turns in place of its own. */
function trajectoryOf(made: readonly Turn[]): Trajectory {
  const [first] = played.turns;
  let contextLength = 0;
  const all = made.map(({ context, output, verdict }, i) => {
    contextLength += context.length;
    const record = {
      ...first!.record,
      turn: i + 1,
      contextIds: context,
      contextText: context.join(' '),
      outputIds: output,
      outputText: output.join(' '),
      answer: output.join(' '),
      logprobs: output.map(() => -0.5),
      versions: [{ version: 0, start: 0, end: output.length }],
      contextLength,
    };
    contextLength += output.length;
    const messages = [{ role: 'tool' as const, content: (made[i + 1]?.context ?? []).join(' ') }];
    return { record, verdict: { ...first!.verdict!, turn: i + 1, verdict, messages } };
  });
  const { success, turnRewards, returns, called } = scoredTurns(
    all.map(({ verdict }) => verdict),
    'max-turns',
    played.rollout.settings,
  );
  const end = { ...played.end!, success, turnRewards, returns, called, turns: all.map(() => '0'.repeat(64)) };
  return { rollout: played.rollout, turns: all, end };
}

describe('an export of a run with tools', () => {
  test('has a reader here for each format', () => {
    expect(
      EXPORTERS.map(({ name }) => name).toSorted(),
      'READERS has for each format the tokens of a line that its trainer trains on',
    ).toEqual([...Object.keys(READERS), 'parquet'].toSorted());
  });

  test('lets no token of a result carry loss, in any format, and every sampled token of what it trains on', async () => {
    let trained = 0;
    await fc.assert(
      fc.asyncProperty(turns, async (made) => {
        const trajectory = trajectoryOf(made);
        const outputs = made.flatMap(({ output }) => output);
        const exporters = [...EXPORTERS.filter(({ name }) => name !== 'parquet'), exporterNamed('areal', 'turn')];
        for (const exporter of exporters) {
          if (exporter.leavesOut?.(trajectory) !== undefined) continue;
          const found = exporter.lines(trajectory, {}).flatMap((line) => READERS[exporter.name]!(line, trajectory));
          expect(
            found.filter((id) => id % 2 === 1),
            exporter.name,
          ).toEqual([]);
          trained += found.length;
          if (['areal', 'rows', 'parquet-turns'].includes(exporter.name)) expect(found, exporter.name).toEqual(outputs);
        }
        const [row] = await parquetRows<NeutralRow>(exporterNamed('parquet'), trajectory);
        expect(masked(row!.response_ids, row!.response_mask)).toEqual(outputs);
        const byTurn = await parquetRows<TurnRow>(exporterNamed('parquet-turns'), trajectory);
        expect(byTurn.map(({ response_ids: own }) => own)).toEqual(made.map(({ output }) => output));
      }),
      { numRuns: 60 },
    );
    expect(trained).toBeGreaterThan(3_000);
  });

  test('as labels trains on the right answer and on the calls that led to it, alone', () => {
    const made: Turn[] = [
      { context: [1], output: [2], verdict: 'called' },
      { context: [3], output: [4], verdict: 'wrong' },
      { context: [5], output: [6], verdict: 'called' },
      { context: [7], output: [8], verdict: 'called' },
      { context: [9], output: [10, 12], verdict: 'right' },
      { context: [11], output: [14], verdict: 'right' },
    ];
    const [line] = exporterNamed('labels').lines(trajectoryOf(made));
    expect(read<{ input_ids: number[]; labels: number[] }>(line!)).toMatchObject({
      input_ids: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12],
      labels: [-100, -100, -100, -100, -100, 6, -100, 8, -100, 10, 12],
    });
  });
});
