// Everturn's own version, from its package.json: beside this file in a checkout, one folder up from dist/.

import { existsSync, readFileSync } from 'node:fs';

export function everturnVersion(): string {
  const url = ['./package.json', '../package.json'].map((p) => new URL(p, import.meta.url)).find((u) => existsSync(u));
  return url ? (JSON.parse(readFileSync(url, 'utf8')) as { version: string }).version : 'unknown';
}
