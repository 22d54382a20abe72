import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openZip, packed } from '../../../formats/exports/zip.ts';

const folder = mkdtempSync(join(tmpdir(), 'everturn-zip-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('a zip', () => {
  test('is whole to Python, also with more entries than its older form counts', () => {
    const zip = openZip();
    const [one, other] = [packed('one'), packed('é\n')];
    const chunks = Array.from({ length: 70_000 }, (_, i) => zip.add(`samples/é ${i}`, i % 2 === 0 ? one : other));
    const file = join(folder, 'many.zip');
    writeFileSync(file, Buffer.concat([...chunks, ...zip.end()]));
    const script =
      'import zipfile, sys; z = zipfile.ZipFile(sys.argv[1]); print(z.testzip(), len(z.namelist()), z.read("samples/é 69999"))';
    const { stdout, stderr } = spawnSync('python3', ['-X', 'utf8', '-c', script, file], { encoding: 'utf8' });
    expect(stdout, stderr).toBe(`None 70000 b'\\xc3\\xa9\\n'\n`);
  });
});
