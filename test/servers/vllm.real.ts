import { suite } from './suite.ts';

suite({
  kind: 'vllm',
  seeded: true,
  first: { meaning: 'raw', args: ['--enable-scale-out'] },
  // Without --enable-scale-out it is asked by /v1/completions.
  second: { meaning: 'policy', args: ['--logprobs-mode', 'processed_logprobs'] },
  secondMayMove: true,
  afterBadFolder: ['unsure', 'unreached'],
  async tokensMade(server) {
    const metrics = String(await server.call('GET', '/metrics'));
    return Number(/^vllm:generation_tokens_total\S* (\S+)$/m.exec(metrics)?.[1]);
  },
  pauseWithAbort: (server) => server.call('POST', '/pause?mode=abort'),
  resume: (server) => server.call('POST', '/resume'),
});
