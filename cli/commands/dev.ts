// `everturn dev`: the local service in the foreground, its logs on the terminal, until Ctrl-C.

import { createInterface } from 'node:readline';
import { visible } from '../../domain/text/foreign-text.ts';
import type { Command } from 'commander';
import { printProgress } from '../../local/service/progress.ts';
import { runForeground } from '../../local/service/foreground.ts';
import { NO_UI } from '../find/link.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { type Io, say } from '../io.ts';
import { paintFor } from '../view/paint.ts';

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  command.addHelpText('after', '\nCtrl-C ends it in order.\n\nExample:\n  everturn dev').action(async () => {
    const paint = paintFor(io.err, io.env);
    const tints = { server: 'dim', worker: 'cyan' } as const;
    let shown = '';
    await runForeground({
      env: io.env,
      signal: io.interrupted(),
      onProgress: printProgress(io.err),
      log: (line) => say(io, `${paint('bold', 'service')}  ${visible(line)}`),
      onOutput: (name, stream) => {
        const lines = createInterface({ input: stream, crlfDelay: Infinity });
        lines.on('line', (line) => say(io, `${paint(tints[name], name.padEnd(7))}  ${visible(line)}`));
      },
      onState: ({ phase, address, uiAddress }) => {
        const text = phase === 'ready' ? `ready: Temporal ${address}, UI ${uiAddress ?? NO_UI}. Ctrl-C ends it.` : '';
        if (text && text !== shown) say(io, paint('green', text));
        shown = text;
      },
    });
    exit(EXIT.ok);
  });
}
