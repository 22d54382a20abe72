// `everturn completion <shell>`: a script for bash, zsh or fish that asks this program at each tab, so it is never out of
// date: commands, flags, their values, runs and query ids. Only texts that no shell would expand are offered.

import { command } from '../command.ts';
import { candidates } from '../find/candidates.ts';
import { print } from '../io.ts';

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
