// All commands by name, and the program that runs one of them. A command's module is loaded only if it
// was called or asked for help.

import { visible } from '../domain/text/foreign-text.ts';
import { Command, Option } from 'commander';
import { UsageError } from '../domain/errors/errors.ts';
import { everturnVersion } from '../local/machine/package-root.ts';
import type { ExitCode } from './exit.ts';
import type { Io } from './io.ts';

/** A command's module: adds arguments, options and an action, which ends with `exit`. */
export interface CommandModule {
  define(command: Command, io: Io, exit: (code: ExitCode) => void): void;
}

interface CommandEntry {
  readonly group: 'Play' | 'Look' | 'Steer' | 'Run the service';
  readonly summary: string;
  readonly load: () => Promise<CommandModule>;
}

const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  demo: {
    group: 'Play',
    summary: 'play a small data set with the shipped model and show the result',
    load: () => import('./commands/demo.ts'),
  },
  run: {
    group: 'Play',
    summary: 'play a data set, or attach to the run that does',
    load: () => import('./commands/run.ts'),
  },
  watch: { group: 'Play', summary: 'follow a run to its end', load: () => import('./commands/watch.ts') },
  list: { group: 'Look', summary: 'list the runs', load: () => import('./commands/list.ts') },
  status: { group: 'Look', summary: 'the progress of a run', load: () => import('./commands/status.ts') },
  show: { group: 'Look', summary: 'one trajectory, turn by turn', load: () => import('./commands/show.ts') },
  why: {
    group: 'Look',
    summary: 'what a rollout waits for, or why it ended as it did',
    load: () => import('./commands/why.ts'),
  },
  view: {
    group: 'Look',
    summary: 'all runs in the browser: turns, tokens, verdicts, live',
    load: () => import('./commands/view.ts'),
  },
  report: {
    group: 'Look',
    summary: 'a run as one HTML file that opens from disk and prints',
    load: () => import('./commands/report.ts'),
  },
  stats: {
    group: 'Look',
    summary: 'every number of a run, with n, interval and definition',
    load: () => import('./commands/stats.ts'),
  },
  compare: {
    group: 'Look',
    summary: 'two runs of the same queries, with a test of the difference',
    load: () => import('./commands/compare.ts'),
  },
  search: {
    group: 'Look',
    summary: 'where a text occurs in a run',
    load: () => import('./commands/search.ts'),
  },
  check: { group: 'Look', summary: "prove a run's folder", load: () => import('./commands/check.ts') },
  judge: {
    group: 'Look',
    summary: 'judge answers, or a run again, without a model or Temporal',
    load: () => import('./commands/judge.ts'),
  },
  export: {
    group: 'Look',
    summary: 'write a run in a format that trainers read',
    load: () => import('./commands/export.ts'),
  },
  env: {
    group: 'Play',
    summary: 'write an environment of your own, and try it without a model',
    load: () => import('./commands/env.ts'),
  },
  feed: {
    group: 'Play',
    summary: "serve a run's groups to a trainer, over HTTP",
    load: () => import('./commands/feed.ts'),
  },
  pause: { group: 'Steer', summary: 'begin no new rollout until resume', load: () => import('./commands/pause.ts') },
  resume: { group: 'Steer', summary: 'let a paused run continue', load: () => import('./commands/resume.ts') },
  tune: {
    group: 'Steer',
    summary: 'change the number of rollouts in flight',
    load: () => import('./commands/tune.ts'),
  },
  'update-weights': {
    group: 'Steer',
    summary: 'load new weights into every server of a running run',
    load: () => import('./commands/update-weights.ts'),
  },
  verdict: {
    group: 'Steer',
    summary: "a person's verdict on one turn, beside the judge's",
    load: () => import('./commands/verdict.ts'),
  },
  note: {
    group: 'Steer',
    summary: "a person's note on one rollout",
    load: () => import('./commands/note.ts'),
  },
  fork: {
    group: 'Steer',
    summary: 'play one rollout again from a turn on, as a new run',
    load: () => import('./commands/fork.ts'),
  },
  extend: {
    group: 'Steer',
    summary: 'play further turns of one rollout, as a new run',
    load: () => import('./commands/extend.ts'),
  },
  retry: {
    group: 'Steer',
    summary: 'play a rollout once more that failed or was undecided',
    load: () => import('./commands/retry.ts'),
  },
  say: {
    group: 'Steer',
    summary: 'a message to one rollout in flight',
    load: () => import('./commands/say.ts'),
  },
  cancel: {
    group: 'Steer',
    summary: 'end a run; finished turns stay stored',
    load: () => import('./commands/cancel.ts'),
  },
  doctor: {
    group: 'Run the service',
    summary: 'try everything that a run needs, and say what to do',
    load: () => import('./commands/doctor.ts'),
  },
  config: {
    group: 'Run the service',
    summary: 'each setting of a run, and where it comes from',
    load: () => import('./commands/config.ts'),
  },
  completion: {
    group: 'Run the service',
    summary: 'completion for bash, zsh or fish',
    load: () => import('./commands/completion.ts'),
  },
  up: {
    group: 'Run the service',
    summary: 'start the local service: Temporal server and worker, in the background',
    load: () => import('./commands/up.ts'),
  },
  down: { group: 'Run the service', summary: 'end the local service', load: () => import('./commands/down.ts') },
  dev: {
    group: 'Run the service',
    summary: 'the local service in the foreground, logs on the terminal',
    load: () => import('./commands/dev.ts'),
  },
  worker: {
    group: 'Run the service',
    summary: 'a worker process; any number, on any machine',
    load: () => import('./commands/worker.ts'),
  },
};

