import { suite } from './suite.ts';

suite({
  kind: 'sglang',
  seeded: false,
  first: { meaning: 'temperature' },
  second: { meaning: 'raw', env: { SGLANG_RETURN_ORIGINAL_LOGPROB: '1' } },
  secondMayMove: false,
  afterBadFolder: ['refused'],
  pauseWithAbort: (server) => server.call('POST', '/pause_generation', { mode: 'abort' }),
  resume: (server) => server.call('POST', '/continue_generation', {}),
});
