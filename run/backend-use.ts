// The requests of one backend in flight, which backends with later weights share.

import type { Backend, GenerateOptions, TextRequest, TokenBackend } from '../inference/backend.ts';

export interface BackendUse {
  inFlight: number;
}

/** The same backend; `use` counts its requests. */
export function countUse(backend: Backend, use: BackendUse): Backend {
  async function during<T>(work: () => Promise<T>): Promise<T> {
    use.inFlight++;
    try {
      return await work();
    } finally {
      use.inFlight--;
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
