// Records what AReaL's own ZMQJsonPusher puts on the wire, for test/python/areal_push_test.py, through a relay to its own
// ZMQJsonPuller, which must return every sample. Needs the variables of test/real/trainers/README.md:
//     node test/real/trainers/record-wire.mjs

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const { EVERTURN_TRAINERS_PYTHON: python, EVERTURN_TRAINERS_SOURCES: sources } = process.env;
/** Samples of one message, as areal_push.py has them. */
const PER_MESSAGE = 16;
const here = import.meta.dirname;
const samples = readFileSync(join(here, '../../fixtures/formats/areal-turn.jsonl'), 'utf8').trimEnd().split('\n');
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

const theirs = await recorded(async (port) => {
  const child = areal('push', String(port));
  for (let at = 0; at < all.length; at += PER_MESSAGE)
    child.stdin.write(`[${all.slice(at, at + PER_MESSAGE).join(',')}]\n`);
  child.stdin.end();
});
for (const child of children) child.kill('SIGKILL');
writeFileSync(join(here, '../../fixtures/areal-push.zmtp'), theirs.bytes);
console.log({ bytes: theirs.bytes.length, messages: theirs.messages });
