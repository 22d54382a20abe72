// The use of one backend by the runs of a worker: its requests in flight, and the runs that asked for it. Weights of a
// later version share it.

import type { Backend, GenerateOptions, TextRequest, TokenBackend } from '../inference/backend.ts';

export interface BackendUse {
  readonly runs: Set<string>;
  inFlight: number;
  /** Of the latest request, in the time of performance.now(). */
  at: number;
}

export const newUse = (): BackendUse => ({ runs: new Set(), inFlight: 0, at: performance.now() });

/** The same backend; `use` counts its requests. */
export function counted(backend: Backend, use: BackendUse): Backend {
  async function during<T>(work: () => Promise<T>): Promise<T> {
    use.inFlight++;
    try {
      return await work();
    } finally {
      use.inFlight--;
      use.at = performance.now();
    }
  }
  if (!isOfTokens(backend)) {
    return {
      ...backend,
      generate: (request: TextRequest, options: GenerateOptions) => during(() => backend.generate(request, options)),
    };
  }
  const ofTokens = (one: TokenBackend): TokenBackend => {
    const { withWeights } = one;
    return {
      ...one,
      generate: (request, options) => during(() => one.generate(request, options)),
      ...(withWeights && { withWeights: async (weights) => ofTokens(await during(() => withWeights(weights))) }),
    };
  };
  return ofTokens(backend);
}

const isOfTokens = (backend: Backend): backend is TokenBackend => backend.facts.kind === 'tokens';
