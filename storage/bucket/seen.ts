// Objects that were there a moment ago: each step of a rollout asks for the same one, and each question is a request. Only
// what is there is remembered, and for seconds only: an object of a rollout goes when the rollout is packed, a minute after
// its end, and whoever writes looks again afterwards.

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