export async function buildProgram(io: Io, args: readonly string[], exit: (code: ExitCode) => void): Promise<Command> {
  const program = new Command('everturn')
    .description('Plays every problem of a data set turn by turn with a language model, durably.')
    .version(everturnVersion(), '-V, --version')
    .usage('<command> [options]')
    .showSuggestionAfterError()
    .configureHelp({ sortOptions: false, showGlobalOptions: false })
    .configureOutput({
      writeOut: (text) => void io.out.write(text),
      writeErr: (text) => void io.err.write(visible(text)),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      outputError: (text, write) => write(usageText(text, called)),
    })
    .exitOverride()
    .addOption(verbose())
    .addHelpText('after', '\nStart with: everturn demo\nEach command explains itself: everturn <command> --help');

  const [first, second] = args.filter((arg) => !arg.startsWith('-'));
  const called = first === 'help' ? second : first;
  const asksHelp = first === 'help' || args.includes('--help') || args.includes('-h');
  if (asksHelp && called !== undefined && called !== 'help' && !Object.hasOwn(COMMANDS, called)) {
    throw new UsageError(`There is no command ${JSON.stringify(called)}.`, {
      reason: 'unknown-command',
      fix: '`everturn --help` lists them all.',
    });
  }
  for (const [name, { group, summary, load }] of Object.entries(COMMANDS)) {
    const command = program
      .command(name)
      .summary(summary)
      .description(`${upper(summary)}.`)
      .helpGroup(`${group}:`);
    if (name !== called) continue;
    (await load()).define(command, io, exit);
    command.addOption(verbose());
  }
  return program;
}

function verbose(): Option {
  return new Option('--verbose', 'show the stack of an error');
}

/** Commander's message as one paragraph that names the command. */
export function usageText(text: string, called: string | undefined): string {
  const words = text
    .replace(/^error: /, '')
    .trim()
    .split('\n')
    .join(' ');
  const command = called !== undefined && called in COMMANDS ? `everturn ${called}` : 'everturn';
  return `${command}: ${words}${/[.?!)]$/.test(words) ? '' : '.'} See \`${command} --help\`.\n`;
}

function upper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
