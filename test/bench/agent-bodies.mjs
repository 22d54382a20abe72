// The time for which a request of an agent holds the loop of its worker: bodies of several shapes and sizes are posted to an
// endpoint as a worker makes it, up to the context of the call, and a timer of 2 ms in the same process says how late it was, and
// how much of that the loop itself worked: the rest is of other processes.
//   npm run build && node test/bench/agent-bodies.mjs [MiB: 60,16,4,1] [tokens of the context: 1048576; none: a model of text] [shapes: all]

import { fork } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Text of JSON that is so many bytes long. */
const filled = (bytes, [head, one, tail], between = ',') =>
  head +
  Array(Math.max(1, Math.floor((bytes - head.length - tail.length) / (one.length + between.length))))
    .fill(one)
    .join(between) +
  tail;
const TEXT = ['{"messages":[{"role":"user","content":"', 'Word ', '"}]}'];
const SHAPES = {
  /** For what the machine itself adds. */
  nothing: () => '',
  'one text': (bytes) => filled(bytes, TEXT, ''),
  'escaped text': (bytes) => filled(bytes, [TEXT[0], '\\u0434', TEXT[2]], ''),
  'quotes in a text': (bytes) => filled(bytes, [TEXT[0], '\\"', TEXT[2]], ''),
  'text of two bytes': (bytes) => filled(bytes / 2, [TEXT[0], 'д', TEXT[2]], ''),
  'a turn of 1,000 bytes': (bytes) =>
    filled(bytes, ['{"messages":[', `{"role":"user","content":"${'Word '.repeat(200)}"}`, ']}']),
  'tiny messages': (bytes) => filled(bytes, ['{"messages":[', '{"role":"user","content":"a"}', ']}']),
  'tiny items': (bytes) =>
    filled(bytes, ['{"input":[', '{"type":"function_call","call_id":"c","name":"a","arguments":"{}"}', ']}']),
  'results of tools': (bytes) =>
    filled(bytes, [
      '{"messages":[{"role":"user","content":"a"},',
      '{"role":"tool","tool_call_id":"c","content":"a"}',
      ']}',
    ]),
  parts: (bytes) => filled(bytes, ['{"messages":[{"role":"user","content":[', '{"type":"text","text":"a"}', ']}]}']),
  tools: (bytes) =>
    filled(bytes, [
      '{"messages":[{"role":"user","content":"a"}],"tools":[',
      '{"type":"function","function":{"name":"a","parameters":{"type":"object","properties":{"x":{"type":"string"}}}}}',
      ']}',
    ]),
  numbers: (bytes) => filled(bytes, ['{"messages":[{"role":"user","content":"a"}],"x":[', '1', ']}']),
  nested: (bytes) => {
    const deep = Math.floor(bytes / 2);
    return '['.repeat(deep) + ']'.repeat(deep);
  },
  'a key twice': (bytes) => filled(bytes, ['{"messages":[', '{"role":"user","content":"a"}', '],"a":1,"a":1}']),
  'many keys': (bytes) => {
    let text = '{"messages":[{"role":"user","content":"a"}]';
    for (let i = 0; text.length < bytes; i++) text += `,"k${i}":1`;
    return `${text}}`;
  },
  'an image': (bytes) =>
    filled(
      bytes,
      [
        '{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,',
        'AAAA',
        '"}}]}]}',
      ],
      '',
    ),
};

if (process.argv[2] === '--client') {
  let body = '';
  process.on('message', async ({ shape, mib, url }) => {
    if (shape !== undefined) {
      body = SHAPES[shape](mib * 2 ** 20);
      return process.send('made');
    }
    const began = performance.now();
    const reply = await fetch(url, { method: 'POST', headers: { authorization: 'Bearer key' }, body })
      .then(async (response) => ({ status: response.status, text: (await response.text()).slice(0, 300) }))
      .catch((error) => ({ status: String(error.cause ?? error), text: '' }));
    process.send({ ...reply, ms: performance.now() - began });
  });
} else await serve();

