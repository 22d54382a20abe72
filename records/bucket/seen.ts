// A cache of objects that exist: each step of a rollout asks for the same one, and each question is a request. It holds
// existing objects only, for seconds only: a rollout's objects are removed when it ends, and a writer
// asks the server again afterwards.

export interface Seen {
  /** Undefined where there is none. */
  identity(path: string): Promise<string | undefined>;
  forget(path: string): void;
}

const SEEN_FOR_MS = 10_000;
const MOST = 10_000;

export function openSeen(look: (path: string) => Promise<string | undefined>): Seen {
  const known = new Map<string, { readonly identity: string; readonly at: number }>();
  return {
    async identity(path) {
      const found = known.get(path);
      if (found && performance.now() - found.at < SEEN_FOR_MS) return found.identity;
      const identity = await look(path);
      if (known.size >= MOST) known.clear();
      if (identity === undefined) known.delete(path);
      else known.set(path, { identity, at: performance.now() });
      return identity;
    },
    forget: (path) => void known.delete(path),
  };
}
