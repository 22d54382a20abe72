// Runs that were played with the shipped model, and one with tools, unpacked for tests that change one record and ask `check`.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { tokenizerOf } from '../../../library/run-tokenizer.ts';
import { createTools } from '../../../environments/tools/index.ts';
import { areal } from '../../../formats/exports/areal.ts';
import { everturnVersion } from '../../../local/machine/package-root.ts';
import { checkRun, type CheckOptions } from '../../../records/check/check.ts';
import { openFileStore } from '../../../records/file-store.ts';
import { rolloutFolder } from '../../../records/format/layout.ts';
import { sha256 } from '../../../records/format/text.ts';
import { unpack } from '../../support/packed-run.ts';
import { scriptedBackend } from '../../support/scripted-model.ts';
import { withTools } from '../../support/tool-chat.ts';

export const RUNS = ['always', 'success', 'cut', 'tools'] as const;
type Run = (typeof RUNS)[number];
const WITH_TOOLS = withTools(scriptedBackend({ answer: () => '' })).tokenizer;

/** The folder of a query's first sample. */
export const folderOf = (query: string) => rolloutFolder({ query, sample: 0, attempt: 1 });

export async function openPlayed() {
  const root = mkdtempSync(join(tmpdir(), 'everturn-played-'));
  afterAll(() => rmSync(root, { recursive: true }));
  const played = join(root, 'played');
  for (const run of RUNS) unpack(`run-${run}.json`, join(played, run));
  const { tokenizer, hashes } = await tokenizerOf(openFileStore(played, 'always'), root);
  if (!tokenizer) throw new Error('the shipped tokenizer is not here');

  function factsOf(run: Run, byTokens: boolean): CheckOptions {
    const facts = { export: { exporter: areal }, everturn: everturnVersion() };
    if (!byTokens) return facts;
    if (run !== 'tools') return { ...facts, tokenizer, hashes };
    const ofTools = { ...WITH_TOOLS, name: 'the tokenizer of the test', stopTokenIds: [256] };
    return { ...facts, tokenizer: ofTools, calls: createTools({}) };
  }

  return {
    copyOf(run: Run): string {
      const out = mkdtempSync(join(root, 'run-'));
      cpSync(join(played, run), join(out, run), { recursive: true });
      return out;
    },

    /** One a line. */
    async problemsOf(run: Run, out = played, byTokens = true): Promise<string> {
      const problems: string[] = [];
      const note = ({ path, problem }: { path: string; problem: string }) => problems.push(`${path}: ${problem}`);
      await checkRun(openFileStore(out, run), note, factsOf(run, byTokens));
      return problems.join('\n');
    },
  };
}

/** Another text of a record, with the hash that this text has. */
export function rehash(path: string, change: (text: string) => string): void {
  const text = readFileSync(path, 'utf8');
  const body = change(text.slice(0, text.indexOf(',"sha256":')));
  writeFileSync(path, `${body},"sha256":"${sha256(body)}"}\n`);
}
