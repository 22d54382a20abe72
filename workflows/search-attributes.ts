// Typed keys of the search attributes, by the names in domain/names/search-attributes.ts.

import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { SearchAttributeName } from '../domain/names/search-attributes.ts';

const named = <N extends SearchAttributeName>(name: N) => name;

export const RUN = defineSearchAttributeKey(named('EverturnRun'), SearchAttributeType.KEYWORD);
export const QUERY = defineSearchAttributeKey(named('EverturnQuery'), SearchAttributeType.KEYWORD);
export const OUTCOME = defineSearchAttributeKey(named('EverturnOutcome'), SearchAttributeType.KEYWORD);
export const TURNS = defineSearchAttributeKey(named('EverturnTurns'), SearchAttributeType.INT);
export const REWARD = defineSearchAttributeKey(named('EverturnReward'), SearchAttributeType.DOUBLE);
export const VERSION = defineSearchAttributeKey(named('EverturnVersion'), SearchAttributeType.INT);
