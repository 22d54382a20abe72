import { suite } from './suite.ts';

suite({
  kind: 'sglang',
  seeded: false,
  saysSets: true,
  first: { meaning: 'temperature' },
  second: { meaning: 'raw', env: { SGLANG_RETURN_ORIGINAL_LOGPROB: '1' } },
  afterBadFolder: ['refused'],
  async forced(server, ids, from) {
    const sampling = { max_new_tokens: 1, temperature: 1 };
    const body = { input_ids: ids, sampling_params: sampling, return_logprob: true, logprob_start_len: from - 1 };
    const { meta_info: given } = (await server.call('POST', '/generate', body)) as {
      meta_info: { input_token_logprobs: [logprob: number, id: number][] };
    };
    return given.input_token_logprobs.slice(from - ids.length).map(([logprob]) => logprob);
  },
  pauseWithAbort: (server) => server.call('POST', '/pause_generation', { mode: 'abort' }),
  resume: (server) => server.call('POST', '/continue_generation', {}),
});
