// The tool `python`: runs a program in the sandbox of the code judge, alone, without network and without input. Its
// output is its result; a program that fails has its traceback, as in a terminal. Nothing is kept between calls.

import type { ToolRecord } from '../../domain/tools/tool.ts';
import type { CodeEnvironment } from '../code/code-environment.ts';
import { python } from '../../packages/sandbox/index.ts';
import type { Door } from './index.ts';

export const PYTHON: ToolRecord = {
  name: 'python',
  description:
    'Runs a Python 3 program in a sandbox and returns what it prints. Each call starts from nothing: nothing is kept between calls. ' +
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
  // The fingerprint stands for its contract: the sandbox is the worker's.
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
      const reason = ending !== 'exited' ? ending : exitCode > 128 ? python.reasonOf(exitCode, errors) : null;
      const ended = reason === null ? '' : `[ended by the sandbox: ${reason}]`;
      const text = [printed.trimEnd(), trouble, ended].filter((part) => part !== '').join('\n');
      const outcome =
        reason === 'wall-limit' || reason === 'cpu-limit'
          ? 'timed-out'
          : ending === 'exited' && exitCode === 0
            ? 'ok'
            : 'failed';
      return { text: text === '' ? '[it printed nothing]' : text, outcome };
    },
    close: () => undefined,
  };
}
