// The workflows' bundle from source, as a worker gets it; with a patch of the source where a mutant is wanted.
// Only what holds no state of a workflow is loaded once for all instances.

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

/** One place of the source, and what stands there instead. */
export interface Patch {
  /** Relative to the repository. */
  readonly file: string;
  readonly find: string;
  readonly put: string;
}

const SOURCES = ['workflows', 'domain'];

export async function bundle(root: string, patches: readonly Patch[] = []): Promise<string> {
  const copy = mkdtempSync(join(tmpdir(), 'everturn-simulated-'));
  try {
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'), 'junction');
    for (const room of SOURCES) cpSync(join(root, room), join(copy, room), { recursive: true });
    for (const { file, find, put } of patches) {
      const path = join(copy, file);
      const text = readFileSync(path, 'utf8');
      if (text.split(find).length !== 2) throw new Error(`${file} does not hold exactly once: ${find}`);
      writeFileSync(
        path,
        text.replace(find, () => put),
      );
    }
    const domain = readdirSync(join(copy, 'domain')).map((name) => join(copy, 'domain', name));
    const { code } = await bundleWorkflowCode({
      workflowsPath: join(copy, 'workflows/index.ts'),
      preloadModules: ['@temporalio/workflow', '@temporalio/common', ...domain],
      logger: new DefaultLogger('WARN'),
    });
    return code;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
