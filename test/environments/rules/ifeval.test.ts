// The rules of IFEval: equal to a published checker's verdicts on replies that test/real/judge/ifeval_replies.py made or read, and
// right where that checker draws by chance or asks a model that is not here.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type InstructionName, OF_IFEVAL } from '../../../domain/query/instruction.ts';
import type { Query } from '../../../domain/query/query.ts';
import { createEnvironments } from '../../../environments/index.ts';
import { IFEVAL } from '../../../environments/rules/ifeval.ts';
import { languageOf } from '../../../environments/rules/language.ts';
import { episodeOf } from '../../../environments/wire.ts';
import { judgeRules } from '../../../environments/rules/rules-environment.ts';
import { rowsOf } from '../../support/rows.ts';

interface Reply {
  readonly response: string;
  readonly checked: readonly (readonly [name: InstructionName, args: object, followed: boolean])[];
}
const given = process.env['IFEVAL_REPLIES'];
const REPLIES: readonly Reply[] = given
  ? readFileSync(given, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Reply)
  : rowsOf<Reply>('./ifeval-replies.jsonl', import.meta.url);

const judged = (response: string, name: InstructionName, args: object) =>
  judgeRules({ instructions: [{ name, args: args as Record<string, never> }] }, response);
const isFollowed = (...asked: Parameters<typeof judged>) => judged(...asked).verdict === 'right';

/** In them the checker asks langdetect, which looks at the first letters alone of words in capitals, and at formulas as at words. */
const UNSURE: readonly InstructionName[] = [
  'change_case:english_capital',
  'change_case:english_lowercase',
  'language:response_language',
];

describe('a rule of IFEval', () => {
  test('is there for each instruction', () =>
    expect(Object.keys(IFEVAL).sort()).toEqual(Object.keys(OF_IFEVAL).sort()));

  test('says what the published checker says', () => {
    const other = REPLIES.flatMap(({ response, checked }) =>
      checked.flatMap(([name, args, followed]) =>
        isFollowed(response, name, args) === followed
          ? []
          : [{ name, args, followed, response: response.slice(0, 80) }],
      ),
    );
    const isByChance = (args: object) => 'letter' in args && !/[a-z]/i.test(String(args.letter));
    expect(other.filter(({ name, args }) => !UNSURE.includes(name) && !isByChance(args))).toEqual([]);
  });

  test('tells the languages apart that it is asked for', () => {
    for (const { language, text } of rowsOf<{ language: string; text: string }>('./languages.jsonl', import.meta.url))
      expect(languageOf(text), text).toBe(language);
    expect(languageOf('12 + 3!')).toBeUndefined();
  });

  test('takes a keyword and a sign as they stand, where the checker reads a pattern or draws a letter', () => {
    expect(isFollowed('Ask C++ (now)?', 'keywords:existence', { keywords: ['c++', '(now)?'] })).toBe(true);
    const signs = { letter: '!', let_frequency: 2, let_relation: 'at least' };
    expect(isFollowed('No! No!', 'keywords:letter_frequency', signs)).toBe(true);
    expect(isFollowed('No! No.', 'keywords:letter_frequency', signs)).toBe(false);
  });

  test.each([
    '*',
    '-',
    '[',
    '<',
    '<<',
    '>',
    '"',
    "'",
    '.',
    '. ',
    ' ',
    '\n',
    '\n*',
    ' \n',
    '`',
    'A',
    'a.',
    '! ',
    '***',
    '€',
    'Section ',
    '1',
    '{"a":',
    '"\n',
  ])('ends soon on 300,000 characters of %j', (piece) => {
    const text = piece.repeat(300_000 / piece.length);
    const rules = new Map(REPLIES[0]!.checked.map(([name, args]) => [name, args]));
    for (const one of [text, `x${text}x`]) for (const [name, args] of rules) judged(one, name, args);
  });
});

describe('an answer to several instructions', () => {
  const query = {
    task: 'rules',
    solutions: [],
    instructions: [
      { name: 'punctuation:no_comma', args: {} },
      { name: 'startend:quotation', args: {} },
    ],
  } as unknown as Query;
  test.each([
    ['"Yes"', 'right', undefined, 2],
    ['<think>Yes, no</think>"Yes"', 'right', undefined, 2],
    ['"Yes, no"', 'wrong', 'punctuation:no_comma', 1],
    ['Yes, no', 'wrong', 'punctuation:no_comma, startend:quotation', 0],
    ['<think>"Yes"', 'wrong', 'punctuation:no_comma, startend:quotation', 0],
    ['', 'wrong', 'punctuation:no_comma, startend:quotation', 0],
  ])('%s is %s, and says which it does not follow', async (answer, verdict, extracted, followed) => {
    const environments = createEnvironments();
    const rollout = { query, settings: {} } as never;
    const move = { rollout, turn: 1, answer, cut: false, before: async () => [] };
    const reply = await environments.of(rollout, '').respond(move, { signal: new AbortController().signal });
    await environments.close();
    expect(reply).toMatchObject({ verdict: { verdict }, metrics: { instructions: 2, followed } });
    expect(reply.verdict?.extracted).toBe(extracted);
  });

  test('is right loosely without its first line or its asterisks, and each way is told as a number', async () => {
    const environments = createEnvironments();
    const loosely = [];
    for (const asked of [query, { ...query, loose: true }]) {
      const rollout = { query: asked, settings: {} } as never;
      const move = { rollout, turn: 1, answer: 'Sure, here:\n*"Yes"*', cut: false, before: async () => [] };
      loosely.push(await environments.of(rollout, '').respond(move, { signal: new AbortController().signal }));
    }
    await environments.close();
    expect(loosely).toMatchObject([
      { verdict: { verdict: 'wrong' }, metrics: { instructions: 2, followed: 0, loose: 1 } },
      { verdict: { verdict: 'right' }, metrics: { instructions: 2, followed: 2, strict: 0 } },
    ]);
  });

  test('are in the row that an environment gets which judges it again', () => {
    const asked = { ...query, queryId: 'q', prompt: { kind: 'text', text: 'Go.' } } as Query;
    const { row } = episodeOf({ run: 'r', query: asked, sample: 0, attempt: 1, settings: { seed: 1 } as never });
    expect(row).toMatchObject({ task: 'rules', instructions: query.instructions });
  });
});
