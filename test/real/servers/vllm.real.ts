import { suite } from './suite.ts';

suite({
  kind: 'vllm',
  seeded: true,
  saysSets: false,
  first: { meaning: 'raw', args: ['--enable-scale-out'] },
  // Without --enable-scale-out it is asked by /v1/completions.
  second: { meaning: 'policy', args: ['--logprobs-mode', 'processed_logprobs'] },
  afterBadFolder: ['unsure', 'unreached'],
  async tokensMade(server) {
    const metrics = String(await server.call('GET', '/metrics'));
    return Number(/^vllm:generation_tokens_total\S* (\S+)$/m.exec(metrics)?.[1]);
  },
  async forced(server, ids, from) {
    const sampling = { max_tokens: 1, temperature: 1, prompt_logprobs: 0 };
    const body = { model: 'tiny', token_ids: ids, sampling_params: sampling };
    const { prompt_logprobs: all } = (await server.call('POST', '/inference/v1/generate', body)) as {
      prompt_logprobs: Record<string, { logprob: number }>[];
    };
    return ids.slice(from).map((id, i) => all[from + i]![id]!.logprob);
  },
  pauseWithAbort: (server) => server.call('POST', '/pause?mode=abort'),
  resume: (server) => server.call('POST', '/resume'),
});
