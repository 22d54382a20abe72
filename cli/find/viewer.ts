// The parts of the viewer that come from outside of it: the page that the build made, and a run's tokenizer.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { explain, UsageError } from '../../domain/errors.ts';
import { loadTokenizer } from '../../inference/tokenizer/tokenizer.ts';
import { packageRoot } from '../../machine/package-root.ts';
import type { Bundle } from '../../viewer/assets.ts';
import type { OpenRun } from '../../viewer/runs.ts';
import type { TokenDecoder } from '../../viewer/token-text.ts';
import { tokenizerFolderOf } from './tokenizer.ts';

/** The page as the build made it. */
export function bundle(): Bundle {
  const file = (name: string) => readFileSync(join(packageRoot(), 'dist', 'viewer', 'page', name), 'utf8');
  try {
    return { script: file('page.js'), style: file('page.css') };
  } catch (cause) {
    throw new UsageError('The viewer’s page is not built.', {
      reason: 'bad-value',
      fix: '`npm run build` makes it.',
      cause,
    });
  }
}

/** The run's own tokenizer, if its files are on this machine. */
export async function decoderOf({ record }: OpenRun, cwd: string): Promise<TokenDecoder | string> {
  const found = await tokenizerFolderOf(record.settings, cwd);
  if ('why' in found) return found.why;
  try {
    return await loadTokenizer(found.folder);
  } catch (error) {
    return explain(error);
  }
}
