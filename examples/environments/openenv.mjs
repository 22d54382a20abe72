// A server of OpenEnv as an environment: a rollout is a session over one WebSocket at `<address>/ws`, which `reset` begins, and
// each answer of the model is a `step`.
//
//     everturn run rows.jsonl --environment "node examples/environments/openenv.mjs http://127.0.0.1:8000"
//
// Behind the address: --action FIELD takes the answer (default: as the action's schema says); --show FIELD,FIELD of the
// observation is what the model sees (default: what is not empty); --idle-seconds 600 ends a session without a call;
// --timeout-seconds 60 is the limit of a step; --processes 32 is how many steps one worker may ask for at once.
// A row may hold `reset`, its arguments. Tried with openenv 0.10.0; Node 20 needs the package `undici` beside it.

import { createHash } from 'node:crypto';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

const WebSocket = globalThis.WebSocket ?? (await import('undici')).WebSocket;

const options = {
  'action': { type: 'string' },
  'show': { type: 'string' },
  'idle-seconds': { type: 'string', default: '600' },
  'timeout-seconds': { type: 'string', default: '60' },
  'processes': { type: 'string', default: '32' },
};
const { values: given, positionals } = parseArgs({ options, allowPositionals: true });
const base = (positionals[0] ?? '').replace(/\/$/, '');
if (positionals.length !== 1 || !/^https?:\/\/./.test(base)) {
  console.error(`openenv.mjs takes the address of a server, such as http://127.0.0.1:8000; it got ${JSON.stringify(positionals)}.`);
  process.exit(2);
}
const shownFields = given.show?.split(',');
const limitMs = Number(given['timeout-seconds']) * 1000;
const MAX_CHARS = 1_000_000;

const say = (line) => void process.stdout.write(`${JSON.stringify(line)}\n`);
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

// --- the server's description -------------------------------------------------------------------

class Unfit extends Error {}

async function get(path) {
  const response = await fetch(`${base}/${path}`, { signal: AbortSignal.timeout(limitMs), redirect: 'error' });
  if (response.ok) return response.json();
  if (path === 'metadata') return {}; // An older server does not say who it is.
  throw new Unfit(`${base}/${path} answered with status ${response.status}. Is it a server of OpenEnv?`);
}

/** Its name, version and action. The hash of them is the environment's fingerprint. */
async function readServer() {
  const { action } = await get('schema');
  if (!isObject(action)) throw new Unfit(`${base}/schema has no schema of an action. Is it a server of OpenEnv?`);
  const { name: title = 'openenv', version = 'claimed' } = await get('metadata');
  const slug = String(title).replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase().replace(/[^a-z0-9]+/g, '-');
  const name = slug.replace(/^-+/, '').slice(0, 64).replace(/-+$/, '') || 'openenv';
  const fingerprint = createHash('sha256').update(JSON.stringify([base, title, version, action])).digest('hex');
  return { name, version: String(version).slice(0, 100), action, fingerprint };
}

// --- an answer becomes an action ----------------------------------------------------------------

/** `field`: the one that takes an answer; undefined where an action is a JSON object of several. */
function formOf(schema) {
  const { metadata: _, ...properties } = schema.properties ?? {};
  const names = Object.keys(properties);
  const [only, ...more] = schema.required?.length > 0 ? schema.required : names;
  const name = given.action ?? (more.length === 0 ? only : undefined);
  if (given.action !== undefined && !names.includes(name)) throw new Unfit(`its action has no field "${name}"`);
  if (!names.includes(name)) return { names, says: `Reply with one JSON object: ${JSON.stringify(properties)}` };
  const reference = properties[name].$ref ?? properties[name].allOf?.[0]?.$ref;
  const { type, enum: members, const: single } = reference
    ? (schema.$defs?.[reference.replace('#/$defs/', '')] ?? {})
    : properties[name];
  const texts = (members ?? [single]).filter((one) => typeof one === 'string');
  const wants = {
    ...{ integer: 'Reply with an integer.', number: 'Reply with a number.', boolean: 'Reply with true or false.' },
    ...{ array: 'Reply with JSON: a list.', object: 'Reply with JSON: an object.' },
  };
  const says = texts.length > 0 ? `Reply with one of: ${texts.join(', ')}.` : (wants[type] ?? '');
  return { names: [...names, 'metadata'], field: { name, type, texts }, says };
}

/** The action of an answer, without the thinking before it; undefined if it is none. */
function actionOf(answer, { field, names }) {
  const said = answer.split('</think>').at(-1).trim();
  const whole = jsonIn(said, field === undefined).find(isObject);
  if (whole && (!field || Object.keys(whole).every((name) => names.includes(name)))) return whole;
  const value = field && valueOf(said, field);
  return value === undefined ? undefined : { [field.name]: value };
}

