// The SHA-256 of a file, streamed.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { fileError } from '../disk/errors.ts';

export async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk as Buffer);
  } catch (error) {
    throw fileError('read', path, error);
  }
  return hash.digest('hex');
}
