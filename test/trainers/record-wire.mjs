// Records what AReaL's own ZMQJsonPusher puts on the wire, for test/cli/areal-wire.test.ts, through a relay to its own
// ZMQJsonPuller, which must return every sample; and proves that our pusher, with `zeromq`, puts the same bytes there. Needs a build, and the three variables of test/trainers/README.md:
//     node test/trainers/record-wire.mjs

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { openPusher } from '../../dist/cli/serve/zeromq.js';
import { PER_MESSAGE, pushToAreal } from '../../dist/cli/serve/areal-push.js';

const {
  EVERTURN_TRAINERS_PYTHON: python,
  EVERTURN_TRAINERS_SOURCES: sources,
  EVERTURN_TRAINERS_NODE: node,
} = process.env;
const here = import.meta.dirname;
const samples = readFileSync(join(here, '../fixtures/formats/areal-turn.jsonl'), 'utf8').trimEnd().split('\n');
const times = Math.ceil((PER_MESSAGE + 1) / samples.length);
const all = Array.from({ length: times }, () => samples).flat();
const children = [];

function areal(...args) {
  const child = spawn(python, [join(here, 'areal_puller.py'), join(sources, 'areal'), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  return child;
}

/** What one pusher sent, once the puller has returned every sample. */
async function recorded(push) {
  const sent = [];
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((done) => probe.once('listening', done));
  const { port } = probe.address();
  await new Promise((done) => probe.close(done));
  const puller = areal('pull', String(port));
  let text = '';
  puller.stdout.setEncoding('utf8').on('data', (more) => (text += more));
  const pulled = () =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const relay = createServer((socket) => {
    const onward = connect(port, '127.0.0.1');
    for (const one of [socket, onward]) one.on('error', () => {});
    onward.once('connect', () => {
      socket.on('data', (bytes) => {
        sent.push(bytes);
        onward.write(bytes);
      });
      onward.on('data', (bytes) => socket.write(bytes));
    });
    onward.once('close', () => socket.destroy());
    socket.once('close', () => onward.destroy());
  }).listen(0, '127.0.0.1');
  await new Promise((done) => relay.once('listening', done));
  // The puller binds; until then connections are refused, and nothing is recorded twice.
  while (
    !(await new Promise((done) =>
      connect(port, '127.0.0.1')
        .once('connect', () => done(true))
        .once('error', () => done(false)),
    ))
  )
    await sleep(50);
  const end = await push(relay.address().port, () => pulled().flat().length);
  while (pulled().flat().length < all.length) await sleep(20);
  await end?.();
  relay.close();
  puller.kill();
  assert.deepEqual(
    pulled().flat(),
    all.map((sample) => JSON.parse(sample)),
  );
  return { bytes: Buffer.concat(sent), messages: pulled().map((list) => list.length) };
}

const load = () => import(pathToFileURL(createRequire(join(node, 'package.json')).resolve('zeromq')).href);
const ours = await recorded(async (port, count) => {
  const pusher = await openPusher(load);
  let version = 0;
  let leased = false;
  await pushToAreal({
    feed: {
      rewind: async () => ({ line: 1, version: 0 }),
      attach: async () => null,
      lease: async () => (leased ? null : ((leased = true), { lease: 'l', samples: all })),
      acknowledge: async () => ((version = 1), true),
      version: async () => {},
      renew: async () => {},
    },
    names: {
      trainingSamples: async () => count(),
      modelVersion: async () => version,
      pullers: async () => [`127.0.0.1:${port}`],
    },
    ...{ role: 'actor', pusher, load: async () => undefined, save: async () => {} },
    ...{ signal: new AbortController().signal, say: () => {}, pollMs: 50 },
  });
  return () => pusher.close();
});
const theirs = await recorded(async (port) => {
  const child = areal('push', String(port));
  for (let at = 0; at < all.length; at += PER_MESSAGE)
    child.stdin.write(`[${all.slice(at, at + PER_MESSAGE).join(',')}]\n`);
  child.stdin.end();
});
for (const child of children) child.kill('SIGKILL');
assert.deepEqual(ours, theirs);
writeFileSync(join(here, '../fixtures/areal-push.zmtp'), theirs.bytes);
console.log({ bytes: theirs.bytes.length, messages: theirs.messages });