function valueOf(said, { type, texts }) {
  if (texts.length > 0) return lastOf(said.toLowerCase(), texts);
  if (type === 'boolean') return { true: true, false: false }[said.toLowerCase().match(/\b(?:true|false)\b/g)?.at(-1)];
  if (type === 'integer' || type === 'number') {
    const numbers = (said.match(/-?\d+(?:\.\d+)?(?:e[+-]?\d{1,3})?/gi) ?? []).map(Number);
    return numbers.filter((one) => (type === 'integer' ? Number.isSafeInteger(one) : Number.isFinite(one))).at(-1);
  }
  if (type === 'array') return jsonIn(said, true).find(Array.isArray);
  return type === 'object' ? jsonIn(said, true).find(isObject) : said;
}

/** The text that is said last as whole words; of two that begin at the same place the longer one. */
function lastOf(said, texts) {
  const isInWord = (char) => char !== undefined && /[\p{L}\p{N}_]/u.test(char);
  const lastAt = (word) => {
    for (let at = said.lastIndexOf(word); at >= 0; at = at === 0 ? -1 : said.lastIndexOf(word, at - 1))
      if (!isInWord(said[at - 1]) && !isInWord(said[at + word.length])) return at;
    return -1;
  };
  const found = texts.map((text) => ({ text, at: lastAt(text.toLowerCase()) })).filter(({ at }) => at >= 0);
  return found.sort((a, b) => a.at - b.at || a.text.length - b.text.length).at(-1)?.text;
}

