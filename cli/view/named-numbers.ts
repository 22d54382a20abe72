// Named numbers of an environment, as text: rewards and metrics. Their names are foreign text.

import { oneLine } from '../../domain/text/foreign-text.ts';

const MOST_NAMED = 20;

/** `format 0.5, length 2` */
export function namedNumbers(numbers: Readonly<Record<string, number>>): string {
  const all = Object.entries(numbers).map(([name, value]) => `${oneLine(name)} ${value}`);
  return [...all.slice(0, MOST_NAMED), ...(all.length > MOST_NAMED ? ['…'] : [])].join(', ');
}
