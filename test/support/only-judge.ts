// An environment that is one judge, for every query the same.

import { asEnvironment } from '../../environments/index.ts';
import type { Environments, Judge } from '../../environments/environment.ts';

export function onlyJudge(judge: Judge): Environments {
  const environment = asEnvironment(judge);
  return { of: () => environment, close: () => judge.close() };
}
