// Loaded into a packer before its own code (`node --import`): sorts its file-system calls into the six steps of a pack, and
// kills the process, by SIGKILL, before or after the call that KILL names (`<step> <n> before|after`). Without KILL it
// writes how many calls each step had. It patches Node, so the product has no test code.

import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const [step, place, side] = (process.env.KILL ?? '').split(' ');
const counts = { choosing: 0, writing: 0, naming: 0, readingBack: 0, publishing: 0, removing: 0 };
/** The step after the last change of the disk. */
let now = 'choosing';

function stepOf(name, path, changes) {
  const zip = /packs\/\.?\d{6}-[0-9a-f]{12}\.zip/.test(path);
  const manifest = /packs\/\.?\d{6}\.json/.test(path);
  if (changes && zip) now = name === 'link' ? 'naming' : now === 'naming' ? 'readingBack' : 'writing';
  else if (changes && manifest) now = 'publishing';
  else if (changes && /\/(rollouts|answers)\//.test(path)) now = 'removing';
  else if (now === 'naming' && /^(open|read|stat)/.test(name)) now = 'readingBack';
  else if (now === 'removing' && zip) return now;
  return now;
}

const die = () => {
  process.kill(process.pid, 'SIGKILL');
  // Nothing that follows may reach the disk.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
};

function around(name, path, changes, call) {
  const here = stepOf(name, String(path), changes);
  const hit = here === step && counts[here]++ === Number(place);
  if (!step) counts[here]++;
  if (hit && side === 'before') die();
  const done = call();
  if (!hit) return done;
  return typeof done?.then === 'function' ? done.then(die, die) : done;
}

const { open } = fs.promises;
fs.promises.open = (path, flags, ...rest) =>
  around('open', path, flags === 'wx', async () => {
    const handle = await open(path, flags, ...rest);
    for (const name of ['writeFile', 'sync']) {
      const own = handle[name].bind(handle);
      handle[name] = (...args) => around(name, path, flags === 'wx', () => own(...args));
    }
    return handle;
  });
for (const name of ['link', 'unlink', 'rmdir', 'mkdir', 'rename', 'readFile', 'stat', 'readdir']) {
  const own = fs.promises[name];
  const changes = !/^read|stat/.test(name);
  fs.promises[name] = (...args) => around(name, args[name === 'link' ? 1 : 0], changes, () => own(...args));
}
syncBuiltinESMExports();
process.on('exit', () => {
  if (!step) fs.writeSync(1, JSON.stringify(counts));
});
