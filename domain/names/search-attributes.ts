// The search attributes that Everturn sets on its workflows, by name and type: one list for
// the workflows, the dev server's flags and the check of a foreign cluster.

export type SearchAttributeType = 'Keyword' | 'Int' | 'Double';

export const SEARCH_ATTRIBUTES = {
  EverturnRun: 'Keyword',
  EverturnQuery: 'Keyword',
  EverturnOutcome: 'Keyword',
  EverturnTurns: 'Int',
  EverturnReward: 'Double',
  EverturnVersion: 'Int',
} as const satisfies Readonly<Record<string, SearchAttributeType>>;

export type SearchAttributeName = keyof typeof SEARCH_ATTRIBUTES;
