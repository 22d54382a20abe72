// Searches of texts in the background: the page asks again until a search is over, and gets what was found so far. Few at
// once, so many hits of each; a search that others replaced ends. Reads only.

import { searchRun } from '../records/reading/search.ts';
import type { Store } from '../records/store.ts';
import type { Hit } from '../domain/run/hit.ts';
import type { SearchMessage } from './model/messages.ts';
import { mustBePlain } from './plain-files.ts';

interface Searches {
  /** `revision`: of the rows; a search that is over is begun again if they changed. */
  hits(store: Store, revision: number, text: string): Promise<SearchMessage>;
}

interface Going {
  readonly hits: Hit[];
  readonly revision: number;
  readonly leave: AbortController;
  readonly over: Promise<void>;
  unread: number;
  done: boolean;
  error: unknown;
}

const MOST_HITS = 200;
const MOST_GOING = 3;
const SOON_MS = 300;

export function openSearches(): Searches {
  const going = new Map<string, Going>();

  function begin(store: Store, revision: number, text: string): Going {
    const leave = new AbortController();
    const search: Going = {
      ...{ hits: [], revision, leave, unread: 0, done: false, error: undefined },
      over: Promise.resolve().then(() => collect()),
    };
    async function collect(): Promise<void> {
      const guard = (folder: string) => mustBePlain(store.folder, folder);
      const options = { signal: leave.signal, guard, onBroken: () => void search.unread++ };
      try {
        for await (const hit of searchRun(store, text, options)) {
          // One more than is shown says that there are more.
          if (search.hits.push(hit) > MOST_HITS) break;
        }
      } catch (error) {
        search.error = error;
      }
      search.done = true;
    }
    return search;
  }

  return {
    async hits(store, revision, text) {
      const key = JSON.stringify([store.folder, text]);
      let search = going.get(key);
      if (!search || (search.done && search.revision !== revision)) search = begin(store, revision, text);
      going.delete(key);
      going.set(key, search);
      for (const [old, { leave }] of going) {
        if (going.size <= MOST_GOING) break;
        leave.abort();
        going.delete(old);
      }
      await Promise.race([search.over, new Promise((resolve) => void setTimeout(resolve, SOON_MS).unref())]);
      if (search.error !== undefined) throw search.error;
      const { hits, done, unread } = search;
      return { hits: hits.slice(0, MOST_HITS), more: hits.length > MOST_HITS, done, unread };
    },
  };
}
