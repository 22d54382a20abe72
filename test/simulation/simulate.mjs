// npm run simulate: compiles the simulator and the domain, as Node 20 runs no TypeScript, and starts it.

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '../..');
const out = join(root, 'node_modules/.cache/everturn-simulation');
mkdirSync(out, { recursive: true });
const config = {
  extends: join(root, 'tsconfig.json'),
  compilerOptions: { noCheck: true, outDir: out, rootDir: root, typeRoots: [join(root, 'node_modules/@types')] },
  include: [join(root, 'test/simulation')],
};
writeFileSync(join(out, 'tsconfig.json'), JSON.stringify(config));
writeFileSync(join(out, 'package.json'), '{"type":"module"}');
const tsc = createRequire(import.meta.url)
  .resolve('typescript/package.json')
  .replace(/package\.json$/, 'bin/tsc');
execFileSync(process.execPath, [tsc, '-p', join(out, 'tsconfig.json')], { stdio: 'inherit' });
const { main } = await import(pathToFileURL(join(out, 'test/simulation/main.js')).href);
process.exitCode = await main(root, process.argv.slice(2));
