// The words of a run around its rows: a system message, and a template in place of the question.

import { describe, expect, test } from 'vitest';
import { queryFromRow } from '../../../formats/datasets/row.ts';
import { askerOf } from '../../../formats/datasets/wording.ts';

const read = (row: object, wording: Parameters<typeof askerOf>[0]) =>
  queryFromRow({ id: 'q', answer: '2', ...row }, '1', undefined, [], askerOf(wording));
const user = (content: string) => ({ role: 'user', content });
const prompt = (...messages: object[]) => ({ ok: true, query: { prompt: { kind: 'messages', messages } } });

describe('the words of a run', () => {
  test('are a system message in place of the row’s own', () => {
    const messages = [{ role: 'system', content: 'Be long.' }, user('1 + 1?')];
    const system = { role: 'system', content: 'Be brief.' };
    expect(read({ messages }, { system: 'Be brief.' })).toMatchObject(prompt(system, user('1 + 1?')));
    expect(read({ question: '1 + 1?' }, { system: 'Be brief.' })).toMatchObject(prompt(system, user('1 + 1?')));
    expect(read({ prompt: '1 + 1 =' }, { system: 'Be brief.' })).toMatchObject({ ok: false, field: 'prompt' });
  });

  test('are a template over fields of any name, lists too, without a question', () => {
    const template = '{{ title }}\n{% for one in items %}- {{ one }}\n{% endfor %}';
    const row = { title: 'Which?', items: ['a', 'b'] };
    expect(read(row, { template })).toMatchObject(prompt(user('Which?\n- a\n- b\n')));
  });

  test('leave the row its own question as a title, and its categories', () => {
    const template = 'Think of {{ hint }} step by step.\n{{ ask }}';
    const row = { hint: 'it', ask: 'How   many?', Subject: 'Algebra', level: 3, category: ['a'], topic: null };
    expect(read(row, { template })).toMatchObject({
      query: { title: 'How many?', categories: { subject: 'Algebra', level: '3' } },
    });
    expect(read({ ...row, problem: 'How   far?' }, { template })).toMatchObject({ query: { title: 'How far?' } });
    expect(read({ question: 'How many?' }, { system: 'Be brief.' })).toHaveProperty(
      'query',
      expect.not.objectContaining({ title: expect.anything() as string }),
    );
  });

  test.each([
    ['{{ titel }}', 'titel'],
    ['{{ meta.titel | upper }}', 'meta'],
    ['{{ title | join(1, 2, 3, 4) }} {{ title.a.b.c }}', null],
    ['  ', 'prompt'],
    ["{% for one in choices %}{{ 'AB'[loop.index0] }}. {{ one }}\n{% endfor %}", "'AB'[…]"],
    ['{{ title }}{% for one in choices %}{{ chioce }}{% endfor %}', 'chioce'],
    ['{{ title }}{% for one in pairs %}{{ one.left }}={{ one.right | trim }}{% endfor %}', 'one.right'],
    ['{% if title %}{{ titel }}{% endif %}', 'titel'],
    ['{{ title }}{% for one in none_such %}{{ one }}{% endfor %}', null],
    ['{% macro line(text) %}{{ text }}{% endmacro %}{{ line(titel) }}', 'text'],
    ["{{ chioce if title else 'x' }}", 'chioce'],
    ['{{ title }}{{ hint or chioce }}', 'chioce'],
    ['{{ title }}{{ chioce and title }}', null],
    ['{% set shown %}{{ titel }}{% endset %}{{ title }}{{ shown }}', 'titel'],
  ])('leave a row out that the template %j does not fit', (template, field) => {
    const row = { title: 'T', hint: null, choices: ['x', 'y', 'z'], pairs: [{ left: 1, right: null }] };
    expect(read(row, { template })).toMatchObject({ ok: false, field });
  });

  test('print an absent field where the template says how', () => {
    const template =
      "{{ title }}{{ hint | default('') }}{% if hint %}!{% endif %}{{ '?' if hint }}{{ hint if hint }}{{ hint or '' }}";
    expect(read({ title: 'T', hint: null }, { template })).toMatchObject(prompt(user('T')));
  });
});
