// Reads the CPU profiles of a folder (`node --cpu-prof`: one a thread) and prints, for each thread, the milliseconds by
// the package or folder whose code ran and by function. Arguments: folder, and a number of turns to divide by.
//   node test/bench/profile.mjs /tmp/profiles 300

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [folder, turns = '1'] = process.argv.slice(2);
const IDLE = new Set(['(idle)', '(program)', '(root)']);

/** Ours by folder, others by package. */
function place({ functionName, url }) {
  if (functionName === '(garbage collector)' || functionName === '(program)') return functionName;
  const vendor = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  if (vendor) return vendor;
  if (url.includes('workflow-bundle')) return 'workflow bundle';
  if (url === '' || url.startsWith('node:'))
    return url === '' ? 'V8 and native calls' : `node:${url.split('/')[1] ?? url}`;
  return `everturn ${/\/dist\/(?:chunks\/)?([^:]+)/.exec(url)?.[1] ?? url}`;
}

for (const name of readdirSync(folder).filter((one) => one.endsWith('.cpuprofile'))) {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(join(folder, name), 'utf8'));
  const self = new Map();
  for (const [i, id] of samples.entries()) self.set(id, (self.get(id) ?? 0) + timeDeltas[i] / 1000);
  const byPlace = new Map();
  const byFunction = new Map();
  const parents = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node])));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  let busy = 0;
  for (const [id, ms] of self) {
    const { callFrame } = byId.get(id);
    if (callFrame.functionName === '(idle)') continue;
    if (!IDLE.has(callFrame.functionName)) busy += ms;
    // Native calls count for the code that made them.
    let node = byId.get(id);
    while (node.callFrame.url === '' && !node.callFrame.functionName.startsWith('(') && parents.has(node.id))
      node = parents.get(node.id);
    const where = place(node.callFrame);
    byPlace.set(where, (byPlace.get(where) ?? 0) + ms);
    const { functionName, url, lineNumber } = callFrame;
    const what = `${functionName || '(anonymous)'} ${url.split('/').slice(-2).join('/')}:${lineNumber + 1}`;
    byFunction.set(what, (byFunction.get(what) ?? 0) + ms);
  }
  const top = (map, count) =>
    [...map]
      .sort(([, a], [, b]) => b - a)
      .slice(0, count)
      .map(([what, ms]) => `  ${(ms / Number(turns)).toFixed(3).padStart(9)}  ${what}`)
      .join('\n');
  console.log(`${name}: ${(busy / Number(turns)).toFixed(2)} ms busy\n${top(byPlace, 18)}\n\n${top(byFunction, 25)}\n`);
}
