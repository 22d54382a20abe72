// The code that a run brings: `code/<sha256>.cjs` in its folder. Written once; its reader compares the hash.

import { UsageError } from '../../domain/errors/errors.ts';
import { isOnDisk, join } from '../place.ts';
import { CODE, codeFile } from '../format/layout.ts';
import { namesIn, readText, writeOnce } from '../places/files.ts';

/** Throws a UsageError: the process that runs the code loads it from a disk. */
export function mustLoadCodeFrom(out: string): void {
  if (isOnDisk(out)) return;
  throw new UsageError(`A run in a bucket (${out}) brings no code: a module is loaded from a folder.`, {
    reason: 'bad-value',
    fix: 'Give the environment or tool as a command or an address, or name a folder with --out.',
  });
}

export async function putCode(
  folder: string,
  { sha256, code }: { readonly sha256: string; readonly code: string },
): Promise<void> {
  await writeOnce(join(folder, codeFile(sha256)), (file) => file.appendFile(code));
}

/** The code of one run, for another one. */
export async function copyCode(from: string, to: string): Promise<void> {
  for (const name of await namesIn(join(from, CODE))) {
    const code = await readText(join(from, CODE, name));
    if (code !== undefined) await writeOnce(join(to, CODE, name), code);
  }
}
