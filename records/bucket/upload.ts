// A content on its way to a bucket, with the hash that the server compares.

import { createHash } from 'node:crypto';

export interface Upload {
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
  /** Called for each attempt. */
  readonly open: () => Buffer | NodeJS.ReadableStream;
}

export function uploadOf(content: string | Uint8Array): Upload {
  const bytes = Buffer.from(content as Uint8Array);
  return { bytes: bytes.length, sha256: sha256Of(bytes), open: () => bytes };
}

export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
