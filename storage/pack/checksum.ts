// The SHA-256 of a file, streamed.

import { createHash } from 'node:crypto';
import { fileError } from '../disk/errors.ts';
import { streamOf } from '../disk/facts.ts';

export async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of streamOf(path)) hash.update(chunk);
  } catch (error) {
    throw fileError('read', path, error);
  }
  return hash.digest('hex');
}
