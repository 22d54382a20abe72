// The whole product against a real server: a run by the command line, other weights by `update-weights` while it is
// played, and each token of its records against the embedded model with the weights that its version names. At the
// end, a folder that cannot be loaded.

import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFailed, test } from 'vitest';
import type { WeightUpdate } from '../../../library/update-weights.ts';
import { openFileStore } from '../../../records/file-store.ts';
import { readTrajectories } from '../../../records/reading/trajectories.ts';
import { type Everturn, openEverturn } from '../../support/everturn.ts';
import { until } from '../../support/until.ts';
import { TINY_FOLDER } from '../../support/tiny.ts';
import { openScorer, otherWeights } from './other-weights.ts';
import type { Place } from './place.ts';
import { errorBySpans } from './weight-tests.ts';

const DATA = join(import.meta.dirname, '../../../examples/arithmetic.jsonl');

export function runTests({ traits, first, second, say }: Place): void {
  let everturn: Everturn;
  beforeAll(() => {
    everturn = openEverturn();
  });
  // A hook that throws keeps the others from ending the servers.
  afterAll(() => everturn?.close().catch((error: unknown) => say(String(error))));

  test('a run whose weights are changed by the command line says for every token which made it', async () => {
    const folder = join(everturn.folder, 'step-29');
    cpSync(otherWeights(), folder, { recursive: true });
    const model = ['--model', `${traits.kind}:${first().url}`, '--new-tokens-per-chunk', '16'];
    const size = ['--num-turns', '4', '--max-new-tokens', '64', '--limit', '30', '--max-concurrent', '30'];
    const running = everturn.start('run', DATA, '--name', 'real', ...model, ...size);
    onTestFailed(() => void running.child.kill());
    const store = openFileStore(join(everturn.folder, 'runs'), 'real');
    await until('some turns were played', async () => (await turnsOf(store)) >= 20, 240_000);
    const words = ['update-weights', 'real', '--from', folder, '--weight-version', 'step-29', '--json'];
    const updated = await everturn.run(...words);
    expect(updated.code, updated.stderr).toBe(0);
    say(`update-weights: ${updated.stdout.trim()}`);
    expect(JSON.parse(updated.stdout) as WeightUpdate).toMatchObject({ whole: true, version: 29 });
    const ended = await running.ended;
    expect(ended.code, ended.stderr).toBe(0);
    const checked = await everturn.run('check', 'real', '--json');
    expect(checked.code, checked.stdout + checked.stderr).toBe(0);

    const [old, other] = [await openScorer(TINY_FOLDER), await openScorer(folder)];
    const found = { turns: 0, tokens: 0, moved: 0, worst: 0, labels: new Set<string>() };
    for await (const { turns } of readTrajectories(store)) {
      const ids: number[] = [];
      for (const { record } of turns) {
        ids.push(...record.contextIds);
        const error = await errorBySpans(ids, record, (label) => (label === 'step-29' ? other : old));
        ids.push(...record.outputIds);
        found.turns++;
        found.tokens += record.outputIds.length;
        found.worst = Math.max(found.worst, error);
        if (record.versions.length > 1) found.moved++;
        for (const { versionLabel } of record.versions) found.labels.add(versionLabel!);
        expect(record.logprobsFound).toBe(traits.first.meaning);
      }
    }
    say(
      `run: ${found.turns} turns, ${found.tokens} tokens of ${[...found.labels].join(' and ')}, ${found.moved} turns of both; ` +
        `max abs error ${found.worst.toExponential(2)}`,
    );
    expect(found.labels.size).toBe(2);
    expect(found.worst).toBeLessThan(1e-3);
  });

  test('a version that goes back is refused by name, and taken where it is declared', async () => {
    const words = ['update-weights', 'real', '--weight-version', 'step-5', '--from', TINY_FOLDER, '--json'];
    const refused = await everturn.run(...words);
    expect(refused.code, refused.stderr).toBe(2);
    expect(refused.stderr).toContain('goes back');
    const rewound = await everturn.run(...words, '--rewind');
    expect(rewound.code, rewound.stderr).toBe(0);
    say(`rewound: ${rewound.stdout.trim()}`);
    expect(JSON.parse(rewound.stdout) as WeightUpdate).toMatchObject({ whole: true, version: 5 });
  });

  test('a folder that cannot be loaded is stopped at the first server, and said', async () => {
    const model = `${traits.kind}:${second().url},${first().url}`;
    const shape = ['--limit', '1', '--num-turns', '1', '--max-new-tokens', '8', '--temperature', '1'];
    const played = await everturn.run('run', DATA, '--name', 'both', '--model', model, ...shape);
    expect(played.code, played.stderr).toBe(0);
    const words = ['update-weights', 'both', '--from', '/nonexistent', '--weight-version', 'step-30', '--json'];
    const failed = await everturn.run(...words);
    expect(failed.code, failed.stderr).toBe(5);
    const { servers } = JSON.parse(failed.stdout) as WeightUpdate;
    say(`bad folder: ${JSON.stringify(servers[0])}`);
    expect(traits.afterBadFolder).toContain(servers[0]!.state);
    expect(servers[1]!.state).toBe('not-asked');
    expect(servers[0]!.error).toContain('nonexistent');
  });
}

async function turnsOf(store: ReturnType<typeof openFileStore>): Promise<number> {
  let turns = 0;
  for await (const trajectory of readTrajectories(store)) turns += trajectory.turns.length;
  return turns;
}
