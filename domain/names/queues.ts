// Task queue names: part of the contract.

/** Workflows and light activities. */
export const TASK_QUEUE = 'everturn';
/** Generation only: one slot for each request that the model may have in flight. */
export const GENERATE_QUEUE = 'everturn-generate';
/** Calls of users' own environments. */
export const ENVIRONMENT_QUEUE = 'everturn-environment';
/** Judging of model-written code: polled only by workers with a proven sandbox. */
export const CODE_QUEUE = 'everturn-code';
/** Programs of agents, each of which holds its slot until it ends. */
export const AGENT_QUEUE = 'everturn-agent';
/** Agents that run elsewhere: polled only by workers that hand out sessions. */
export const SESSION_QUEUE = 'everturn-session';
