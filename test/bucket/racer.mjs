// One writer of a race: puts its own turn under each name once it is told to, and says what was stored.

import { openFileStore } from '../../dist/storage/files.js';

const [out, self, keys] = process.argv.slice(2);
const store = openFileStore(out, 'r1');
const turn = { turn: 1, contextText: `writer ${self}`, versions: [], finish: 'stop' };
const idOf = (query) => ({ run: 'r1', query, sample: 0, attempt: 1 });
await store.putTurn(idOf(`of-${self}`), turn);
process.send([]);
await new Promise((go) => process.once('message', go));
const results = [];
for (let key = 0; key < Number(keys); key++) {
  const { created, hash } = await store.putTurn(idOf(`q${key}`), turn);
  results.push({ created, hash });
}
process.send(results, () => process.exit(0));
