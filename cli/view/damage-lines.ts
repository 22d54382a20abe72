// The lines about damaged records, which go to stderr.

import type { Breach } from '../../records/store.ts';
import { plural } from '../format.ts';

export function damageLines(broken: readonly Breach[], of = ''): string[] {
  const [first] = broken;
  if (!first) return [];
  const left = `everturn: ${plural(broken.length, 'rollout')}${of} left out: records are damaged`;
  return [`${left}, the first ${first.path}, which ${first.problem}. \`everturn check\` lists all.`];
}
