// Loaded into a worker before its own code (`node --import`): sorts the file-system calls of a rollout's last step into five
// steps, and kills the process, by SIGKILL, before, within or after the call that KILL names (`<step> <n> <side>`). Without
// KILL it writes how many calls each step had. It patches Node, so the product has no test code.

import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const [step, place, side] = (process.env.KILL ?? '').split(' ');
const counts = { reading: 0, appending: 0, syncing: 0, indexing: 0, removing: 0 };

function stepOf(name, path) {
  if (path.endsWith('.jsonl') && name === 'writeFile') return 'appending';
  if (path.endsWith('.jsonl') && name === 'sync') return 'syncing';
  if (path.endsWith('.index') && name === 'writeFile') return 'indexing';
  if (name === 'unlink' || name === 'rmdir') return 'removing';
  return name === 'read' && path.includes('/rollouts/') ? 'reading' : undefined;
}

const die = () => {
  process.kill(process.pid, 'SIGKILL');
  // Nothing that follows may reach the disk.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
};

function around(name, path, call, part) {
  const here = stepOf(name, String(path));
  if (here === undefined) return call();
  const hit = here === step && counts[here]++ === Number(place);
  if (!step) counts[here]++;
  if (!hit) return call();
  if (side === 'before') die();
  return (side === 'within' && part ? part() : call()).then(die, die);
}

const { open } = fs.promises;
fs.promises.open = async (path, flags, ...rest) => {
  const handle = await open(path, flags, ...rest);
  const [read, write, sync] = [handle.read, handle.writeFile, handle.sync].map((own) => own.bind(handle));
  handle.read = (...args) => around('read', path, () => read(...args));
  handle.writeFile = (content) =>
    around(
      'writeFile',
      path,
      () => write(content),
      () => write(content.slice(0, Math.floor(content.length / 2))),
    );
  handle.sync = () => around('sync', path, sync);
  return handle;
};
for (const name of ['unlink', 'rmdir']) {
  const own = fs.promises[name];
  fs.promises[name] = (...args) => around(name, args[0], () => own(...args));
}
syncBuiltinESMExports();
process.on('exit', () => {
  if (!step) fs.writeSync(1, JSON.stringify(counts));
});