async function serve() {
  const ROOT = join(import.meta.dirname, '../..');
  const dist = (path) => import(join(ROOT, 'dist', path));
  const [sizes = '60,16,4,1', contextLength = '1048576', shapes = ''] = process.argv.slice(2);
  const [{ createEndpoint }, { listenAt }, { askedCall, contextOf, tokensOf }, { openTokenizer }, { encodeRecord }] =
    await Promise.all(
      [
        'endpoint/endpoint.js',
        'endpoint/http.js',
        'activities/agent-context.js',
        'inference/tokenizer/tokenizer.js',
        'records/format/text.js',
      ].map(dist),
    );

  const folder = mkdtempSync(join(tmpdir(), 'everturn-bench-'));
  for (const file of ['tokenizer.json', 'tokenizer_config.json', 'config.json'])
    cpSync(join(ROOT, 'models/tiny', file), join(folder, file));
  cpSync(join(ROOT, 'test/fixtures/templates/qwen3.jinja'), join(folder, 'chat_template.jinja'));
  const tokenizer = await openTokenizer({ kind: 'folder', path: folder, name: 'tiny' });
  const facts =
    contextLength === 'none'
      ? { kind: 'text', name: 'text' }
      : { kind: 'tokens', name: 'tiny', contextLength: Number(contextLength) };
  const backend = { facts, tokenizer };
  const settings = { maxNewTokens: 16, tools: { list: [], stops: [] } };
  const calls = { played: [], turnOf: () => undefined };
  const answering = { settings, backend, calls };

  /** The longest time without a turn of the loop since it was asked last, and the processor time of this thread in it. */
  let late = { ms: 0, cpuMs: 0 };
  const cpu = () => Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  let last = { at: performance.now(), cpu: cpu() };
  setInterval(() => {
    const now = { at: performance.now(), cpu: cpu() };
    late = { ms: Math.max(late.ms, now.at - last.at), cpuMs: Math.max(late.cpuMs, now.cpu - last.cpu) };
    last = now;
  }, 2);

  const key = 'key';
  const client = fork(import.meta.filename, ['--client']);

  async function measured(shape, mib) {
    const endpoint = createEndpoint({
      ...{
        key,
        model: 'tiny',
        recorded: [],
        maxCalls: 100,
        onCut() {},
        onReward() {},
        contextLength: facts.contextLength,
      },
      count: (request) => tokensOf(request, answering),
      async answer(taken, request, dialect) {
        const { call } = taken;
        const context = await contextOf(request, answering);
        if ('refused' in context) return context;
        const asked = askedCall(taken, request, dialect, context, null);
        const record = { turn: 1, asked, contextIds: context.ids, contextText: context.text, previous: call.hash };
        encodeRecord('asked', { query: 'q', sample: 0, attempt: 1 }, record);
        const usage = { input: context.ids.length, cached: 0, output: 0, reasoning: 0 };
        return {
          call: call.id,
          text: 'Yes.',
          reasoning: '',
          calls: [],
          finish: 'stop',
          stopped: null,
          model: 'tiny',
          createdAt: 0,
          usage,
        };
      },
    });
    const server = await listenAt(endpoint.answer);
    const path = shape.includes('items') ? 'responses' : 'chat/completions';
    const told = () => new Promise((resolve) => client.once('message', resolve));
    client.send({ shape, mib });
    await told();
    await new Promise((resolve) => setTimeout(resolve, 200));
    late = { ms: 0, cpuMs: 0 };
    client.send({ url: `${server.url}/v1/${path}` });
    const reply = told();
    const { status, text, ms } = await reply;
    const held = late;
    await server.close();
    const said = status === 200 ? '' : (/"message":"((?:[^"\\]|\\.)*)/.exec(text)?.[1] ?? '').slice(0, 90);
    console.log(
      `${String(mib).padStart(3)} MiB  ${shape.padEnd(22)} held ${held.cpuMs.toFixed(0).padStart(6)} ms of its own, ${held.ms.toFixed(0)} in all, answered in ${ms.toFixed(0).padStart(6)} ms: ${status} ${said}`,
    );
  }

  try {
    await measured('nothing', 0);
    for (const mib of sizes.split(',').map(Number))
      for (const shape of shapes === '' ? Object.keys(SHAPES).slice(1) : shapes.split(',')) await measured(shape, mib);
  } finally {
    client.kill();
    rmSync(folder, { recursive: true });
    process.exit();
  }
}
