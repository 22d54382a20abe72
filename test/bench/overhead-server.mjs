// A model server that costs next to nothing: speaks as SGLang does, and gives the same answer to every request, made
// ready once, after DELAY_MS. With LENGTHS (`<median>,<sigma>`) an answer has a log-normal number of tokens that follows from its
// prompt and seed, and takes DELAY_MS for each. Arguments: the answer's token ids as JSON. Says its url on stdout; ends with
// its parent.

import { createHash } from 'node:crypto';
import { createServer } from 'node:http';

const ids = JSON.parse(process.argv[2]);
const delayMs = Number(process.env.DELAY_MS ?? 0);
const [median, sigma] = (process.env.LENGTHS ?? '').split(',').map(Number);
const VOCAB = 692;
const LENGTH = 1_000_000;

const float32 = (i) => Math.fround(-Math.log(1 + ((i * 7919) % 1000) / 500));
const answer = (outputs, finish, top) =>
  JSON.stringify({
    text: 'text',
    output_ids: outputs,
    meta_info: {
      id: 'NAMED',
      finish_reason: finish,
      prompt_tokens: 'ASKED',
      weight_version: '0',
      output_token_logprobs: outputs.map((id, i) => [i === 0 ? 'FIRST' : float32(i), id, null]),
      ...(top ? { output_top_logprobs: outputs.map((id, i) => [[i === 0 ? 'FIRST' : float32(i), id, null]]) } : {}),
      completion_tokens: outputs.length,
      weight_versions: [{ version: '0', start: 0, end: outputs.length }],
    },
  });
const whole = answer(ids, { type: 'stop', matched: ids.at(-1) }, false);
const first = answer(ids.slice(0, 1), { type: 'length', length: 1 }, true);

/** The answer as that to this request, by its name, its ids' number and a logprob of its own: any other one is refused. */
function to(body, said) {
  const from = body.indexOf('"input_ids":[');
  const end = body.indexOf(']', from);
  let asked = 1;
  for (let at = from; (at = body.indexOf(',', at + 1)) >= 0 && at < end;) asked++;
  const [, name = 'made'] = /"rid":"([^"]*)"/.exec(body) ?? [];
  const own = createHash('sha256').update(body.slice(from, end)).update(name).digest().readUIntLE(0, 3);
  const logprob = String(Math.fround(-(1 + own) / 2 ** 24));
  return said.replace('"ASKED"', String(asked)).replace('NAMED', name).replaceAll('"FIRST"', logprob);
}

/** The same for the same prompt and seed, in whatever run. */
function lengthOf(body) {
  const { input_ids: input, sampling_params: sampling } = JSON.parse(body);
  const hash = createHash('sha256')
    .update(JSON.stringify([input, sampling.sampling_seed]))
    .digest();
  const [u, v] = [(hash.readUInt32LE(0) + 1) / 2 ** 32, hash.readUInt32LE(4) / 2 ** 32];
  const normal = Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * v);
  return Math.max(1, Math.min(ids.length, Math.round(median * Math.exp(sigma * normal))));
}

const facts = {
  '/model_info': { served_model_name: 'bench', model_path: 'bench', tokenizer_path: 'bench', weight_version: '0' },
  '/server_info': { max_req_input_len: LENGTH, enable_deterministic_inference: true, version: '0.5.23' },
  '/v1/models': { data: [{ id: 'bench', max_model_len: LENGTH, vocab: VOCAB }] },
};

const server = createServer((request, response) => {
  const send = (text) => response.writeHead(200, { 'content-type': 'application/json' }).end(text);
  if (request.method === 'GET') return send(JSON.stringify(facts[request.url] ?? {}));
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    if (request.url !== '/generate') return send('""');
    const head = Buffer.concat(chunks).toString('latin1');
    if (head.includes('"top_logprobs_num"')) return send(to(head, first));
    const tokens = median > 0 ? lengthOf(Buffer.concat(chunks).toString()) : ids.length;
    const said =
      tokens === ids.length ? whole : answer(ids.slice(-tokens), { type: 'stop', matched: ids.at(-1) }, false);
    setTimeout(() => send(to(head, said)), median > 0 ? delayMs * tokens : delayMs);
    return undefined;
  });
  return undefined;
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', 4096, () => console.log(`http://127.0.0.1:${server.address().port}`));
process.on('disconnect', () => process.exit(0));
