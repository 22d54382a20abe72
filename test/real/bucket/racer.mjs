// One writer of a race: puts its own turn under all names at once when it is told to, and says what was stored. Each begins at
// another name: in one order, the first to be ahead would stay ahead and win all.

import { openFileStore } from '../../../dist/records/file-store.js';

const [out, self, keys] = process.argv.slice(2);
const store = openFileStore(out, 'r1');
const turn = { turn: 1, contextText: `writer ${self}`, versions: [], finish: 'stop' };
const idOf = (query) => ({ run: 'r1', query, sample: 0, attempt: 1 });
await store.put('turn', idOf(`of-${self}`), turn);
process.send([]);
await new Promise((go) => process.once('message', go));
const count = Number(keys);
const results = Array.from({ length: count });
const order = results.map((_, i) => (i + Number(self) * 4) % count);
await Promise.all(
  order.map(async (key) => {
    const { created, hash } = await store.put('turn', idOf(`q${key}`), turn);
    results[key] = { created, hash };
  }),
);
process.send(results, () => process.exit(0));
