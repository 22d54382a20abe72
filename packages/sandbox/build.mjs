// Compiles the package by itself, before it is packed. Everturn compiles it into its own dist/, and needs none of this.

import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const here = import.meta.dirname;
const typescript = createRequire(import.meta.url).resolve('typescript/package.json');
rmSync(join(here, 'dist'), { recursive: true, force: true });
execFileSync(process.execPath, [join(typescript, '../bin/tsc'), '-p', join(here, 'tsconfig.build.json')], {
  stdio: 'inherit',
});
