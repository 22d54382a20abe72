// The door: all that a worker and the activities import of the room that runs an agent's program.

export type { AgentEnded, Agents, AnswerCall, AskSide, RecordedReply, RefusedCall } from './agents.ts';
export { createAgents } from './program.ts';
export { serveSessions, type SessionsOptions } from './sessions.ts';
