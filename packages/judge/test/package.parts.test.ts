// The package as npm has it: packed, installed into an empty folder without a registry, and used as its README shows.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { scratchFolder } from '../../../test/support/scratch-folder.ts';

const PACKAGE = join(import.meta.dirname, '..');
const EXAMPLES = [
  ...readFileSync(join(PACKAGE, 'README.md'), 'utf8').matchAll(/^```js\n([\s\S]*?)^```\n\n```\n([\s\S]*?)^```$/gm),
].map(([, code, output], i) => ({ n: i + 1, code: code!, output: output! }));

const folder = scratchFolder();
const run = (program: string, ...args: string[]) => execFileSync(program, args, { cwd: folder, encoding: 'utf8' });
const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
const types = (name: string, program: string) => {
  writeFileSync(join(folder, name), program);
  return run(process.execPath, tsc, '--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', name);
};

beforeAll(() => {
  const packed = run('npm', 'pack', '--json', '--pack-destination', folder, PACKAGE);
  const [{ filename }] = JSON.parse(packed.slice(packed.indexOf('['))) as [{ filename: string }];
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  run('npm', 'install', '--offline', '--no-audit', '--no-fund', `./${filename}`);
});

describe('the packed judge', () => {
  test.each(EXAMPLES)('prints what its README says: example $n', ({ n, code, output }) => {
    writeFileSync(join(folder, `example-${n}.js`), code);
    expect(run(process.execPath, `example-${n}.js`)).toBe(output);
  });

  test('has its three examples in its README', () => {
    expect(EXAMPLES).toHaveLength(3);
  });

  test('holds a program in TypeScript to its types, and needs no others', () => {
    const program = `import { judge, type Judged } from '@everturn/judge';
export const judged: Judged = judge('5', ['5'], { question: 'How many?' });
export const word: 'right' | 'wrong' | 'undecided' = judged.verdict;
`;
    expect(types('right.ts', program)).toBe('');
    expect(types('wrong.ts', `${program}// @ts-expect-error\njudge(5, '5');\n`)).toBe('');
  });

  test('shows nothing but its door', () => {
    writeFileSync(
      join(folder, 'inside.js'),
      "import('@everturn/judge/dist/judge.js').catch((e) => console.log(e.code));",
    );
    expect(run(process.execPath, 'inside.js')).toBe('ERR_PACKAGE_PATH_NOT_EXPORTED\n');
  });
});
