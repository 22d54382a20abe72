// All commands by name, and the program that runs one of them. A command's module is loaded only if it
// was called or asked for help.

import { visible } from '../domain/text/foreign-text.ts';
import { Command, Option } from 'commander';
import { everturnVersion } from '../local/machine/package-root.ts';
import { type CommandModule, unusable } from './command.ts';
import type { ExitCode } from './exit.ts';
import { type Io, typable } from './io.ts';

/** Each module exports the command by its name in camel case. */
const COMMANDS = {
  Play: {
    demo: ['play a small data set with the shipped model and show the result', () => import('./commands/run.ts')],
    run: ['play a data set, or attach to the run that does', () => import('./commands/run.ts')],
    eval: ['play benchmarks with models, a turn each, and show one table', () => import('./commands/eval.ts')],
    env: ['write an environment of your own, and try it without a model', () => import('./commands/env.ts')],
    feed: ["serve a run's groups to a trainer, over HTTP", () => import('./commands/feed.ts')],
  },
  Look: {
    benchmarks: ['the benchmarks that a run plays by name', () => import('./commands/benchmarks.ts')],
    list: ['list the runs', () => import('./commands/list.ts')],
    status: ['the progress of a run; with --follow to its end', () => import('./commands/status.ts')],
    show: ['one trajectory, turn by turn', () => import('./commands/show.ts')],
    why: ['what a rollout waits for, or why it ended as it did', () => import('./commands/why.ts')],
    view: ['all runs in the browser: turns, tokens, verdicts, live', () => import('./commands/view.ts')],
    report: ['a run as one HTML file that opens from disk', () => import('./commands/report.ts')],
    log: ['the numbers of a training run by weight version, as it goes on', () => import('./commands/log.ts')],
    stats: ['every number of a run, with n, interval and definition', () => import('./commands/stats.ts')],
    compare: ['two runs of the same queries, with a test of the difference', () => import('./commands/compare.ts')],
    check: ["prove a run's folder", () => import('./commands/check.ts')],
    judge: ['judge answers, or a run again, without a model or Temporal', () => import('./commands/judge.ts')],
    export: ['write a run in a format that trainers read', () => import('./commands/export.ts')],
  },
  Steer: {
    pause: ['begin no new rollout until resume', () => import('./commands/steer.ts')],
    resume: ['let a paused run continue', () => import('./commands/steer.ts')],
    tune: ['change the number of rollouts in flight', () => import('./commands/steer.ts')],
    'update-weights': [
      'load new weights into every server of a running run',
      () => import('./commands/update-weights.ts'),
    ],
    verdict: ["a person's verdict on one turn, beside the judge's", () => import('./commands/act.ts')],
    note: ["a person's note on one rollout", () => import('./commands/act.ts')],
    fork: ['play one rollout again from a turn on, as a new run', () => import('./commands/fork.ts')],
    extend: ['play further turns of one rollout, as a new run', () => import('./commands/fork.ts')],
    retry: ['play a rollout once more that failed or was undecided', () => import('./commands/retry.ts')],
    cancel: ['end a run; finished turns stay stored', () => import('./commands/steer.ts')],
  },
  'Run the service': {
    doctor: ['try everything that a run needs, and say what to do', () => import('./commands/doctor.ts')],
    config: ['each setting of a run, and where it comes from', () => import('./commands/config.ts')],
    up: [
      'start the local service: Temporal server and worker, in the background',
      () => import('./commands/service.ts'),
    ],
    down: ['end the local service', () => import('./commands/service.ts')],
    worker: ['a worker process; any number, on any machine', () => import('./commands/worker.ts')],
    'serve-json': ['the library as lines of JSON, for the Python package', () => import('./commands/serve-json.ts')],
  },
} as const;

/** Help does not list them. */
const HIDDEN: readonly string[] = ['serve-json'];

const NAMES = Object.values(COMMANDS).flatMap((group) => Object.keys(group));

export async function buildProgram(io: Io, args: readonly string[], exit: (code: ExitCode) => void): Promise<Command> {
  const program = new Command('everturn')
    .description('Plays every problem of a data set turn by turn with a language model, durably.')
    .version(everturnVersion(), '-V, --version')
    .usage('<command> [options]')
    .showSuggestionAfterError()
    .configureHelp({ sortOptions: false, showGlobalOptions: false })
    .configureOutput({
      writeOut: (text) => void io.out.write(typable(io, text)),
      writeErr: (text) => void io.err.write(visible(text)),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      outputError: (text, write) => write(usageText(meant(text, program, called), called)),
    })
    .exitOverride()
    .addOption(verbose())
    .addHelpText('after', '\nStart with: everturn demo\nEach command explains itself: everturn <command> --help');

  const [first, second] = args.filter((arg) => !arg.startsWith('-'));
  const called = first === 'help' ? second : first;
  const asksHelp = first === 'help' || args.includes('--help') || args.includes('-h');
  if (asksHelp && called !== undefined && called !== 'help' && !NAMES.includes(called)) {
    const message = `There is no command ${JSON.stringify(called)}.`;
    throw unusable(message, '`everturn --help` lists them all.', 'unknown-command');
  }
  for (const [group, commands] of Object.entries(COMMANDS)) {
    for (const [name, [summary, load]] of Object.entries<readonly [string, () => Promise<object>]>(commands)) {
      const command = program
        .command(name, { hidden: HIDDEN.includes(name) })
        .summary(summary)
        .description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`)
        .helpGroup(`${group}:`);
      if (name !== called) continue;
      const module = (await load()) as Readonly<Record<string, CommandModule>>;
      const exported = name.replace(/-./g, ([, letter]) => letter!.toUpperCase());
      module[exported]!.define(command, io, exit, args.includes('--all'));
      command.addOption(verbose());
    }
  }
  return program;
}

const verbose = (): Option => new Option('--verbose', 'show the stack of an error');

/** Commander suggests names that are spelled alike; `--turns` is a part of --num-turns. */
function meant(text: string, program: Command, called: string | undefined): string {
  const word = /^error: unknown option '--([\w-]+)'$/.exec(text.trim())?.[1];
  const options = program.commands.find((command) => command.name() === called)?.options ?? [];
  const like = options.flatMap(({ long }) => (word && long?.split('-').includes(word) ? [long] : []));
  return like.length === 0 || like.length > 3 ? text : `${text.trim()} (Did you mean ${like.join(' or ')}?)`;
}

/** Commander's message as one paragraph that names the command. */
export function usageText(text: string, called: string | undefined): string {
  const words = text
    .replace(/^error: /, '')
    .trim()
    .split('\n')
    .join(' ');
  const command = called !== undefined && NAMES.includes(called) ? `everturn ${called}` : 'everturn';
  return `${command}: ${words}${/[.?!)]$/.test(words) ? '' : '.'} See \`${command} --help\`.\n`;
}
