// The workflows' bundle as it would be if their sources were other than they are: for what an older or a
// newer release does, or a broken one. Built from a copy; an alteration that finds no text is an error.

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

const ROOT = join(import.meta.dirname, '../..');
/** What workflows import; of activities only types. */
const ROOMS = ['workflows', 'domain'];

export interface Alteration {
  /** Relative to the repository. */
  readonly file: string;
  /** Stands there exactly once. */
  readonly from: string;
  readonly to: string;
}

export interface BundleOptions {
  /** The repository, for code that was compiled to somewhere else. */
  readonly root?: string;
  /** What holds no state of a workflow is loaded once for all of them: a new one takes half the time. */
  readonly sharesDomain?: boolean;
}

/** The bundle's code. */
export async function alteredBundle(
  alterations: readonly Alteration[],
  { root = ROOT, sharesDomain = false }: BundleOptions = {},
): Promise<string> {
  const copy = mkdtempSync(join(tmpdir(), 'everturn-altered-'));
  try {
    for (const room of ROOMS) cpSync(join(root, room), join(copy, room), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
    for (const { file, from, to } of alterations) {
      const path = join(copy, file);
      const parts = readFileSync(path, 'utf8').split(from);
      if (parts.length !== 2) throw new Error(`${file} holds ${parts.length - 1} times, not once: ${from}`);
      writeFileSync(path, parts.join(to));
    }
    const workflowsPath = join(copy, 'workflows/index.ts');
    const domain = sharesDomain ? readdirSync(join(copy, 'domain')).map((name) => join(copy, 'domain', name)) : [];
    const preloadModules = sharesDomain ? ['@temporalio/workflow', '@temporalio/common', ...domain] : [];
    return (await bundleWorkflowCode({ workflowsPath, preloadModules, logger: new DefaultLogger('WARN') })).code;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
