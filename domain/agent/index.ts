// The door of agents' calls: what others import of how a program's requests, their records and its program are named.

export { MOST_IN_VAIN, refusedForm, repliesInVain, withoutForm, withReplyForm } from './asked-form.ts';
export {
  ASKED,
  ASKED_CALL,
  type AskedCall,
  type AskedRecord,
  GIVEN_REPLY,
  type GivenReply,
  wholeRequest,
} from './call-record.ts';
export { callTag, TAG_RULE } from './call-tag.ts';
export { type AnsweredCall, type BranchReason, isBeginningOf, isEcho, placeInTree } from './call-tree.ts';
export {
  abandonedCalls,
  type Claim,
  claimCall,
  claimsOfAttempt,
  type RetryHint,
  unclaimedCalls,
  withConnectionEnded,
  withReplyDoubted,
} from './claims.ts';
export {
  type AgentMessage,
  type AgentRequest,
  type AgentToolCall,
  type AskedRequest,
  type CallLabel,
  messageForms,
  plainMessages,
  prefillOf,
  type RecordedRequest,
  requestHash,
  requestText,
  type ToolChoice,
  withKnownMessages,
} from './conversation.ts';
export {
  flawOfReward,
  joinLastWords,
  type LastWords,
  lastWordsInLine,
  parseCallReward,
  parseLastWords,
} from './last-words.ts';
export {
  AGENT_ENTRY,
  type AgentEnd,
  type AgentEntry,
  agentFunctionQueue,
  type ContainerRecord,
  CONTAINERS,
  type Cut,
  CUTS,
  DEFAULT_AGENT_SECONDS,
  DEFAULT_MAX_CALLS,
  FUNCTION,
  type FunctionCall,
  type FunctionInput,
  type FunctionOutput,
  idempotencyKey,
  isFunction,
  isSession,
  MAX_AGENT_SECONDS,
  MAX_CALLS,
  PROGRAM,
  programFacts,
  type ProgramFacts,
  type ProgramRecord,
  programTitle,
  SESSION,
  tooLong,
  type Verified,
} from './program.ts';
export { type Asks, type ReplyForm, replyForm, type Structured } from './reply-form.ts';
export {
  type AgentReply,
  callIdOf,
  callNamedBy,
  callsNamedIn,
  itemId,
  jsonOrText,
  placeInId,
  replyMessage,
} from './reply.ts';
export { parseSideModel, SIDE, type SideModel, type SideRecord } from './side-model.ts';
export {
  DEFAULT_BUILD_SECONDS,
  DEFAULT_VERIFIER_SECONDS,
  HARBOR_SCHEME,
  HARBOR_TASK,
  type HarborTask,
  MAX_VERIFIER_SECONDS,
  taskOfRow,
} from './task.ts';
export { isTrainedCall, parseTrainCalls, TRAIN_CALLS_FORM } from './train-calls.ts';
