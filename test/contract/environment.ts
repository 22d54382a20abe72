// What every environment keeps, whatever it judges: three outcomes, bounded, a reason on each.

import { afterAll, expect, test } from 'vitest';
import type { Query, Task } from '../../domain/query/query.ts';
import type { Judge } from '../../environments/environment.ts';

export interface EnvironmentCase {
  readonly query: Partial<Query>;
  readonly right: string;
  readonly wrong: string;
}

export function queryOf(task: Task, part: Partial<Query>): Query {
  return { queryId: 'q', prompt: { kind: 'text', text: 'What?' }, task, solutions: [], ...part };
}

export function environmentContract(name: string, task: Task, create: () => Judge, sample: EnvironmentCase): void {
  const environment = create();
  const signal = new AbortController().signal;
  const query = queryOf(task, sample.query);
  afterAll(() => environment.close());

  test(`${name}: says right and wrong, each with a reason`, async () => {
    const right = await environment.judge(query, sample.right, { signal });
    const wrong = await environment.judge(query, sample.wrong, { signal });
    expect(right.verdict).toBe('right');
    expect(wrong.verdict).toBe('wrong');
    for (const { reason } of [right, wrong]) expect(reason).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
  });

  test(`${name}: never throws and never rewards an answer that holds none`, async () => {
    for (const answer of ['', ' ', '\u0000', '\\boxed{', '{'.repeat(5000), '\ud800', '\u202e'.repeat(100)]) {
      const { verdict, reason } = await environment.judge(query, answer, { signal });
      expect(verdict, JSON.stringify(answer.slice(0, 20))).not.toBe('right');
      expect(reason).not.toBe('');
    }
  });

  test(`${name}: shows at most 200 characters of what it extracted`, async () => {
    const { extracted } = await environment.judge(query, `\\boxed{${'7'.repeat(5000)}}`, { signal });
    expect((extracted ?? '').length).toBeLessThanOrEqual(200);
  });

  test(`${name}: gives the same verdict and reason every time`, async () => {
    for (const answer of [sample.right, sample.wrong, 'perhaps']) {
      const first = await environment.judge(query, answer, { signal });
      for (let i = 0; i < 4; i++) expect(await environment.judge(query, answer, { signal })).toEqual(first);
    }
  });
}
