// Temporal for a command: with its environment, and with the start of the local service on its terminal. Its client takes a while to
// load, and is loaded by those that ask a server.

import { askServer } from '../../library/ask-server.ts';
import { printProgress } from '../../local/machine/progress.ts';
import type { Link } from '../../local/service/link.ts';
import type { Io } from '../io.ts';

/** Starts the local service if it is needed and not running. */
export async function withLink<T>(io: Io, use: (link: Link) => Promise<T>): Promise<T> {
  const { openLink } = await import('../../local/service/link.ts');
  const link = await openLink({ env: io.env, onProgress: printProgress(io.err) });
  try {
    return await use(link);
  } finally {
    await link.close();
  }
}

/** Undefined if no server answers: no cluster is named or it is away, and the local service is not running. */
export const ifUp = <T>(io: Io, use: (link: Link) => Promise<T>): Promise<T | undefined> =>
  askServer(io.env, use, printProgress(io.err));
