// Typed keys of the search attributes, by the names in domain/names/search-attributes.ts.

import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import type { SearchAttributeName } from '../domain/names/search-attributes.ts';

const named = <N extends SearchAttributeName>(name: N) => name;

export const RUN_ATTRIBUTE = defineSearchAttributeKey(named('EverturnRun'), SearchAttributeType.KEYWORD);
export const QUERY_ATTRIBUTE = defineSearchAttributeKey(named('EverturnQuery'), SearchAttributeType.KEYWORD);
export const OUTCOME_ATTRIBUTE = defineSearchAttributeKey(named('EverturnOutcome'), SearchAttributeType.KEYWORD);
export const TURNS_ATTRIBUTE = defineSearchAttributeKey(named('EverturnTurns'), SearchAttributeType.INT);
export const REWARD_ATTRIBUTE = defineSearchAttributeKey(named('EverturnReward'), SearchAttributeType.DOUBLE);
export const VERSION_ATTRIBUTE = defineSearchAttributeKey(named('EverturnVersion'), SearchAttributeType.INT);
