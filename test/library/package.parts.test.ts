// The package as it is published: packed, unpacked into an empty folder, beside its dependencies alone; a program in TypeScript is
// held against its types, and the same program in JavaScript reads a run.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { openFileStore } from '../../records/file-store.ts';
import { someRun } from '../formats/exports/some-run.ts';
import { ROOT } from '../house/tree.ts';
import { RUN } from '../records/play.ts';
import { jsonLines } from '../support/json-lines.ts';
import { scratchFolder } from '../support/scratch-folder.ts';

const PROGRAM = `import { EverturnError, openRun } from 'everturn';

const run = await openRun('${RUN}');
for await (const rollout of run.rollouts({ follow: false })) {
  const [row] = await rollout.rows();
  const { messages } = await rollout.texts();
  console.log(JSON.stringify([rollout.query, rollout.reward, row?.response_ids.length ?? null, messages.length]));
}
const stats = await run.stats({ k: [1] });
console.log(JSON.stringify([stats.ended, stats.passAtK[0]?.value]));
try {
  await run.export('none', 'file');
} catch (error) {
  if (error instanceof EverturnError) console.log(JSON.stringify([error.reason]));
}
`;

const folder = scratchFolder();
const node = (args: readonly string[]) => execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');

beforeAll(async () => {
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder, ROOT];
  const [{ filename }] = JSON.parse(execFileSync('npm', pack, { cwd: folder, encoding: 'utf8' })) as [
    { filename: string },
  ];
  const modules = join(folder, 'node_modules');
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { dependencies: object };
  mkdirSync(join(modules, 'everturn'), { recursive: true });
  execFileSync('tar', ['-xzf', join(folder, filename), '-C', join(modules, 'everturn'), '--strip-components=1']);
  for (const name of [...Object.keys(dependencies), '@types/node']) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
  }
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  await someRun(openFileStore(join(folder, 'runs'), RUN));
});

describe('the packed package', () => {
  test('has types that hold a program, and name what it gets wrong', () => {
    const strict = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node'];
    writeFileSync(join(folder, 'right.ts'), PROGRAM);
    expect(node([tsc, ...strict, 'right.ts'])).toBe('');
    writeFileSync(join(folder, 'wrong.ts'), `${PROGRAM}// @ts-expect-error\nawait run.export(1, 'file');\n`);
    expect(node([tsc, ...strict, 'wrong.ts'])).toBe('');
  });

  test('gives a program in JavaScript the rollouts and the numbers of a run', () => {
    writeFileSync(join(folder, 'program.js'), PROGRAM);
    const lines = jsonLines<readonly unknown[]>(node(['program.js']));
    expect(lines).toHaveLength(13 + 2);
    expect(lines[0]).toEqual(['q1', expect.any(Number), 2 + 1, 4]);
    expect(lines.slice(-2)).toEqual([[13, expect.any(Number)], ['unknown-format']]);
  });
});
