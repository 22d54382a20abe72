// A run that was played, packed into one file of test/fixtures: path → text; an index, which is binary, in base64.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export function unpack(fixture: string, out: string): void {
  const text = readFileSync(new URL(`../fixtures/${fixture}`, import.meta.url), 'utf8');
  for (const [path, content] of Object.entries(JSON.parse(text) as Record<string, string>)) {
    mkdirSync(dirname(join(out, path)), { recursive: true });
    writeFileSync(join(out, path), content, path.endsWith('.index') ? 'base64' : 'utf8');
  }
}