/** The JSON that is the whole text; `anywhere`: or that of its last fence, or from its first bracket to its last. */
function jsonIn(said, anywhere) {
  const fence = said.split('```').at(-2)?.replace(/^\w*\n/, '');
  const isFenced = said.startsWith('```') && said.endsWith('```');
  const inside = said.slice(Math.max(0, said.search(/[[{]/)), Math.max(said.lastIndexOf('}'), said.lastIndexOf(']')) + 1);
  const tried = [said, ...(anywhere || isFenced ? [fence] : []), ...(anywhere ? [inside] : [])];
  return tried.flatMap((text) => {
    try {
      const value = JSON.parse(text);
      return depth(value) > 64 ? [] : [value];
    } catch {
      return [];
    }
  });
}

/** Of nested lists and objects, counted up to 65. */
function depth(value, at = 0) {
  if (typeof value !== 'object' || value === null || at > 64) return at;
  return Math.max(at + 1, ...Object.values(value).map((one) => depth(one, at + 1)));
}

// --- an observation becomes text ----------------------------------------------------------------

const isEmpty = (value) => value == null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);

function textOf(value) {
  if (typeof value === 'string') return value;
  const isMessages = Array.isArray(value) && value.length > 0 && value.every((one) => typeof one?.content === 'string');
  return isMessages ? value.map(({ content }) => content).join('\n') : JSON.stringify(value);
}

function shown(observation) {
  if (shownFields) {
    const values = shownFields.map((name) => observation[name]);
    return values.filter((value) => !isEmpty(value)).map(textOf).join('\n\n');
  }
  const fields = Object.entries(observation).filter(([name, value]) => name !== 'metadata' && !isEmpty(value));
  if (fields.length === 1) return textOf(fields[0][1]);
  return fields.length === 0 ? '' : JSON.stringify(Object.fromEntries(fields));
}

/** Without what no record can hold. */
const user = (text) => ({ role: 'user', content: text.toWellFormed().replaceAll('\u0000', '\ufffd') });

// --- sessions -----------------------------------------------------------------------------------

/** `more`: what the error says beside its message; `lost` where nobody knows whether the step was made. */
class Failure extends Error {
  constructor(message, more = {}) {
    super(message);
    this.more = more;
  }
}

class Session {
  #socket = new WebSocket(`${base.replace(/^http/, 'ws')}/ws`);
  #unread = [];
  #waiting;
  #ended;

  constructor() {
    this.opened = new Promise((resolve) => this.#socket.addEventListener('open', resolve));
    this.#socket.addEventListener('message', ({ data }) => {
      if (this.#waiting) this.#waiting.resolve(data);
      else if (this.#unread.length < 8) this.#unread.push(data);
    });
    this.#socket.addEventListener('error', ({ message }) => this.#end(`the connection failed: ${message}`));
    this.#socket.addEventListener('close', ({ code }) => this.#end(`the server closed the connection (${code})`));
  }

  /** The observation after this message. A server without a free session says so unasked. */
  async ask(type, data) {
    const timer = setTimeout(() => this.#end(`no answer to ${type} in ${limitMs / 1000} s`), limitMs);
    try {
      const said = await new Promise((resolve, reject) => {
        this.#waiting = { resolve, reject };
        if (this.#ended) reject(this.#ended);
        if (this.#unread.length > 0) resolve(this.#unread.shift());
        void this.opened.then(() => this.#ended ?? this.#socket.send(JSON.stringify({ type, data })));
      });
      return read(type, said);
    } finally {
      this.#waiting = undefined;
      clearTimeout(timer);
    }
  }

  close() {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send('{"type":"close"}');
    this.#socket.close();
  }

  #end(why) {
    this.#ended ??= new Failure(why, { lost: true });
    this.#waiting?.reject(this.#ended);
  }
}

/** An action that the server's schema refuses is the model's fault; every other error is a failure. */
function read(method, said) {
  if (typeof said !== 'string' || said.length > MAX_CHARS) throw new Failure('the reply is no text, or too large');
  const { type, data } = JSON.parse(said);
  if (type === 'error') {
    const { code, message, errors = [] } = data;
    if (code === 'CAPACITY_REACHED') throw new Failure(`it has no free session: ${message}`, { busy: true });
    if (method === 'reset') throw new Failure(`${message}`, { retryable: code !== 'VALIDATION_ERROR' });
    if (code !== 'VALIDATION_ERROR') throw new Failure(`${message}`);
    return { fault: errors.map(({ loc = [], msg }) => `${loc.join('.')}: ${msg}.`).join(' ') || `${message}` };
  }
  const reward = data?.reward == null ? undefined : data.reward;
  const isReward = reward === undefined || typeof reward === 'boolean' || Math.abs(reward) <= 1e30;
  if (type !== 'observation' || !isObject(data?.observation) || !isReward || typeof reward === 'string')
    throw new Failure(`no observation with a reward: ${said.slice(0, 200)}`);
  return { observation: data.observation, done: data.done === true, ...(reward === undefined ? {} : { reward: Number(reward) }) };
}

const sessions = new Map();

function drop(key) {
  sessions.get(key)?.close();
  sessions.delete(key);
}

/** Equal for all samples of a query: they play the same game. */
const seedOf = ({ query }) => createHash('sha256').update(query).digest().readUInt32BE() % 2 ** 31;

async function begin({ episode, messages: own }) {
  const { key, row } = episode;
  drop(key);
  // Another server has come in its place: this process ends, and the next one says another fingerprint.
  if ((await readServer()).fingerprint !== server.fingerprint) process.exit(1);
  const session = new Session();
  sessions.set(key, session);
  const { observation, done } = await session.ask('reset', { seed: seedOf(episode), episode_id: key, ...row.reset });
  if (done) throw new Failure('the episode is over before it begins');
  // A row with its own words explains the form of an action itself.
  const text = [shown(observation), own.length === 0 ? form.says : ''].filter((part) => part !== '').join('\n\n');
  const last = own.at(-1);
  if (text === '') return own.length > 0 ? { messages: own } : {};
  if (last?.role !== 'user') return { messages: [...own, user(text)] };
  return { messages: [...own.slice(0, -1), user(`${last.content}\n\n${text}`)] };
}

/** No step was made: it counts 0, and the model may try again. */
const badAction = (why) => ({ reward: 0, metrics: { bad_action: 1 }, messages: [user(`${why} ${form.says}`.trim())] });

async function respond({ episode, answer }) {
  const session = sessions.get(episode.key);
  if (!session) throw new Failure('its session is gone', { lost: true });
  const action = actionOf(answer, form);
  if (action === undefined) return badAction(form.field ? 'Your reply is no action.' : 'Your reply holds no JSON object.');
  const { observation, done, fault, ...scored } = await session.ask('step', action);
  if (fault !== undefined) return badAction(`Your action is not valid: ${fault}`);
  // An observation without text still asks for the next action.
  return done ? { done, ...scored } : { ...scored, messages: [user(shown(observation) || '(nothing to see)')] };
}

const withForm = (found) => ({ ...found, form: formOf(found.action) });

// --- calls, one line each -----------------------------------------------------------------------

const server = await readServer().then(withForm).catch((error) => {
  // A server that is away may come back: this process is started again. Nothing else mends the rest.
  if (error instanceof Unfit) say({ error: { message: error.message } });
  else console.error(`${base}: ${error.cause?.message ?? error.message}. Is its server up?`);
  process.exit(1);
});
const { form, name, version, fingerprint } = server;
const lease = { idleSeconds: Number(given['idle-seconds']), timeoutSeconds: limitMs / 1000 + 10 };
const says = { protocol: 1, name, version, fingerprint, state: 'held', begins: true, ...lease };
say({ hello: { ...says, processes: Number(given.processes) } });

const calls = { begin, respond, end: ({ episode }) => drop(episode.key) };
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  try {
    say({ id, result: (await calls[method](params)) ?? {} });
  } catch (error) {
    drop(params.episode.key);
    // Nothing is lost before a session has begun.
    const isAway = method === 'begin' && (!(error instanceof Failure) || error.more.lost);
    say({ id, error: { message: error.cause?.message ?? error.message, ...(isAway ? { retryable: true } : error.more) } });
  }
}
