// Sessions that are open at once: each asks so many times, with a pause after each reply, so that all of them stay open. Prints the
// worker's memory as the calls go by, and at the end what `check` says and the bytes of the run. Sessions end at different lengths:
// their logarithms are even between a hundredth of the given number of tokens and it.
//   npm run build && node test/bench/agent-sessions.mjs [sessions: 1000] [calls of each: 30] [seconds of a pause: 5]
//     [tokens of the longest: 50000] [kills of the worker, one a minute: 20]

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, fetch } from 'undici';
import { openAgentRig } from './agent-rig.mjs';

const given = process.argv.slice(2).map(Number);
const [sessions = 1000, calls = 30, pauseSeconds = 5, tokens = 50_000, kills = 20] = given;
const rig = await openAgentRig({ delayMs: 100, rollouts: sessions });
const dispatcher = new Agent({ connections: 96, headersTimeout: 0, bodyTimeout: 0 });
const took = [];
let open = 0;
let most = 0;
let again = 0;
let killed = 0;
/** The model takes 100 ms: what is faster was answered by a record. */
const REPLAYED_MS = 100;
/** At once. */
const CLAIMS = 8;

/** A connection that breaks is tried again, and a worker that is away for a moment: a call that is repeated is the same call. */
async function post(url, key, body) {
  for (let tries = 0; ; tries++) {
    try {
      const headers = { authorization: `Bearer ${key}`, 'x-stainless-retry-count': `${tries}` };
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body), dispatcher });
      const said = response.status === 204 ? null : await response.json();
      if (response.status < 500 || tries === 120) return { status: response.status, said };
    } catch (error) {
      if (tries === 120) throw error;
    }
    await sleep(1000);
  }
}

/** Of a row, between 0 and 1: a session that is played again sends the same. */
const shareOf = ({ question }) => (Number(/\d+ times (\d+)/.exec(question)[1]) * 0.618034) % 1;

/** A session whose worker is killed ends, and is given out again: its recorded calls answer at once. */
async function play({ base_url, url, api_key, row }) {
  most = Math.max(most, ++open);
  const messages = [{ role: 'user', content: row.question }];
  const more = ' 1'.repeat(Math.max(0, (tokens * 100 ** -shareOf(row)) / calls - 40));
  for (let call = 0; call < calls; call++) {
    const began = performance.now();
    const { status, said } = await post(`${base_url}/chat/completions`, api_key, { model: 'any', messages });
    if (status !== 200) {
      if (said.error?.code !== 'no-session') console.log(`${status} ${JSON.stringify(said).slice(0, 300)}`);
      return void (again++, open--);
    }
    took.push(performance.now() - began);
    if (took.at(-1) > REPLAYED_MS) await sleep(2000 * pauseSeconds * Math.random());
    messages.push(said.choices[0].message, { role: 'user', content: `Go on.${more}` });
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
  const claim = async () => {
    while (!ended.is) {
      const { status, said } = await post(`${where.url}/sessions`, where.key, { silent_seconds: 600, wait_seconds: 5 });
      if (status === 200) playing.push(play(said));
    }
  };
  await Promise.all(Array.from({ length: CLAIMS }, claim));
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
const killing = setInterval(() => {
  if (open > 0 && killed < kills && rig.killWorker()) killed++;
}, 60_000);
try {
  const began = performance.now();
  const run = rig.run('sessions', 'session').finally(() => (ended.is = true));
  await Promise.all([run, sessionsOf(ended)]);
  const seconds = (performance.now() - began) / 1000;
  console.log(
    `${took.length} calls in ${seconds.toFixed(0)} s, at most ${most} sessions open, ${again} sessions given out again, ${killed} kills`,
  );
  console.log(rig.seen('sessions'));
} finally {
  clearInterval(said);
  clearInterval(killing);
  rig.close();
}
