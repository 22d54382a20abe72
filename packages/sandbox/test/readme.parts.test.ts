// The README's example prints what it says.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { compiledRoom } from '../../../test/support/compiled.ts';
import { needsSandbox } from './rig.ts';

describe('the README', () => {
  needsSandbox();

  test('has an example that prints what its last comment says', () => {
    const text = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
    const [, example = ''] = /```js\n([^]*?)```/.exec(text) ?? [];
    const [, says] = /console\.log\(.*\); \/\/ (.*)/.exec(example) ?? [];
    const door = pathToFileURL(join(compiledRoom('packages/sandbox'), 'index.js')).href;
    const code = example.replace("'@everturn/sandbox'", JSON.stringify(door));
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
    expect(printed.trim()).toBe(says);
  });
});
