// A question as a function asks it, checked before it is a call, as the dialects check the requests of programs: a module is bundled
// without a look at its types, and a wrong field would be rendered and played.

import { callTag, flawOfReward, TAG_RULE } from '../domain/agent/index.ts';
import { BOOLEAN, isObject, NAME, OBJECT, oneOf, PLACE, TEXT, type Test } from '../domain/schema/fields.ts';
import type { Message, Question } from './agent-task.ts';

interface Flaw {
  readonly field: string;
  readonly wanted: string;
}
type Rule = (value: unknown, field: string) => Flaw | undefined;

const is =
  ([test, wanted]: Test): Rule =>
  (value, field) =>
    test(value) ? undefined : { field, wanted };

const maybe =
  (rule: Rule): Rule =>
  (value, field) =>
    value === undefined ? undefined : rule(value, field);

const listOf =
  (rule: Rule, wanted: string, least = 0): Rule =>
  (value, field) => {
    if (!Array.isArray(value) || value.length < least) return { field, wanted };
    return firstOf(value.map((one: unknown, i) => rule(one, `${field}[${i}]`)));
  };

/** Other fields say nothing. */
const objectOf =
  (rules: Readonly<Record<string, Rule>>, wanted: string): Rule =>
  (value, field) => {
    if (!isObject(value)) return { field, wanted };
    const before = field === '' ? '' : `${field}.`;
    return firstOf(Object.entries(rules).map(([name, rule]) => rule(value[name], before + name)));
  };

const firstOf = (flaws: readonly (Flaw | undefined)[]) => flaws.find((flaw) => flaw !== undefined);

const CALL = objectOf(
  { id: is(TEXT), name: is(NAME), arguments: is([(value) => value !== undefined, 'a value of JSON']) },
  '{id, name, arguments}',
);
const MESSAGE = objectOf(
  {
    role: is(oneOf('system', 'user', 'assistant', 'tool')),
    content: is(TEXT),
    calls: maybe(listOf(CALL, 'a list of calls')),
    callId: maybe(is(TEXT)),
  },
  '{role, content}',
);
const TOOL = objectOf(
  { name: is(NAME), description: is(TEXT), parameters: is(OBJECT) },
  '{name, description, parameters}',
);
const FIELDS: { readonly [K in keyof Required<Question>]: Rule } = {
  messages: listOf(MESSAGE, 'a list of at least one message', 1),
  tools: maybe(listOf(TOOL, 'a list of tools')),
  maxTokens: maybe(is(PLACE)),
  stop: maybe(listOf(is(NAME), 'a list of texts')),
  form: maybe(is([(value) => value === true || isObject(value), 'a JSON schema, or true'])),
  call: maybe(is([(value) => typeof value === 'boolean' || NAME[0](value), 'the name of a tool, or true or false'])),
  tag: maybe(is([(value) => callTag(value) !== undefined, TAG_RULE])),
  train: maybe(is(BOOLEAN)),
};
const QUESTION = objectOf(FIELDS, `a text, a list of messages, or an object of ${Object.keys(FIELDS).join(', ')}`);

/** A text is one message of the user. Throws TypeError for a field that is none of a question, or of another type. */
export function wholeQuestion(given: string | readonly Message[] | Question): Question {
  if (typeof given === 'string') return { messages: [{ role: 'user', content: given }] };
  const question = Array.isArray(given) ? { messages: given as readonly Message[] } : (given as Question);
  const alien = isObject(question) && Object.keys(question).find((name) => !Object.hasOwn(FIELDS, name));
  if (typeof alien === 'string') throw new TypeError(`${alien} is no field of a question: leave it out`);
  const flaw = QUESTION(question, '');
  if (flaw) throw new TypeError(`${flaw.field || 'the question'} is wrong: it takes ${flaw.wanted}`);
  return question;
}

/** `isReply`: whether an id is that of a reply. Throws TypeError. */
export function mustBeReward(id: string, reward: number, isReply: (id: string) => boolean): void {
  if (!isReply(id)) throw new TypeError(`reward: ${JSON.stringify(id)} is the id of no reply.`);
  const flaw = flawOfReward(reward);
  if (flaw !== undefined) throw new TypeError(`reward: ${String(reward)} is ${flaw}.`);
}
