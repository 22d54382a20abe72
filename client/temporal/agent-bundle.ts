// Bundles an agent's function, with all that it imports, into workflow code, when its run is made: the same sources give the
// same bytes.

import { createHash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { AgentError } from '../../domain/errors/errors.ts';

export interface AgentCode {
  readonly code: string;
  readonly sha256: string;
}

interface Named {
  readonly resourcePath: string;
}

/** `root`: the folder of this package. Throws AgentError. */
export async function bundleAgent(path: string, root: string): Promise<AgentCode> {
  const problems: string[] = [];
  const logger = new DefaultLogger('ERROR', ({ message }) => void problems.push(message));
  try {
    const { code } = await bundleWorkflowCode({
      workflowsPath: join(root, 'dist/workflows/agent-entry.js'),
      payloadConverterPath: join(root, 'dist/workflows/payloads.js'),
      logger,
      webpackConfigHook: (config) => ({
        ...config,
        // The worker wants a map of the sources; it names no folder of this machine.
        devtool: 'inline-nosources-source-map',
        output: {
          ...config.output,
          // A module that threw throws again when it is asked for again.
          strictModuleErrorHandling: true,
          devtoolModuleFilenameTemplate: (of: Named) => `agent:///${basename(of.resourcePath)}`,
        },
        context: dirname(path),
        resolve: {
          ...config.resolve,
          modules: ['node_modules', join(root, 'node_modules')],
          alias: {
            ...(config.resolve?.alias as Record<string, string>),
            'everturn/agent': join(root, 'dist/workflows/agent-function.js'),
            'everturn/ai-sdk': join(root, 'dist/workflows/ai-sdk.js'),
            'everturn/own-agent$': path,
          },
        },
      }),
    });
    return { code, sha256: createHash('sha256').update(code).digest('hex') };
  } catch (cause) {
    throw new AgentError(`The agent ${basename(path)} cannot be bundled: ${problemIn(problems.join('\n'), cause)}.`, {
      reason: 'agent-not-run',
      fix: 'A function is deterministic: it has no modules of Node and no network. Its side effects are activities.',
    });
  }
}

const MOST_LINES = 6;

/** The first error of webpack, without the trace and the list of what it bundled. */
function problemIn(said: string, cause: unknown): string {
  const [, error] = /^ERROR in (.*)/ms.exec(said) ?? [];
  if (error === undefined) return cause instanceof Error ? cause.message : String(cause);
  const lines = error.split('\n').filter((line) => line.trim() !== '');
  const end = lines.findIndex((line) => /^\s+at |^resolve '|^Caused by/.test(line));
  return lines.slice(0, end < 0 ? MOST_LINES : Math.min(end, MOST_LINES)).join('\n');
}
