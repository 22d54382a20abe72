import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DeterminismViolationError } from '@temporalio/workflow';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { beforeAll, describe, expect, inject, test } from 'vitest';

const folder = join(import.meta.dirname, '../histories');
const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
const read = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as { events: object[] };
const replay = (history: object) =>
  Worker.runReplayHistory({ workflowBundle: { codePath: inject('workflowBundle') } }, history);

beforeAll(() => Runtime.install({ logger: new DefaultLogger('ERROR') }));

describe('every recorded history', () => {
  test('is there: at least six of rollouts and two of collections', () => {
    expect(names.filter((n) => n.startsWith('rollout')).length).toBeGreaterThanOrEqual(6);
    expect(names.filter((n) => n.startsWith('collection')).length).toBeGreaterThanOrEqual(2);
  });

  test.each(names)('replays with the code of today: %s', async (name) => {
    await replay(read(name));
  });

  test('is refused when the code would do something else', async () => {
    const history = read('rollout-never-right.json');
    const text = JSON.stringify(history).replaceAll('"generate"', '"degenerate"');
    await expect(replay(JSON.parse(text) as object)).rejects.toThrow(DeterminismViolationError);
  });

  test('holds no word of the transcript', () => {
    const { events } = read('rollout-never-right.json');
    const payloads = [...JSON.stringify(events).matchAll(/"data":"([^"]*)"/g)].map((m) =>
      Buffer.from(m[1]!, 'base64').toString(),
    );
    expect(payloads.length).toBeGreaterThan(20);
    expect(payloads.join('\n')).toContain('never-right');
    expect(payloads.join('\n')).not.toContain('boxed');
  });
});
