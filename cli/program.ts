// All commands by name, and the program that runs one of them. A command's module is loaded only if it
// was called or asked for help.

import { visible } from '../domain/text/foreign-text.ts';
import { Command, Option } from 'commander';
import { everturnVersion } from '../local/machine/package-root.ts';
import { type CommandModule, unusable } from './command.ts';
import type { ExitCode } from './exit.ts';
import { type Io, typable } from './io.ts';

const SUMMARIES = {
  Play: {
    demo: 'play a small data set with the shipped model and show the result',
    run: 'play a data set, or attach to the run that does',
    watch: 'follow a run to its end',
    env: 'write an environment of your own, and try it without a model',
    feed: "serve a run's groups to a trainer, over HTTP",
  },
  Look: {
    list: 'list the runs',
    status: 'the progress of a run',
    show: 'one trajectory, turn by turn',
    why: 'what a rollout waits for, or why it ended as it did',
    view: 'all runs in the browser: turns, tokens, verdicts, live',
    report: 'a run as one HTML file that opens from disk',
    log: 'the numbers of a training run by weight version, as it goes on',
    stats: 'every number of a run, with n, interval and definition',
    compare: 'two runs of the same queries, with a test of the difference',
    search: 'where a text occurs in a run',
    check: "prove a run's folder",
    judge: 'judge answers, or a run again, without a model or Temporal',
    export: 'write a run in a format that trainers read',
  },
  Steer: {
    pause: 'begin no new rollout until resume',
    resume: 'let a paused run continue',
    tune: 'change the number of rollouts in flight',
    'update-weights': 'load new weights into every server of a running run',
    verdict: "a person's verdict on one turn, beside the judge's",
    note: "a person's note on one rollout",
    fork: 'play one rollout again from a turn on, as a new run',
    extend: 'play further turns of one rollout, as a new run',
    retry: 'play a rollout once more that failed or was undecided',
    say: 'a message to one rollout in flight',
    cancel: 'end a run; finished turns stay stored',
  },
  'Run the service': {
    doctor: 'try everything that a run needs, and say what to do',
    config: 'each setting of a run, and where it comes from',
    completion: 'completion for bash, zsh or fish',
    up: 'start the local service: Temporal server and worker, in the background',
    down: 'end the local service',
    worker: 'a worker process; any number, on any machine',
  },
} as const;

const LOADERS: Readonly<Record<string, () => Promise<CommandModule>>> = {
  demo: async () => (await import('./commands/run.ts')).demo,
  run: async () => (await import('./commands/run.ts')).run,
  watch: async () => (await import('./commands/watch.ts')).watch,
  env: async () => (await import('./commands/env.ts')).env,
  feed: async () => (await import('./commands/feed.ts')).feed,
  list: async () => (await import('./commands/list.ts')).list,
  status: async () => (await import('./commands/status.ts')).status,
  show: async () => (await import('./commands/show.ts')).show,
  why: async () => (await import('./commands/why.ts')).why,
  view: async () => (await import('./commands/view.ts')).view,
  report: async () => (await import('./commands/report.ts')).report,
  log: async () => (await import('./commands/log.ts')).log,
  stats: async () => (await import('./commands/stats.ts')).stats,
  compare: async () => (await import('./commands/compare.ts')).compare,
  search: async () => (await import('./commands/search.ts')).search,
  check: async () => (await import('./commands/check.ts')).check,
  judge: async () => (await import('./commands/judge.ts')).judge,
  export: async () => (await import('./commands/export.ts')).exported,
  pause: async () => (await import('./commands/steer.ts')).pause,
  resume: async () => (await import('./commands/steer.ts')).resume,
  tune: async () => (await import('./commands/steer.ts')).tune,
  cancel: async () => (await import('./commands/steer.ts')).cancel,
  'update-weights': async () => (await import('./commands/update-weights.ts')).updateWeights,
  verdict: async () => (await import('./commands/act.ts')).verdict,
  note: async () => (await import('./commands/act.ts')).note,
  say: async () => (await import('./commands/act.ts')).say,
  fork: async () => (await import('./commands/fork.ts')).fork,
  extend: async () => (await import('./commands/fork.ts')).extend,
  retry: async () => (await import('./commands/retry.ts')).retry,
  doctor: async () => (await import('./commands/doctor.ts')).doctor,
  config: async () => (await import('./commands/config.ts')).config,
  completion: async () => (await import('./commands/completion.ts')).completion,
  up: async () => (await import('./commands/service.ts')).up,
  down: async () => (await import('./commands/service.ts')).down,
  worker: async () => (await import('./commands/worker.ts')).worker,
};

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
  if (asksHelp && called !== undefined && called !== 'help' && !Object.hasOwn(LOADERS, called)) {
    const message = `There is no command ${JSON.stringify(called)}.`;
    throw unusable(message, '`everturn --help` lists them all.', 'unknown-command');
  }
  for (const [group, commands] of Object.entries(SUMMARIES)) {
    for (const [name, summary] of Object.entries(commands)) {
      const command = program
        .command(name)
        .summary(summary)
        .description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`)
        .helpGroup(`${group}:`);
      if (name !== called) continue;
      (await LOADERS[name]!()).define(command, io, exit, args.includes('--all'));
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
  const command = called !== undefined && Object.hasOwn(LOADERS, called) ? `everturn ${called}` : 'everturn';
  return `${command}: ${words}${/[.?!)]$/.test(words) ? '' : '.'} See \`${command} --help\`.\n`;
}
