// The code that a run brings: `code/<sha256>.cjs` in its folder. Written once; its reader compares the hash.

import { isBucketPlace } from '../../domain/run/bucket-place.ts';
import { UsageError } from '../../domain/errors/errors.ts';
import { join } from '../place.ts';
import { codeFile } from '../format/layout.ts';
import { writeOnce } from '../disk/write-once.ts';

/** Throws a UsageError: the process that runs the code loads it from a disk. */
export function mustLoadCodeFrom(out: string): void {
  if (!isBucketPlace(out)) return;
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
