// Processes the items of a stream, several at once, and yields the results in the stream's order. A result is yielded as
// soon as all earlier ones are, even while the stream is silent. Items in progress are bounded by number and weight.

export interface InOrderOptions<T> {
  readonly atOnce: number;
  /** No item is begun while those in progress weigh more than this. */
  readonly mostWeight?: number;
  readonly weigh?: (item: T) => number;
}

interface Open<R> {
  readonly result: Promise<R>;
  readonly weight: number;
}

export async function* inRowOrder<T, R>(
  items: AsyncIterable<T>,
  work: (item: T) => Promise<R>,
  { atOnce, mostWeight = Infinity, weigh = () => 0 }: InOrderOptions<T>,
): AsyncGenerator<R> {
  const source = items[Symbol.asyncIterator]();
  const open: Open<R>[] = [];
  let weight = 0;
  let next: Promise<IteratorResult<T>> | undefined;
  let ended = false;
  try {
    for (;;) {
      const head = open[0];
      const hasRoom = !ended && open.length < atOnce && weight <= mostWeight;
      if (hasRoom) next ??= source.next();
      if (!hasRoom && !head) return;
      const item = hasRoom ? await earlier(next!, head?.result) : undefined;
      if (item === undefined) {
        open.shift();
        weight -= head!.weight;
        yield await head!.result;
        continue;
      }
      next = undefined;
      if (item.done) {
        ended = true;
        continue;
      }
      const begun = { result: work(item.value), weight: weigh(item.value) };
      // It is awaited later; until then its rejection must not count as unhandled.
      begun.result.catch(() => undefined);
      weight += begun.weight;
      open.push(begun);
    }
  } finally {
    // Not awaited: the stream may never settle.
    void source.return?.();
  }
}

/** The stream's next item; undefined if the head's result came first. */
function earlier<T>(
  next: Promise<IteratorResult<T>>,
  head: Promise<unknown> | undefined,
): Promise<IteratorResult<T> | undefined> {
  return head ? Promise.race([next, head.then(() => undefined)]) : next;
}
