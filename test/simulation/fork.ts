// One process of a simulation: plays its share of the seeds with a bundle from a file, and sends what came of it.

import { readFileSync } from 'node:fs';
import { openSandbox } from './sandbox.ts';
import { playShare, type Seeds } from './share.ts';

const [bundlePath, seeds] = process.argv.slice(2) as [string, string];
const sandbox = openSandbox(readFileSync(bundlePath, 'utf8'), bundlePath);
process.send!(await playShare(sandbox, JSON.parse(seeds) as Seeds));
process.disconnect();
