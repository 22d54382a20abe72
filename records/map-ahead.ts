// Work on the items of a list, some of them at once, with results in the order of the list: where each answer takes long, the
// next ones are asked for ahead of their use.

/** Holds at most `atOnce` results; of 1, each item is begun when the one before is used. */
export async function* mapAhead<T, R>(
  items: AsyncIterable<T> | Iterable<T>,
  atOnce: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const begun: Promise<R>[] = [];
  try {
    for await (const item of items) {
      const result = work(item);
      // Its error is thrown when its turn comes.
      result.catch(() => {});
      if (begun.push(result) >= atOnce) yield await begun.shift()!;
    }
    while (begun.length > 0) yield await begun.shift()!;
  } finally {
    await Promise.allSettled(begun);
  }
}
