// How a problem is solved twice: here in TypeScript, which gives the expected values, and in Python by `solve`.

export interface Problem {
  readonly name: string;
  /** Python parameters with their types. */
  readonly params: string;
  /** The body of `solve`. */
  readonly body: string;
  readonly calls: readonly (readonly unknown[])[];
  readonly expected: readonly unknown[];
}

// oxlint-disable-next-line typescript/no-explicit-any -- each problem's own argument types
type Reference = (...args: any[]) => unknown;

export function problem(name: string, params: string, calls: unknown[][], reference: Reference, body: string): Problem {
  return {
    name,
    params,
    body,
    calls,
    expected: calls.map((args) => reference(...(structuredClone(args) as unknown[]))),
  };
}

export const sum = (xs: number[]) => xs.reduce((a, b) => a + b, 0);
