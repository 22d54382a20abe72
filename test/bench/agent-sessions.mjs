// Sessions that are open at once: each asks so many times, with a pause after each reply, so that all of them stay open. Prints the
// worker's memory as the calls go by.
//   npm run build && node test/bench/agent-sessions.mjs [sessions: 1000] [calls of each: 10] [seconds of a pause: 40]

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, fetch } from 'undici';
import { openAgentRig } from './agent-rig.mjs';

const given = process.argv.slice(2).map(Number);
const [sessions = 1000, calls = 10, pauseSeconds = 40] = given;
const rig = await openAgentRig({ delayMs: 100, rollouts: sessions });
const dispatcher = new Agent({ connections: 64, headersTimeout: 0, bodyTimeout: 0 });
const took = [];
let open = 0;
let most = 0;
let lost = 0;

/** A connection that breaks is tried again: a call that is repeated is the same call. */
async function post(url, key, body) {
  for (let tries = 0; ; tries++) {
    try {
      const headers = { authorization: `Bearer ${key}`, 'x-stainless-retry-count': `${tries}` };
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), dispatcher });
      return { status: response.status, said: response.status === 204 ? null : await response.json() };
    } catch (error) {
      if (tries === 5) throw error;
      await sleep(500);
    }
  }
}

async function play({ base_url, url, api_key, row }) {
  most = Math.max(most, ++open);
  const messages = [{ role: 'user', content: row.question }];
  for (let call = 0; call < calls; call++) {
    await sleep(2000 * pauseSeconds * Math.random());
    const began = performance.now();
    const { status, said } = await post(`${base_url}/chat/completions`, api_key, { model: 'any', messages });
    if (status !== 200) return void (lost++, open--);
    took.push(performance.now() - began);
    messages.push(said.choices[0].message, { role: 'user', content: 'Go on.' });
  }
  await post(`${url}/end`, api_key, { reward: 1 });
  open--;
}

async function sessionsOf(ended) {
  let where;
  while (!where) {
    await sleep(500);
    try {
      where = JSON.parse(readFileSync(join(rig.home, 'sessions.json'), 'utf8'));
    } catch {
      // The service is being started.
    }
  }
  const playing = [];
  while (!ended.is) {
    const { status, said } = await post(`${where.url}/sessions`, where.key, { silent_seconds: 600, wait_seconds: 5 });
    if (status === 200) playing.push(play(said));
  }
  await Promise.all(playing);
}

const ended = { is: false };
const said = setInterval(() => {
  if (took.length === 0) return;
  const late = took.slice(-200).toSorted((a, b) => a - b);
  console.log(
    `${took.length} calls, ${open} sessions open, worker ${rig.memory()} MiB, median ${late[late.length >> 1].toFixed(0)} ms`,
  );
}, 15_000);
try {
  const began = performance.now();
  const run = rig.run('sessions', 'session').finally(() => (ended.is = true));
  await Promise.all([run, sessionsOf(ended)]);
  const seconds = (performance.now() - began) / 1000;
  console.log(`${took.length} calls in ${seconds.toFixed(0)} s, at most ${most} sessions open, ${lost} lost`);
} finally {
  clearInterval(said);
  rig.close();
}
