// A run of one turn a rollout, written straight into packs as a packer writes them, or as loose files, without fsync: for
// the benchmark of the viewer. One rollout has a turn of 32,000 tokens; all texts are those of the shipped tokenizer.

import { join } from 'node:path';
import { mkdirSync, writeFileSync } from 'node:fs';
import { addResult, noCounts } from '../domain/progress.ts';
import { loadTokenizer } from '../inference/tokenizer/tokenizer.ts';
import { BLOCKING_FILES } from '../storage/disk/blocking-files.ts';
import type { FileLayer } from '../storage/disk/file-layer.ts';
import { openFileStore } from '../storage/files.ts';
import { sha256OfFile } from '../storage/pack/checksum.ts';
import { manifestFile, PACK_ROLLOUTS, packedId, PACKS, type PackedId, zipName } from '../storage/pack/manifest.ts';
import { entryName } from '../storage/pack/packs.ts';
import { openZipWriter, packed } from '../storage/pack/zip.ts';
import { encodeRecord, type RecordKind } from '../storage/record/text.ts';
import type { Store } from '../storage/store.ts';
import { aQuery, play, putRun, RUN, someSettings } from '../test/storage/play.ts';

const TOKENS = 200;
export const LONG_TOKENS = 32_000;

const UNSYNCED: FileLayer = {
  ...BLOCKING_FILES,
  open: async (path, flags) => ({ ...(await BLOCKING_FILES.open(path, flags)), sync: async () => undefined }),
};

/** The place of the rollout with the long turn. */
export const longOf = (rollouts: number): number => Math.floor(rollouts / 2);

export async function makeViewedRun(out: string, rollouts: number, form: 'packed' | 'loose'): Promise<void> {
  const settings = someSettings({ numTurns: 1, maxNewTokens: LONG_TOKENS });
  const store = openFileStore(out, RUN, { layer: UNSYNCED });
  const queries = Array.from({ length: rollouts }, (_, i) => aQuery(`q${i}`));
  await putRun(store, queries, { settings });
  const answers = [await answerOf(TOKENS), await answerOf(LONG_TOKENS)] as const;
  const packer = packerOf(store);
  const counts = noCounts();
  for (const [index, query] of queries.entries()) {
    const answer = answers[index === longOf(rollouts) ? 1 : 0];
    const verdict = index % 3 === 0 ? 'right' : 'wrong';
    const turn = () => answer;
    await play(form === 'packed' ? packer.store : withoutLogs(store), {
      query,
      index,
      settings,
      verdicts: [verdict],
      turn,
    });
    const id = { query: query.queryId, sample: 0, attempt: 1 };
    if (form === 'packed') await packer.add(id);
    const right = verdict === 'right' ? 1 : 0;
    const facts = { outcome: 'complete', stopReason: 'max-turns', rewards: [right], success: [right] } as const;
    const more = { reason: null, turns: 1, tokens: answer.outputIds.length, trajectory: { out, run: RUN, ...id } };
    addResult(counts, { ...facts, ...more }, 1);
  }
  if (form === 'packed') await packer.publish();
  await store.putResult({ run: RUN, total: rollouts, cancelled: false, numTurns: 1, counts });
}

async function answerOf(tokens: number) {
  const tokenizer = await loadTokenizer(join(import.meta.dirname, '../models/tiny'));
  const words = Array.from({ length: 8 * tokens }, (_, i) => `${(i * 7919) % 997} is ${i % 10}.`).join(' ');
  const outputIds = (await tokenizer.encode(words)).slice(0, tokens);
  const [outputText = ''] = await tokenizer.decodeLists([outputIds]);
  return {
    outputIds,
    logprobs: outputIds.map((_, i) => Math.fround(Math.log(((i * 7919) % 997) / 997 + 1e-9))),
    outputText,
    answer: outputText,
    versions: [{ version: 0, start: 0, end: tokens }],
    maxNewTokens: LONG_TOKENS,
  };
}

const withoutLogs = (store: Store): Store => ({ ...store, getLog: async () => undefined, putLog: async () => {} });

/** A store that takes records as text, and the packs of what it took. */
function packerOf(base: Store) {
  let lines: string[] = [];
  let ids: PackedId[] = [];
  let parts: Uint8Array[] = [];
  let writer = openZipWriter();
  let number = 0;
  mkdirSync(join(base.folder, PACKS), { recursive: true });
  const put =
    (kind: RecordKind) =>
    async <T extends object>({ query, sample, attempt }: PackedId, record: T) => {
      const { text, hash } = await encodeRecord(kind, { query, sample, attempt }, record);
      lines.push(text);
      return { record, hash, created: true };
    };
  const store: Store = {
    ...withoutLogs(base),
    ...{ putRollout: put('rollout'), putTurn: put('turn'), putVerdict: put('verdict'), putEnd: put('end') },
  };
  async function publish(): Promise<void> {
    if (ids.length === 0) return;
    number++;
    const name = zipName(number, number.toString(16).padStart(12, '0'));
    const path = join(base.folder, PACKS, name);
    writeFileSync(path, Buffer.concat([...parts, writer.end()]));
    const rollouts = ids.map(packedId);
    const facts = { number, pack: name, bytes: writer.size, zipSha256: await sha256OfFile(path), rollouts };
    writeFileSync(join(base.folder, manifestFile(number)), (await encodeRecord('pack', null, facts)).text);
    [ids, parts, writer] = [[], [], openZipWriter()];
  }
  return {
    store,
    publish,
    /** The records since the last one are its rollout. */
    async add(id: PackedId): Promise<void> {
      parts.push(...writer.add(entryName(id), await packed(lines.join(''))));
      lines = [];
      if (ids.push(id) === PACK_ROLLOUTS) await publish();
    },
  };
}
