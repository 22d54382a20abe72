// What is proved without a sandbox: reports, marks, and what is said where nothing can be started.

import { describe, expect, test } from 'vitest';
import { proveSandbox } from '../canary.ts';
import { readReport } from '../language.ts';
import { DEFAULT_LIMITS } from '../sandbox.ts';
import { createReader, runSandboxed } from '../sandboxed.ts';

describe('the rules of a sandbox', () => {
  test('one line with the nonce is a report, and nothing else is', () => {
    expect(readReport('n value [1]\n', 'n')).toEqual({ kind: 'value', json: '[1]' });
    expect(readReport('n no-function\n', 'n')).toEqual({ kind: 'no-function' });
    for (const text of [
      '',
      'value 1\n',
      'n value 1',
      'n value 1\nn value 2\n',
      'm value 1\n',
      'xn value 1\n',
      'n\n',
      'n yes\n',
    ])
      expect(readReport(text, 'n')).toBeUndefined();
  });

  test('our marks are taken off wherever the chunks are cut, and the rest is counted', () => {
    const text = Buffer.from('ready\ngo\nready\ngo\n');
    for (let cut = 0; cut <= text.length; cut++) {
      const reader = createReader(9, 9);
      expect(reader.print(text.subarray(0, cut)) && reader.print(text.subarray(cut))).toBe(true);
      expect(reader.finish()).toMatchObject({ stage: 'running' });
      expect(reader.finish().output.toString()).toBe('ready\ngo\n');
      expect(reader.print(Buffer.from('x'))).toBe(false);
    }
    expect(createReader(9, 9).print(Buffer.from('bwrap: no'))).toBe(false);
  });

  test('a machine without bubblewrap has no sandbox, and is told what to install', async () => {
    const proof = await proveSandbox({ env: { PATH: '/nowhere' } });
    expect(proof).toMatchObject({
      ok: false,
      why: expect.stringContaining('bwrap'),
      fix: expect.stringContaining('apt'),
    });
  });

  test('a sandbox that cannot start is trouble to try again, never a verdict', async () => {
    const broken = { file: '/usr/bin/false', args: [] };
    const absent = { file: '/nowhere/bwrap', args: [] };
    for (const launch of [broken, absent]) {
      const ran = runSandboxed(launch, Buffer.alloc(0), DEFAULT_LIMITS, new AbortController().signal);
      await expect(ran).rejects.toMatchObject({ name: 'SandboxTrouble' });
    }
  });
});
