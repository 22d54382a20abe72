// prime-rl's folder of micro batches. An independent reader of MessagePack stands here; prime-rl's own struct reads the
// same files in test/trainers.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import fc from 'fast-check';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NeutralRow } from '../../../domain/rollout/neutral-row.ts';
import { msgpack, type Packable } from '../../../formats/exports/msgpack.ts';
import { distributed, firstFit } from '../../../formats/exports/packing.ts';
import { openSteps } from '../../../formats/exports/prime-rl.ts';
import { rows } from '../../../formats/exports/rows.ts';
import { exportFolder } from '../../../records/export/export-folder.ts';
import { exportRun } from '../../../records/export/export-run.ts';
import { openLoose } from '../../records/ended-rig.ts';
import type { Store } from '../../../records/store.ts';
import { someRun } from './some-run.ts';

const folder = mkdtempSync(join(tmpdir(), 'everturn-steps-'));
let store: Store;
let neutral: NeutralRow[];
beforeAll(async () => {
  store = openLoose(folder);
  await someRun(store);
  const file = join(folder, 'rows.jsonl');
  await exportRun(store, rows, file, { advantages: 'mean' });
  neutral = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as NeutralRow);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** MessagePack by its specification. */
function unpack(bytes: Uint8Array): unknown {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const list = (length: number): unknown[] => Array.from({ length }, one);
  const text = (length: number) => new TextDecoder().decode(bytes.subarray(at, (at += length)));
  const take = <T>(size: number, read: (from: number) => T): T => {
    at += size;
    return read(at - size);
  };
  function one(): unknown {
    const type = bytes[at++]!;
    if (type < 0x80) return type;
    if (type >= 0xe0) return type - 0x100;
    if (type >= 0xa0 && type < 0xc0) return text(type - 0xa0);
    if (type >= 0x90 && type < 0xa0) return list(type - 0x90);
    switch (type) {
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xca:
        return take(4, (from) => view.getFloat32(from));
      case 0xcb:
        return take(8, (from) => view.getFloat64(from));
      case 0xcc:
        return take(1, (from) => view.getUint8(from));
      case 0xcd:
        return take(2, (from) => view.getUint16(from));
      case 0xce:
        return take(4, (from) => view.getUint32(from));
      case 0xd9:
        return text(take(1, (from) => view.getUint8(from)));
      case 0xda:
        return text(take(2, (from) => view.getUint16(from)));
      case 0xdb:
        return text(take(4, (from) => view.getUint32(from)));
      case 0xdc:
        return list(take(2, (from) => view.getUint16(from)));
      case 0xdd:
        return list(take(4, (from) => view.getUint32(from)));
      default:
        throw new Error(`type ${type.toString(16)}`);
    }
  }
  const value = one();
  expect(at).toBe(bytes.length);
  return value;
}

describe('MessagePack', () => {
  test('what is packed is unpacked the same, whatever its size', () => {
    const leaf = fc.oneof(
      fc.boolean(),
      fc.nat(2 ** 32 - 1),
      fc.integer({ min: -40, max: 300 }),
      fc.double({ noNaN: true }),
      fc.float({ noNaN: true }),
      fc.string({ unit: 'binary', maxLength: 40 }),
      fc.nat(300).map((length) => 'é'.repeat(length)),
    );
    fc.assert(
      fc.property(fc.array(fc.array(leaf, { maxLength: 40 }), { maxLength: 8 }), (value) => {
        expect(unpack(msgpack(value))).toEqual(value);
      }),
    );
    for (const length of [15, 16, 65_535, 65_536, 70_000]) {
      const value: Packable = [Array<number>(length).fill(-0.5), 'x'.repeat(length)];
      expect(isDeepStrictEqual(unpack(msgpack(value)), value)).toBe(true);
    }
  });
});

describe('packing', () => {
  test('every item is in one bin, no bin is too long, and every rank has as many', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 5 }), (list, ranks) => {
        const items = list.map((size, i) => ({ size, i }));
        const bins = firstFit(items, ({ size }) => size, 50);
        expect(
          bins
            .flat()
            .map(({ i }) => i)
            .sort((a, b) => a - b),
        ).toEqual(items.map(({ i }) => i));
        const lengthOf = (bin: typeof items) => bin.reduce((sum, { size }) => sum + size, 0);
        for (const bin of bins) expect(lengthOf(bin)).toBeLessThanOrEqual(50);
        const byRank = distributed(bins, lengthOf, ranks, () => []);
        expect(new Set(byRank.map((own) => own.length)).size).toBe(1);
        expect(byRank.flat(2)).toHaveLength(items.length);
      }),
    );
  });
});

