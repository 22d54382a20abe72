// Temporal for a command: with its environment, and with the start of the local service on its terminal.

import { printProgress } from '../../local/machine/progress.ts';
import { type Link, openLink, openLinkIfUp, unanswered } from '../../local/service/link.ts';
import type { Io } from '../io.ts';

const optionsOf = (io: Io) => ({ env: io.env, onProgress: printProgress(io.err) });

/** Starts the local service if it is needed and not running. */
export async function withLink<T>(io: Io, use: (link: Link) => Promise<T>): Promise<T> {
  return using(await openLink(optionsOf(io)), use);
}

/** Undefined if no server answers: no cluster is named or it is away, and the local service is not running. */
export async function ifUp<T>(io: Io, use: (link: Link) => Promise<T>): Promise<T | undefined> {
  const link = await openLinkIfUp(optionsOf(io));
  return link && using(link, use).catch(unanswered);
}

async function using<T>(link: Link, use: (link: Link) => Promise<T>): Promise<T> {
  try {
    return await use(link);
  } finally {
    await link.close();
  }
}
