// The options of a run whose agent is a program.

import { DEFAULT_AGENT_SECONDS, DEFAULT_MAX_CALLS, MAX_AGENT_SECONDS, MAX_CALLS } from '../domain/agent/program.ts';
import { z } from 'zod';
import { type Field, whole } from './field.ts';

export interface ProgramOptions {
  /** Seconds that one attempt of the program may take. */
  readonly agentTimeout: number;
  /** Calls of the model in one rollout. */
  readonly maxCalls: number;
  /** After a crash: an agent that does not make again the calls that it made. */
  readonly onDivergence: (typeof ON_DIVERGENCE)[number];
}

const ON_DIVERGENCE = ['branch', 'fail'] as const;

export const PROGRAM_FIELDS: { readonly [K in keyof ProgramOptions]: Field<ProgramOptions[K]> } = {
  agentTimeout: {
    schema: whole(1, MAX_AGENT_SECONDS),
    argument: '<n>',
    help: 'with a program as --agent: seconds that it may take for one rollout',
  },
  maxCalls: {
    schema: whole(1, MAX_CALLS),
    argument: '<n>',
    help: 'with a program as --agent: calls of the model in one rollout, at most; a further one is refused',
  },
  onDivergence: {
    schema: z.enum(ON_DIVERGENCE, 'branch or fail'),
    argument: '<branch|fail>',
    help: 'with a program as --agent, run again after a crash, that does not make its calls again: goes on from there, or fails',
  },
};

export const DEFAULT_PROGRAM_OPTIONS: ProgramOptions = {
  agentTimeout: DEFAULT_AGENT_SECONDS,
  maxCalls: DEFAULT_MAX_CALLS,
  onDivergence: 'branch',
};
