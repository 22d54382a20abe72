// `everturn completion <shell>`: a script for bash, zsh or fish that asks this program at each tab, so it is never out of
// date: commands, flags, their values, runs and query ids. Only texts that no shell would expand are offered.

import type { Command } from 'commander';
import { resolvePlace } from '../../records/place.ts';
import { command } from '../command.ts';
import { print, type Io } from '../io.ts';
import { DEFAULT_OUT } from '../flags.ts';
import { buildProgram } from '../program.ts';
import { placeOf, runNames } from '../find/place.ts';

const SHELLS = ['bash', 'zsh', 'fish', 'reply'] as const;

export const completion = command({
  args: {
    '<shell>': { help: 'bash, zsh or fish', choices: SHELLS },
    '[words...]': 'for the script: the words typed so far',
  },
  flags: {},
  help:
    'Examples:\n' +
    '  everturn completion bash >> ~/.bashrc\n' +
    '  everturn completion zsh > "${fpath[1]}/_everturn"\n' +
    '  everturn completion fish > ~/.config/fish/completions/everturn.fish',
  async run(io, { shell, words }) {
    if (shell !== 'reply') return { text: SCRIPTS[shell as keyof typeof SCRIPTS] };
    for (const word of await candidates(io, words)) print(io, word);
    return {};
  },
});

const SCRIPTS = {
  bash: `# everturn completion for bash
_everturn() {
  local IFS=$'\\n'
  COMPREPLY=($("\${COMP_WORDS[0]}" completion reply -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _everturn everturn
`,
  zsh: `#compdef everturn
# everturn completion for zsh
_everturn() {
  local -a found
  found=("\${(@f)$("\${words[1]}" completion reply -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${found[1]}" ]]; then compadd -a found; else _files; fi
}
if [[ "\${funcstack[1]}" = "_everturn" ]]; then _everturn "$@"; else compdef _everturn everturn; fi
`,
  fish: `# everturn completion for fish
complete -c everturn -a '(everturn completion reply -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)'
`,
};

/** No quote, blank, glob or expansion, and no dash at the beginning: an id is hostile text. */
const PLAIN = /^[\w@%+=:,./][\w@%+=:,./-]*$/;
const MOST_QUERIES = 2000;
const MOST_SHOWN = 200;

/** `words`: those after the program's name; the last one is being typed. */
export async function candidates(io: Io, words: readonly string[]): Promise<string[]> {
  const typed = words.at(-1) ?? '';
  try {
    const found = await possible(io, words.slice(0, -1), typed);
    return found.filter((word) => word.startsWith(typed)).slice(0, MOST_SHOWN);
  } catch {
    return [];
  }
}

async function possible(io: Io, before: readonly string[], typed: string): Promise<readonly string[]> {
  const [name] = before;
  const program = await buildProgram(io, name === undefined ? [] : [name, '--all'], () => undefined);
  if (name === undefined || name === 'help') return [...program.commands.map((c) => c.name()), ...flagsOf(program)];
  const command = program.commands.find((c) => c.name() === name);
  if (!command) return [];
  const { positional, flag } = parsed(command, before.slice(1));
  if (flag) return flag.argChoices ?? [];
  if (typed.startsWith('-')) return flagsOf(command);
  const argument = command.registeredArguments[positional.length];
  if (!argument) return [];
  if (argument.argChoices) return argument.argChoices;
  const out = resolvePlace(io.cwd, outOf(before) ?? DEFAULT_OUT);
  if (['run', 'a', 'b'].includes(argument.name())) return (await runNames(out)).filter((run) => PLAIN.test(run));
  return argument.name() === 'query' ? queriesOf(out, positional[0]!, typed) : [];
}

const flagsOf = (command: Command): string[] => [
  ...command.options.flatMap(({ long, hidden }) => (long && !hidden ? [long] : [])),
  '--help',
];

/** The arguments given so far, and the flag that waits for its value. */
function parsed(command: Command, given: readonly string[]) {
  const positional: string[] = [];
  let flag: Command['options'][number] | undefined;
  for (const word of given) {
    if (flag) flag = undefined;
    else if (word.startsWith('-') && word.length > 1) {
      const option = command.options.find(({ long, short }) => word === long || word === short);
      flag = option && (option.required || option.optional) ? option : undefined;
    } else positional.push(word);
  }
  return { positional, flag };
}

function outOf(words: readonly string[]): string | undefined {
  const at = words.findIndex((word) => word === '--out' || word.startsWith('--out='));
  return at < 0 ? undefined : words[at]!.slice('--out='.length) || words[at + 1];
}

async function queriesOf(out: string, run: string, typed: string): Promise<string[]> {
  if (!(await runNames(out)).includes(run)) return [];
  const queries = await placeOf(out, run).store.readQueries(0, MOST_QUERIES);
  return queries.map(({ queryId }) => queryId).filter((id) => id.startsWith(typed) && PLAIN.test(id));
}
