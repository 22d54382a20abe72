// One writer of a race: puts its own turn under each name, and tells what was stored.

import { openFileStore } from '../../dist/storage/files.js';

const [out, self, keys] = process.argv.slice(2);
const store = openFileStore(out, 'r1');
const results = [];
for (let key = 0; key < Number(keys); key++) {
  const record = { turn: 1, contextText: `writer ${self}`, versions: [], finish: 'stop' };
  const { created, hash } = await store.putTurn({ run: 'r1', query: `q${key}`, sample: 0, attempt: 1 }, record);
  results.push({ created, hash });
}
process.send(results, () => process.exit(0));
