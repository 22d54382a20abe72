// The rules of IFBench: equal to its authors' checker's verdicts, strict and loose, on replies that
// test/real/judge/ifbench_replies.py made or read, but for those named here.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type InstructionName, OF_IFBENCH } from '../../../domain/query/instruction.ts';
import { flawOfWritten } from '../../../domain/schema/fields.ts';
import { IFBENCH } from '../../../environments/rules/ifbench.ts';
import { judgeRules } from '../../../environments/rules/rules-environment.ts';
import { rowsOf } from '../../support/rows.ts';

interface Reply {
  readonly response: string;
  readonly checked: readonly (readonly [name: InstructionName, args: object, strict: boolean, loose: boolean])[];
}
const given = process.env['IFBENCH_REPLIES'];
const REPLIES: readonly Reply[] = given
  ? readFileSync(given, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Reply)
  : rowsOf<Reply>('./ifbench-replies.jsonl', import.meta.url);

const isFollowed = (response: string, name: InstructionName, args: object, loose = false) =>
  judgeRules({ instructions: [{ name, args: args as Record<string, never> }], loose }, response).verdict === 'right';

const CHECKED = REPLIES.flatMap(({ response, checked }) =>
  checked.map(([name, args, strict, loose]) => ({ response, name, args, strict, loose })),
);

describe('a rule of IFBench', () => {
  test('is there for each instruction', () =>
    expect(Object.keys(IFBENCH).sort()).toEqual(Object.keys(OF_IFBENCH).sort()));

  test("is followed, and not followed, in the checker's verdicts, whose arguments a row may have", () => {
    const said = new Set(CHECKED.flatMap(({ name, strict, loose }) => [`${name} ${strict}`, `${name} ${loose}`]));
    const all = Object.keys(OF_IFBENCH).flatMap((name) => [`${name} false`, `${name} true`]);
    expect(given ? [] : all.filter((one) => !said.has(one))).toEqual([]);
    for (const { name, args } of CHECKED)
      expect(flawOfWritten(OF_IFBENCH[name as keyof typeof OF_IFBENCH], args)).toBeUndefined();
  });

  const DIFFERENT = CHECKED.filter(
    ({ response, name, args, strict, loose }) =>
      isFollowed(response, name, args) !== strict || isFollowed(response, name, args, true) !== loose,
  ).map(({ response, name, args }) => ({ name, args, response: response.slice(0, 120) }));

  test("says what its authors' checker says, strictly and loosely", () =>
    expect(DIFFERENT.filter(({ name }) => name !== 'words:start_verb')).toEqual([]));

  test.skipIf(given)('takes no asterisk for a verb, as the tagger does that the checker asks', () => {
    const begin = DIFFERENT.filter(({ name }) => name === 'words:start_verb').map(({ response }) => response);
    expect(begin.map((text) => text.slice(text.indexOf('*')).slice(0, 5))).toEqual(Array(4).fill('* one'));
  });
});
