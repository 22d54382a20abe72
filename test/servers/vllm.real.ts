import { suite } from './suite.ts';

suite({
  kind: 'vllm',
  seeded: true,
  meaning: 'raw',
  pause: (server, mode) => server.call('POST', `/pause?mode=${mode}`),
  resume: (server) => server.call('POST', '/resume'),
  async update(server, folder, version) {
    await server.call('POST', '/collective_rpc', { method: 'reload_weights', kwargs: { weights_path: folder } });
    await server.call('POST', '/update_weight_version', { new_version: version });
  },
});
