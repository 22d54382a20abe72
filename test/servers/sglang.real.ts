import { suite } from './suite.ts';

suite({
  kind: 'sglang',
  seeded: false,
  meaning: 'temperature',
  pause: (server, mode) => server.call('POST', '/pause_generation', { mode: mode === 'keep' ? 'in_place' : 'abort' }),
  resume: (server) => server.call('POST', '/continue_generation', {}),
  async update(server, folder, version) {
    // Asked for with requests paused in place; its own cache keeps what they hold.
    await server.call('POST', '/update_weights_from_disk', {
      model_path: folder,
      weight_version: version,
      flush_cache: false,
    });
  },
});
