// `everturn serve-json`: the library as lines of JSON on stdin and stdout, until stdin ends: for the Python package.

import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { serveJson as serve } from '../../library/json/serve-json.ts';
import { command } from '../command.ts';

export const serveJson = command({
  flags: {},
  async run(io) {
    const lines = createInterface({ input: Readable.from(io.input()), crlfDelay: Infinity });
    await serve(lines, async (line) => {
      // Its reader sets the pace.
      if (io.out.write(`${line}\n`) === false) await once(process.stdout, 'drain');
    });
  },
});
