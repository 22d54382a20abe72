// Asks the Temporal server about a run, where one answers: the cluster that the environment names, or else the local service
// if it is up. Starts nothing.

import type { OnProgress } from '../local/machine/progress.ts';
import type { Environment } from '../local/machine/user-folders.ts';
import type { Link } from '../local/service/link.ts';

/** Undefined if no server answers; `onProgress` is told why the one that is named does not. */
export async function askServer<T>(
  env: Environment,
  ask: (link: Link) => Promise<T>,
  onProgress: OnProgress = () => {},
): Promise<T | undefined> {
  // Most readers of a run ask no server, and its client takes a while to load.
  const { openLinkIfUp, unanswered } = await import('../local/service/link.ts');
  const link = await openLinkIfUp({ env, onProgress });
  if (!link) return undefined;
  return ask(link)
    .catch(unanswered)
    .finally(() => link.close());
}
