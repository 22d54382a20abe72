// The environment of mathematics and natural-science problems: right if the answer's final value is any of
// the query's solutions.

import type { Environment } from '../environment.ts';
import { judgeMath } from './judge.ts';

export function createMathEnvironment(): Environment {
  return {
    judge: async (query, answer) => judgeMath(answer, query.solutions),
    close: async () => {},
  };
}