type Batch = [number[], boolean[], number[], number[], number[], number[], number[], string[], number[]];

async function steps(name: string, options: { seqLen: number; ranks: number; groupsPerStep: number }) {
  const encoderOfSteps = openSteps({ ...options, firstStep: 7 });
  const out = join(folder, name);
  const place = { folder: out, top: 'rollouts' };
  const summary = await exportFolder(store, encoderOfSteps, place, { advantages: 'mean', grouped: true });
  const names = readdirSync(join(out, 'rollouts'), { recursive: true, encoding: 'utf8' }).sort();
  const read = (path: string) => unpack(readFileSync(join(out, 'rollouts', path))) as Batch[];
  return { summary, names, read, cut: encoderOfSteps.cut() };
}

describe('prime-rl’s micro batches', () => {
  test('every sample is once in a step of whole groups, with its own tokens, masks, logprobs and advantages', async () => {
    const { summary, names, read } = await steps('whole', { seqLen: 64, ranks: 2, groupsPerStep: 2 });
    expect(summary).toMatchObject({ exported: 11, files: 6 });
    expect(names.filter((name) => name.endsWith('.bin'))).toEqual(
      [7, 8, 9].flatMap((step) => [0, 1].map((rank) => `step_${step}/rank_${rank}.bin`)),
    );
    const found: string[] = [];
    for (const step of [7, 8, 9]) {
      const ranks = [0, 1].map((rank) => read(`step_${step}/rank_${rank}.bin`));
      expect(ranks[0]).toHaveLength(ranks[1]!.length);
      for (const batch of ranks.flat()) {
        const [ids, mask, advantages, logprobs, positions, lengths, temperatures, names_, seqLens] = batch;
        for (const list of [mask, advantages, logprobs, positions, temperatures, names_])
          expect(list).toHaveLength(ids.length);
        expect(seqLens).toEqual(lengths);
        expect(ids.length).toBeLessThanOrEqual(64);
        expect(positions).toEqual(lengths.flatMap((length) => Array.from({ length }, (_, i) => i)));
        let at = 0;
        for (const length of lengths) {
          const part = <T>(list: readonly T[]) => list.slice(at, at + length);
          if (part(mask).some(Boolean))
            found.push(JSON.stringify([part(ids), part(mask), part(advantages), part(logprobs)]));
          at += length;
        }
      }
    }
    const zeros = (row: NeutralRow) => row.prompt_ids.map(() => 0);
    const expected = neutral.map((row) =>
      JSON.stringify([
        [...row.prompt_ids, ...row.response_ids],
        [...zeros(row), ...row.response_mask].map((one) => one === 1),
        [...zeros(row), ...row.turn_ids.map((turn) => (turn < 0 ? 0 : row.turn_advantages![turn]!))],
        [...zeros(row), ...row.logprobs],
      ]),
    );
    expect(found.sort()).toEqual(expected.sort());
  });

  test('a sample beyond seq_len is cut there and counted, as prime-rl does', async () => {
    const { cut, read } = await steps('cut', { seqLen: 6, ranks: 1, groupsPerStep: 100 });
    const longer = neutral.filter((row) => row.prompt_ids.length + row.response_ids.length > 6);
    expect(cut).toBe(longer.length);
    const kept = neutral.map((row) => Math.min(6, row.prompt_ids.length + row.response_ids.length));
    const read6 = read('step_7/rank_0.bin').flatMap(([, , , , , lengths]) => lengths);
    expect(read6.sort()).toEqual(kept.sort());
  });

  test('a folder that is there is refused, and stays as it was', async () => {
    await expect(steps('whole', { seqLen: 64, ranks: 1, groupsPerStep: 1 })).rejects.toMatchObject({
      reason: 'file-exists',
    });
    expect(readdirSync(join(folder, 'whole'))).toEqual(['rollouts']);
  });
});
