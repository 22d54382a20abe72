// `everturn env new <name>`: an environment and a data set to begin with. `everturn env test <what> <rows>`: plays the rows
// with made-up answers, without a model or Temporal, and says what breaks the contract.

import { command, commands, flag, parsed, unusable, withDefault } from '../command.ts';
import { newEnvironment } from '../play/env-new.ts';
import { testEnvironment } from '../play/env-test.ts';

const few = (help: string) => parsed('<n>', help, fewOf);

export const env = commands({
  new: command({
    description: 'Write an environment, and rows to try it with, into this folder.',
    args: { '<name>': 'its name: a-z, 0-9 and hyphens' },
    flags: { python: flag('in Python, with its standard library alone (default: TypeScript)') },
    run: (io, { name, python }) => newEnvironment(io, name, python),
  }),
  test: command({
    description: 'Play rows of a data set with made-up answers, and say what breaks the contract.',
    args: {
      '<environment>': 'a module, a command or an address, as for `everturn run --environment`',
      '<dataset>': 'a file of rows',
    },
    flags: {
      limit: withDefault(few('rows to play'), 5),
      turns: withDefault(few('turns of each'), 3),
      json: flag('one JSON object on stdout'),
    },
    help:
      'Each row is played twice, the second time with all processes ended between two turns: both must give the same\n' +
      'replies. `end` is called twice.\n\nExit codes: 0 nothing broke; 1 a breach; 2 it does not load; 6 the data set.\n\n' +
      'Example:\n  everturn env new countdown --python && everturn env test ./countdown.py countdown.jsonl',
    run: testEnvironment,
  }),
});

function fewOf(given: string, name: string): number {
  if (/^[1-9]\d{0,3}$/.test(given)) return Number(given);
  throw unusable(`${name} is "${given}".`, 'It takes a whole number from 1 to 9999.');
}
