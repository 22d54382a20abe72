// The options of a run whose agent is a program.

import { DEFAULT_AGENT_SECONDS, DEFAULT_MAX_CALLS, MAX_AGENT_SECONDS, MAX_CALLS } from '../domain/agent/program.ts';
import { z } from 'zod';
import { option, whole } from './field.ts';

const ON_DIVERGENCE = ['branch', 'fail'] as const;

export const PROGRAM_FIELDS = {
  agentTimeout: option({
    schema: whole(1, MAX_AGENT_SECONDS),
    default: DEFAULT_AGENT_SECONDS,
    argument: '<n>',
    help: 'with a program as --agent: seconds that it may take for one rollout',
  }),
  maxCalls: option({
    schema: whole(1, MAX_CALLS),
    default: DEFAULT_MAX_CALLS,
    argument: '<n>',
    help: 'with a program as --agent: calls of the model in one rollout, at most; a further one is refused',
  }),
  onDivergence: option({
    schema: z.enum(ON_DIVERGENCE, 'branch or fail'),
    default: 'branch',
    argument: '<branch|fail>',
    help: 'with a program as --agent, run again after a crash, that does not make its calls again: goes on from there, or fails',
  }),
};
