// A thread of reading-threads.ts: reads some rollouts of a run, and proves them or makes their samples.

import { workerData } from 'node:worker_threads';
import { exporterNamed } from '../formats/exports/index.ts';
import { everturnVersion } from '../local/machine/package-root.ts';
import { answerQuestions } from '../local/machine/threads.ts';
import { type MakePart, openPartMaker } from '../records/export/exported-parts.ts';
import { BLOCKING_READS } from '../records/disk/blocking-files.ts';
import { openFileStore } from '../records/file-store.ts';
import type { Answer, Beginning, Question } from './reading-threads.ts';

const { out, run, format, layout, selection, check } = workerData as Beginning;
// It does nothing else: blocking reads cost a third.
const store = openFileStore(out, run, { layer: BLOCKING_READS });
const exporter = exporterNamed(format, layout);

async function openProofs({ cwd, tokenizer: wanted, clockSkewMs, exports }: NonNullable<Beginning['check']>) {
  // An export needs none of these.
  const [{ openFacts }, { openParts }, { callTextsOf, tokenizerOf }] = await Promise.all([
    import('../records/check/facts.ts'),
    import('../records/check/parts.ts'),
    import('./run-tokenizer.ts'),
  ]);
  const record = (await store.get('run').catch(() => undefined))?.record;
  const { tokenizer } = await tokenizerOf(store, cwd, wanted);
  const exporting = exports ? { exporter, ...selection } : undefined;
  const facts = { tokenizer, calls: await callTextsOf(record), clockSkewMs, everturn: everturnVersion() };
  const options = { ...facts, ...(exporting && { export: exporting }) };
  return openParts(store, openFacts(store, record, options), exporting);
}

let proofs: ReturnType<typeof openProofs> | undefined;
let maker: Promise<MakePart> | undefined;

/** One after the other: a part's labels are of the group that was read last. */
let before: Promise<unknown> = Promise.resolve();
answerQuestions<Question, Answer>((question) => {
  const answer = before.then(() => answerTo(question));
  before = answer.catch(() => {});
  return answer;
});

async function answerTo(question: Question): Promise<Answer> {
  if ('exported' in question) return (await (maker ??= openPartMaker(store, exporter, selection)))(question.exported);
  const part = await (await (proofs ??= openProofs(check!)))(question.checked);
  // An error does not survive the way to another thread: the command makes it again.
  if (part.exported instanceof Error) throw part.exported;
  return part;
}
