// Packs without a manifest that contradict each other or the run: none is chosen in silence, none is removed, and each is
// named, until somebody has moved the wrong one away.

import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkRun } from '../../proof/check.ts';
import { packRun } from '../../storage/pack/pack.ts';
import { unpackRun } from '../../storage/pack/unpack.ts';
import { rolloutFolder } from '../../storage/record/layout.ts';
import { playGoodRun, queries } from '../proof/good-run.ts';
import { again, bytesIn, seenIn } from './pack-rig.ts';
import { play, RUN } from './play.ts';

const root = mkdtempSync(join(tmpdir(), 'everturn-unnamed-'));
afterAll(() => rmSync(root, { recursive: true }));
const ONE = rolloutFolder({ query: 'one', sample: 0, attempt: 1 });

const zipsIn = (out: string) => readdirSync(join(out, RUN, 'packs')).filter((name) => name.endsWith('.zip'));
const at = (out: string, name: string) => join(out, RUN, 'packs', name);

/** A run of which one rollout came out otherwise. */
async function playOther(out: string): Promise<void> {
  await playGoodRun(out);
  rmSync(join(out, RUN, ONE), { recursive: true });
  rmSync(join(out, RUN, 'answers'), { recursive: true });
  await play(again(out), { query: queries[0]!, index: 0, verdicts: ['right', 'right', 'wrong'] });
}

let loose: Record<string, string>;
let packed: Record<string, string>;
let seen: unknown;
beforeAll(async () => {
  await playGoodRun(join(root, 'good'));
  cpSync(join(root, 'good'), join(root, 'loose'), { recursive: true });
  loose = bytesIn(join(root, 'good', RUN));
  await packRun(again(join(root, 'good')), { minAgeMs: 0, rolloutsPerPack: 4 });
  packed = bytesIn(join(root, 'good', RUN));
  seen = await seenIn(again(join(root, 'good')));
  await playOther(join(root, 'other'));
  cpSync(join(root, 'other'), join(root, 'other-packed'), { recursive: true });
  await packRun(again(join(root, 'other-packed')), { minAgeMs: 0, rolloutsPerPack: 4 });
});

function copy(): string {
  const out = mkdtempSync(join(root, 'run-'));
  cpSync(join(root, 'good'), out, { recursive: true });
  return out;
}

/** The first pack of the other run, which an hour ago somebody put here. */
function withOther(out: string): string {
  const [name] = zipsIn(join(root, 'other-packed'));
  cpSync(at(join(root, 'other-packed'), name!), at(out, name!));
  utimesSync(at(out, name!), 1, 1);
  return name!;
}

async function packedWith(out: string) {
  const said: string[] = [];
  const onProblem = (path: string, problem: string) => said.push(`${path} ${problem}`);
  const { namedAgain } = await packRun(again(out), { minAgeMs: 0, onProblem });
  return { said, namedAgain };
}

async function checked(out: string): Promise<string[]> {
  const said: string[] = [];
  await checkRun(again(out), ({ path, problem }) => said.push(`${path} ${problem}`));
  return said;
}

