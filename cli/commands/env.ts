// `everturn env new <name>`: an environment and a data set to begin with. `everturn env test <what> <rows>`: plays the rows
// with made-up answers, without a model or Temporal, and says what breaks the contract.

import { type Command, Option } from 'commander';
import { EXIT, type ExitCode } from '../exit.ts';
import { jsonOption } from '../flags.ts';
import type { Io } from '../io.ts';
import { newEnvironment } from '../play/env-new.ts';
import { testEnvironment } from '../play/env-test.ts';

interface NewFlags {
  readonly python?: boolean;
}

interface TestFlags {
  readonly limit: string;
  readonly turns: string;
  readonly json?: boolean;
}

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  command
    .command('new')
    .description('Write an environment, and rows to try it with, into this folder.')
    .argument('<name>', 'its name: a-z, 0-9 and hyphens')
    .addOption(new Option('--python', 'in Python, with its standard library alone (default: TypeScript)'))
    .action(async (name: string, { python }: NewFlags) => {
      await newEnvironment(io, name, python === true);
      exit(EXIT.ok);
    });
  command
    .command('test')
    .description('Play rows of a data set with made-up answers, and say what breaks the contract.')
    .argument('<environment>', 'a module, a command or an address, as for `everturn run --environment`')
    .argument('<dataset>', 'a file of rows')
    .addOption(new Option('--limit <n>', 'rows to play').default('5'))
    .addOption(new Option('--turns <n>', 'turns of each').default('3'))
    .addOption(jsonOption('one JSON object on stdout'))
    .addHelpText(
      'after',
      '\nEach row is played twice, the second time with all processes ended between two turns: both must give the same\n' +
        'replies. `end` is called twice.\n\nExit codes: 0 nothing broke; 1 a breach; 2 it does not load; 6 the data set.\n\n' +
        'Example:\n  everturn env new countdown --python && everturn env test ./countdown.py countdown.jsonl',
    )
    .action(async (environment: string, dataset: string, flags: TestFlags) => {
      exit(await testEnvironment(io, { environment, dataset, ...flags, json: flags.json === true }));
    });
}
