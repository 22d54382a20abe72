// Child processes need JavaScript: compiles server/, storage/, environments/ and domain/ from source, and the hostile
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
const ROOMS = ['server', 'storage', 'environments', 'domain'];
const SUPPORT = 'test/support';
const isOfModelServer = (name: string) => /^(?:hostile|toy)-.*\.ts$/.test(name);

/** The entry of the hostile model server. */
export function compiledModelServer(): string {
  return join(compiledServer(), '..', SUPPORT, 'hostile-server.js');
}

/** The folder that holds `storage/*.js`. */
export function compiledStorage(): string {
  return join(compiledServer(), '../storage');
}

/** The folder that holds `environments/*.js`. */
export function compiledEnvironments(): string {
  return join(compiledServer(), '../environments');
}

/** The folder that holds `server/*.js`. */
export function compiledServer(): string {
  const cache = join(ROOT, 'node_modules', '.cache', 'everturn-test');
  const folder = join(cache, digestOfSources());
  if (existsSync(folder)) return join(folder, 'server');
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
  return join(folder, 'server');
}

function digestOfSources(): string {
  const hash = createHash('sha256');
  for (const room of [...ROOMS, SUPPORT])
    for (const name of readdirSync(join(ROOT, room), { encoding: 'utf8', recursive: true })
      .filter((n) => (room === SUPPORT ? isOfModelServer(n) : n.endsWith('.ts')))
      .sort())
      hash.update(name).update(readFileSync(join(ROOT, room, name)));
  return hash.digest('hex').slice(0, 16);
}
