// Child processes need JavaScript: compiles these rooms from source, and the hostile
// model server, once per state of the sources.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const ROOMS = ['client', 'domain', 'environments', 'local', 'packages/judge', 'packages/sandbox', 'records'];
const SUPPORT = 'test/support';
/** What a package has beside its sources: a test packs one meanwhile. */
const BESIDE = /^(?:dist|test)\//;
const isOfModelServer = (name: string) => /^(?:hostile|toy)-.*\.ts$/.test(name);

/** The entry of the hostile model server. */
export const compiledModelServer = (): string => join(compiledSources(), SUPPORT, 'hostile-server.js');

/** The folder that holds a room's compiled files. */
export const compiledRoom = (room: string): string => join(compiledSources(), room);

function compiledSources(): string {
  const cache = join(ROOT, 'node_modules', '.cache', 'everturn-test');
  const folder = join(cache, digestOfSources());
  if (existsSync(folder)) return folder;
  mkdirSync(cache, { recursive: true });
  for (const old of readdirSync(cache))
    if (!old.startsWith('new-')) rmSync(join(cache, old), { recursive: true, force: true });
  const fresh = mkdtempSync(join(cache, 'new-'));
  const config = join(fresh, 'tsconfig.json');
  writeFileSync(
    config,
    JSON.stringify({
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: { noCheck: true, outDir: fresh, rootDir: ROOT, typeRoots: [join(ROOT, 'node_modules/@types')] },
      include: [...ROOMS.map((room) => join(ROOT, room)), join(ROOT, SUPPORT, 'hostile-server.ts')],
    }),
  );
  writeFileSync(join(fresh, 'package.json'), '{"name":"everturn","version":"0.0.0-test","type":"module"}');
  const tsc = createRequire(import.meta.url)
    .resolve('typescript/package.json')
    .replace(/package\.json$/, 'bin/tsc');
  execFileSync(process.execPath, [tsc, '-p', config], { stdio: 'inherit' });
  try {
    renameSync(fresh, folder);
  } catch {
    // Another test process was first.
    rmSync(fresh, { recursive: true, force: true });
  }
  return folder;
}

function digestOfSources(): string {
  const hash = createHash('sha256');
  for (const room of [...ROOMS, SUPPORT])
    for (const name of readdirSync(join(ROOT, room), { encoding: 'utf8', recursive: true })
      .filter((n) => (room === SUPPORT ? isOfModelServer(n) : n.endsWith('.ts') && !BESIDE.test(n)))
      .sort())
      hash.update(name).update(readFileSync(join(ROOT, room, name)));
  return hash.digest('hex').slice(0, 16);
}