describe('packs without a manifest', () => {
  test('that hold one rollout with different bytes are both refused by name', async () => {
    const out = copy();
    rmSync(at(out, '000001.json'));
    const [own] = zipsIn(out);
    const other = withOther(out);
    const before = bytesIn(join(out, RUN));
    const refused = [own!, other].map((name, i) =>
      expect.stringMatching(
        `^packs/${name} is named by no manifest, and holds ${ONE}, which packs/${[other, own][i]} holds with other bytes. Move the wrong one`,
      ),
    );
    const { said, namedAgain } = await packedWith(out);
    expect(namedAgain).toBe(0);
    expect(said.toSorted()).toEqual(own! < other ? refused : refused.toReversed());
    expect((await checked(out)).toSorted()).toEqual(said.toSorted());
    expect(bytesIn(join(out, RUN))).toEqual(before);

    await expect(unpackRun(join(out, RUN))).rejects.toThrow(/holds with other bytes/);
    expect(zipsIn(out).toSorted()).toEqual([own!, other].toSorted());
    rmSync(at(out, other));
    await unpackRun(join(out, RUN));
    expect(bytesIn(join(out, RUN))).toEqual(loose);
  });

  test.each(['whole', 'in part'] as const)(
    'that hold a rollout of which another is loose %s are refused',
    async (how) => {
      const out = copy();
      rmSync(at(out, '000001.json'));
      cpSync(join(root, 'other', RUN, ONE), join(out, RUN, ONE), { recursive: true });
      if (how === 'in part') rmSync(join(out, RUN, ONE, 'end.json'));
      const before = bytesIn(join(out, RUN));
      await expect(again(out).listRolloutsOf('one')).rejects.toThrow(/is named by no manifest/);
      const { said } = await packedWith(out);
      expect(said).toEqual([expect.stringMatching(`holds ${ONE}, whose .*json is another one among the loose files`)]);
      expect(bytesIn(join(out, RUN))).toEqual(before);
      await expect(unpackRun(join(out, RUN))).rejects.toThrow(/among the loose files/);
      rmSync(join(out, RUN, ONE), { recursive: true });
      await unpackRun(join(out, RUN));
      expect(bytesIn(join(out, RUN))).toEqual(loose);
    },
  );

  test('that hold another rollout than the published one stay, and are named', async () => {
    const out = copy();
    const other = withOther(out);
    expect(await seenIn(again(out))).toEqual(seen);
    const { said } = await packedWith(out);
    expect(said).toEqual([
      expect.stringMatching(`^packs/${other} .*which a pack with a manifest holds with other bytes`),
    ]);
    expect(await checked(out)).toEqual(said);
    expect(existsSync(at(out, other))).toBe(true);
    await expect(unpackRun(join(out, RUN))).rejects.toThrow(other);
    const { [`packs/${other}`]: kept, ...rest } = bytesIn(join(out, RUN));
    expect(kept).toBeDefined();
    expect(rest).toEqual(loose);
  });

  test('that hold the only copy beside a published pack that is damaged stay', async () => {
    const out = copy();
    const [own] = zipsIn(out);
    cpSync(at(out, own!), at(out, '000009-0123456789ab.zip'));
    utimesSync(at(out, '000009-0123456789ab.zip'), 1, 1);
    for (const harm of [() => writeFileSync(at(out, own!), 'x'), () => rmSync(at(out, own!))]) {
      harm();
      await packedWith(out);
      expect(existsSync(at(out, '000009-0123456789ab.zip'))).toBe(true);
    }
    cpSync(at(out, '000009-0123456789ab.zip'), at(out, own!));
    await packedWith(out);
    expect(bytesIn(join(out, RUN))).toEqual(packed);
  });

  test('that hold something of their own and something published give back their own, once', async () => {
    const out = copy();
    const whole = mkdtempSync(join(root, 'whole-'));
    cpSync(join(root, 'loose'), whole, { recursive: true });
    await packRun(again(whole), { minAgeMs: 0 });
    const [all] = zipsIn(whole);
    cpSync(at(whole, all!), at(out, all!));
    utimesSync(at(out, all!), 1, 1);
    rmSync(at(out, '000003.json'));
    rmSync(
      at(
        out,
        zipsIn(out).find((name) => name.startsWith('000003'))!,
      ),
    );
    expect(await checked(out)).toEqual([expect.stringMatching(/holds 1 rollout that is nowhere else/)]);
    expect((await packedWith(out)).said).toEqual([]);
    expect(await seenIn(again(out))).toEqual(seen);
    expect(await checked(out)).toEqual([]);
    expect((await packedWith(out)).said).toEqual([]);
    expect(existsSync(at(out, all!))).toBe(false);
    await unpackRun(join(out, RUN));
    expect(bytesIn(join(out, RUN))).toEqual(loose);
  });
});
