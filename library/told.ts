// Calls of the library, whose errors name options as a program writes them (option-names.ts, which the first error loads).

const namedError = async (error: unknown): Promise<unknown> =>
  (await import('./option-names.ts')).errorInOptionNames(error);

export async function told<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    throw await namedError(error);
  }
}

export async function* toldItems<T>(items: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    yield* items;
  } catch (error) {
    throw await namedError(error);
  }
}

/** The same object with its methods, each of which gives a promise or a generator. */
export function toldMethods<T extends object>(methods: T): T {
  const toldCall =
    (call: (...given: readonly unknown[]) => unknown) =>
    (...given: readonly unknown[]): unknown => {
      const answer = call(...given);
      return answer instanceof Promise ? told(answer) : toldItems(answer as AsyncGenerator);
    };
  const parts = Object.entries(methods).map(([name, part]) => [
    name,
    typeof part === 'function' ? toldCall(part) : part,
  ]);
  return Object.fromEntries(parts) as T;
}
