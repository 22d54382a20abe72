// Exports and terminals: binary goes into a file only.

import { describe, expect, test } from 'vitest';
import { main } from '../../cli/main.ts';
import { scriptedIo } from './scripted-io.ts';

describe('export to a terminal', () => {
  test.each(['parquet', 'parquet-turns'])('refuses %s, which is binary, and says where to send it', async (format) => {
    const io = scriptedIo({ tty: true });
    expect(await main(io, ['export', 'any', '--format', format])).toBe(2);
    expect(io.text.err).toMatch(/Parquet is binary[\s\S]*--to/);
    expect(io.text.out).toBe('');
  });

  test('takes Parquet where stdout is a file', async () => {
    const io = scriptedIo({ tty: false });
    await main(io, ['export', 'any', '--format', 'parquet']);
    expect(io.text.err).not.toContain('binary');
  });
});
