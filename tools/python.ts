// The tool `python`: runs a program in the sandbox of the code judge, alone, without network and without input. What it
// prints is its result; a program that fails has its traceback, as in a terminal. Each call begins anew.

import type { ToolRecord } from '../domain/tool.ts';
import type { CodeEnvironment } from '../environments/code/code-environment.ts';
import type { Door } from './index.ts';

export const PYTHON: ToolRecord = {
  name: 'python',
  description:
    'Runs a Python 3 program in a sandbox and returns what it prints. Each call begins anew: nothing is kept between calls. ' +
    'Only the standard library; no network.',
  parameters: {
    type: 'object',
    properties: { code: { type: 'string', description: 'The whole program. Print what you want to see.' } },
    required: ['code'],
    additionalProperties: false,
  },
  effect: 'pure',
  timeoutSeconds: 20,
  door: 'python',
  spec: ['python'],
  // Of its contract: the sandbox is the worker's.
  fingerprint: '0'.repeat(64),
};

export function pythonDoor({ run }: Pick<CodeEnvironment, 'run'>): Door {
  return {
    async call({ timeoutSeconds }, { arguments: given, signal, before }) {
      await before();
      const program = String(given['code']);
      const { ending, exitCode, output, errors } = await run(program, { wallMs: timeoutSeconds * 1000, signal });
      const printed = output.toString('utf8');
      const trouble = errors.trim();
      const ended = ending === 'exited' ? '' : `[ended by the ${ending} of the sandbox]`;
      const text = [printed.trimEnd(), trouble, ended].filter((part) => part !== '').join('\n');
      const outcome = ending === 'wall-limit' ? 'timed-out' : ending === 'exited' && exitCode === 0 ? 'ok' : 'failed';
      return { text: text === '' ? '[it printed nothing]' : text, outcome };
    },
    close: () => undefined,
  };
}
