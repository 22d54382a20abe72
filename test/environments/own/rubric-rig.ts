// Rubrics of the examples with a scripted judge, for one test file: `judge` answers, and keeps what it was asked.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../../domain/text/json.ts';
import type { OwnEnvironments } from '../../../environments/index.ts';
import { serveJudge } from './judge-server.ts';
import { ownRig } from './own-rig.ts';
import { moveOf, NEVER, rolloutOf } from './rollouts.ts';

export const exampleText = (name: string): string =>
  readFileSync(join(import.meta.dirname, '../../../examples/environments', name), 'utf8');

export async function rubricRig(example: string) {
  const { folder, describeText, closing, open } = ownRig();
  const judge = closing(await serveJudge(() => null));
  const own = open();
  let files = 0;

  /** The example with these fields changed. */
  function rubricFile(changes: object, of = example): string {
    const file = join(folder, `rubric-${files++}.json`);
    const rubric = { ...(JSON.parse(exampleText(of)) as object), server: judge.url, ...changes };
    writeFileSync(file, JSON.stringify(rubric));
    return file;
  }
  const describe = (changes: object = {}, of = example) => describeText(`rubric:${rubricFile(changes, of)}`, '/');

  async function respond(answer: string, { changes = {}, row = {}, cut = false, from = own }: Asking = {}) {
    const { record } = await describe(changes);
    const rollout = rolloutOf(record, { question: 'Which number?', answer: '42', ...row });
    return from.open(record, folder).respond(moveOf(rollout, answer, [], cut), { signal: NEVER });
  }
  return { folder, judge, own, open, describeText, describe, respond };
}

interface Asking {
  /** Of the rubric. */
  readonly changes?: object;
  readonly row?: JsonObject;
  readonly cut?: boolean;
  readonly from?: OwnEnvironments;
}
