// A trainer as docs/feed.md asks for one: rewinds to the checkpoint that it finds, and for each step leases groups,
// acknowledges them with the version that the step makes, saves the checkpoint and publishes the version. A checkpoint
// holds what its weights were trained on; the log, which nothing of Everturn reads, each step as it is taken.

import {
  appendFileSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const { server, folder, groups, stepMs } = JSON.parse(process.argv[2]);
const log = (entry) => appendFileSync(join(folder, 'log.jsonl'), `${JSON.stringify({ pid: process.pid, ...entry })}\n`);

async function call(verb, given) {
  for (;;) {
    try {
      // A server that was killed comes back with another token.
      const { url, token } = JSON.parse(readFileSync(server, 'utf8'));
      const response = await fetch(`${url}/${verb}`, {
        method: given ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${token}` },
        ...(given ? { body: JSON.stringify(given) } : {}),
      });
      const lines = (await response.text())
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line));
      const busy = lines[0]?.reason === 'feed-busy';
      if (busy || response.status === 401 || response.status >= 500) throw new Error(JSON.stringify(lines));
      if (!response.ok) throw Object.assign(new Error(JSON.stringify(lines[0])), { refused: true });
      if (verb === 'lease' && lines[0].lease !== null && lines.length !== lines[0].rows + 1) throw new Error('cut off');
      return lines;
    } catch (error) {
      if (error.refused) throw error;
      await sleep(100);
    }
  }
}

/** Only the last step of a run may be smaller: nothing but this lease is open. */
async function isLast(lease) {
  const [status] = await call('status');
  return (
    status !== null && status.playing + status.ready === 0 && status.leases.every((other) => other.lease === lease)
  );
}

function newest() {
  const versions = readdirSync(folder).flatMap((name) => /^checkpoint-(\d+)\.json$/.exec(name)?.[1] ?? []);
  const version = Math.max(0, ...versions.map(Number));
  return version === 0
    ? { version, trained: [] }
    : JSON.parse(readFileSync(join(folder, `checkpoint-${version}.json`)));
}

function save(checkpoint) {
  const path = join(folder, `checkpoint-${checkpoint.version}.json`);
  const file = openSync(`${path}.part`, 'w');
  writeSync(file, JSON.stringify(checkpoint));
  fsyncSync(file);
  renameSync(`${path}.part`, path);
}

process.on('disconnect', () => process.exit(1));
process.send?.('ready');
let { version, trained } = newest();
log({ event: 'resume', version });
const [{ line }] = await call('rewind', { version, request: `${process.pid}-rewind` });
// A checkpoint may be saved and not yet published.
await call('version', { version, line });
for (let step = 0; !existsSync(join(folder, 'stop')); step++) {
  const wanted = { consumer: `trainer ${process.pid}`, groups, request: `${process.pid}-${step}`, line };
  const [head, ...rows] = await call('lease', { ...wanted, wait: 20, seconds: 30 });
  if (head.lease === null) {
    if (head.why !== 'finished') continue;
    log({ event: 'finished', version });
    while (!existsSync(join(folder, 'stop'))) await sleep(50);
    break;
  }
  if (head.groups.length < groups && !(await isLast(head.lease))) {
    // Sent again, a request has its lease for so long from then on.
    await call('lease', { ...wanted, seconds: 0.1 });
    await sleep(500);
    continue;
  }
  await sleep(Math.random() * stepMs);
  const ids = rows.map(({ id }) => id);
  await call('acknowledge', { lease: head.lease, version: version + 1, line });
  version++;
  trained = [...trained, { version, groups: head.groups, ids }];
  log({ event: 'step', version, groups: head.groups, ids });
  await sleep(Math.random() * stepMs);
  save({ version, trained });
  await call('version', { version, line });
}
