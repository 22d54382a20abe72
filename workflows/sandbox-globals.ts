// What the AI SDK's `generateText` expects of a JavaScript runtime and Temporal's sandbox for workflows lacks; loaded before an agent's
// own module. Classes of streams can be extended there, and not made: that is refused by name.

/** The headers of a request that is never sent. */
class PlainHeaders extends Map<string, string> {
  constructor(given: Iterable<readonly [string, string]> | Readonly<Record<string, string>> = {}) {
    super();
    const pairs = Symbol.iterator in given ? given : Object.entries(given);
    for (const [name, value] of pairs as Iterable<readonly [string, string]>) this.set(name, value);
  }
  override set(name: string, value: string) {
    return super.set(name.toLowerCase(), value);
  }
  override get(name: string) {
    return super.get(name.toLowerCase());
  }
}

/** Of the plain values that messages hold. */
function structuredClone(value: unknown): unknown {
  if (typeof value === 'function') throw new TypeError('A function cannot be cloned.');
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Date) return new Date(value);
  if (value instanceof Uint8Array) return value.slice();
  if (Array.isArray(value)) return value.map(structuredClone);
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, structuredClone(one)]));
}

class PlainDOMException extends Error {
  constructor(message = '', name = 'Error') {
    super(message);
    this.name = name;
  }
}

/** By the timers of the workflow: a replay sees it end at the same call. */
function timeoutSignal(ms: number): AbortSignal {
  const controller = new AbortController();
  const reason = new PlainDOMException(`The time of ${ms} ms is over.`, 'TimeoutError');
  setTimeout(() => controller.abort(reason), ms);
  return controller.signal;
}

export function provideGlobals(): void {
  const lacking: Record<string, unknown> = {
    ...{ Headers: PlainHeaders, structuredClone, DOMException: PlainDOMException },
    AbortSignal: Object.create(new AbortController().signal.constructor, {
      timeout: { value: timeoutSignal },
    }) as object,
  };
  for (const name of ['ReadableStream', 'WritableStream', 'TransformStream'])
    lacking[name] = function () {
      throw new TypeError(`A workflow has no ${name}: take generateText in place of streamText.`);
    };
  for (const [name, value] of Object.entries(lacking))
    if (!(name in globalThis)) Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
}
