// The code that a run brings: `code/<sha256>.cjs` in its folder. Written once; its reader compares the hash.

import { join } from './place.ts';
import { codeFile } from './record/layout.ts';
import { writeOnce } from './disk/write-once.ts';

export async function putCode(
  folder: string,
  { sha256, code }: { readonly sha256: string; readonly code: string },
): Promise<void> {
  await writeOnce(join(folder, codeFile(sha256)), (file) => file.appendFile(code));
}
