// A message for a page: asked for when its key changes, and again while it may change. The last one stays on screen
// until the next is there; answers that come too late are dropped; a hidden tab does not ask.

import { useEffect, useState } from 'preact/hooks';

export interface Asked<T> {
  readonly message: T | undefined;
  readonly error: string | undefined;
  /** The key of `message`: another one while the next is on its way. */
  readonly of: string | undefined;
}

/** `again`: milliseconds until it is asked for again, by the last message; 0 for never. */
export function useMessage<T>(key: string, ask: () => Promise<T>, again: (message: T) => number = () => 0): Asked<T> {
  const [asked, setAsked] = useState<Asked<T>>({ message: undefined, error: undefined, of: undefined });
  useEffect(() => {
    let over = false;
    let timer = 0;
    const later = (ms: number) => {
      if (ms > 0 && !over) timer = setTimeout(() => (document.hidden ? later(ms) : void next()), ms);
    };
    const next = async () => {
      try {
        const message = await ask();
        if (over) return;
        setAsked({ message, error: undefined, of: key });
        later(again(message));
      } catch (error) {
        if (over) return;
        const said = error instanceof Error ? error.message : String(error);
        setAsked((before) => ({ message: before.of === key ? before.message : undefined, error: said, of: key }));
        later(RETRY_MS);
      }
    };
    void next();
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [key]);
  return asked;
}

const RETRY_MS = 3_000;
