// The prefix cache of an inference server, as far as the order of requests decides what it is worth: the texts of the
// last `capacity` conversations, the least recently used of which is forgotten first.

export interface PrefixCache {
  /** One request: whether the conversation so far was there. Its continuation is, afterwards. */
  ask(context: string, answer: string): boolean;
}

export function prefixCache(capacity: number): PrefixCache {
  let texts: string[] = [];
  return {
    ask(context, answer) {
      const known = texts.find((text) => context.startsWith(text));
      texts = [...texts.filter((text) => text !== known), context + answer].slice(-capacity);
      return known !== undefined;
    },
  };
}
