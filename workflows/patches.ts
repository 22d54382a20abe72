// Changes of workflow code that older histories do not know, by the name that `patched` writes into a history. How a patch comes, stays and goes: CONTRIBUTING.md, "Changing a workflow".

/** A rollout that was started alone carries its run and query from its first step on; without the patch, from its end. */
export const FOUND_WHILE_PLAYED = 'found-while-played';

/** A pause in the same task as the resume before it takes effect; without the patch the next turn began. */
export const PAUSED_AGAIN = 'paused-again';

/** A step that fails after a stop ends its rollout as cancelled; without the patch, as failed. */
export const STOPPED_NOT_FAILED = 'stopped-not-failed';

/** Updates in the first task of a continued collection take effect; without the patch they were lost. */
export const STEERED_EARLY = 'steered-early';

/** A collection publishes its progress in its memo too; without the patch, to queries alone. */
export const TOLD_IN_MEMO = 'told-in-memo';

/** A rollout that is cancelled while it opens has a record of its end; without the patch, none. */
export const RECORDED_WHEN_CANCELLED = 'recorded-when-cancelled';

/**
 * A collection's memo is due by the rollouts that ended since; without the patch, by the time, which a replay sees
 * otherwise: there a local activity that lasted through several tasks ends in its first one.
 */
export const TOLD_BY_COUNT = 'told-by-count';

/**
 * The time and the length of the history decide nothing (workflows/history-steps.ts); without the patch, they decided when
 * an execution continued as new and when a lease ended.
 */
export const REPLAYED_ALIKE = 'replayed-alike';

/** Every rewind begins a line that the verbs of its trainer carry; without the patch, one that changed nothing did not. */
export const FENCED_BY_LINE = 'fenced-by-line';

/** A run with more in flight than one workflow can have is played in blocks; without the patch, in one workflow. */
export const IN_BLOCKS = 'in-blocks';

/** Rollouts of a block that were cancelled are followed together; without the patch, each by an activity of its own. */
export const FOLLOWED_TOGETHER = 'followed-together';

/** Rollouts of a cancelled block that only wait are ended by activities; without the patch, each by its own workflow. */
export const ENDED_WHERE_THEY_WAIT = 'ended-where-they-wait';

/** Few starts of a window wait for the server's acknowledgement at a time; without the patch, all that the window has room for. */
export const STARTED_IN_STEP = 'started-in-step';
