// `chat_template_kwargs` of a row: the variables of the chat template for it. Also as JSON in a text, which a table's cell is.

import { TEMPLATE_KWARGS } from '../../domain/rollout/settings.ts';
import type { JsonObject } from '../../domain/text/json.ts';
import { deeperThan } from '../../domain/text/json-text.ts';
import { isObject } from '../../domain/schema/fields.ts';
import type { RowObject } from './names.ts';
import { failRow, kindText } from './row-fault.ts';

const FIELD = 'chat_template_kwargs';
const MAX_DEPTH = 100;

/** Undefined if the row has none. Throws a RowError. */
export function templateKwargsOf(row: RowObject): JsonObject | undefined {
  const value = row[FIELD];
  if (value == null || value === '') return undefined;
  const parsed = typeof value === 'string' ? readJson(value) : value;
  if (!isObject(parsed)) return failRow(FIELD, `is ${kindText(parsed)}, not an object`, EXAMPLE);
  if (deeperThan(parsed, MAX_DEPTH)) return failRow(FIELD, `is nested deeper than ${MAX_DEPTH} levels`, 'Flatten it.');
  // A table has a column for each variable of all.
  const given = Object.fromEntries(Object.entries(parsed).filter(([, one]) => one != null)) as JsonObject;
  const [test, right] = TEMPLATE_KWARGS;
  if (!test(given)) return failRow(FIELD, 'names what the conversation itself gives', `Give ${right}.`);
  return Object.keys(given).length === 0 ? undefined : given;
}

const EXAMPLE = 'Give an object, such as {"enable_thinking": false}.';

function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return failRow(FIELD, 'is a text that is not JSON', EXAMPLE);
  }
}
