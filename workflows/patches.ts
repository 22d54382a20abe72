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

/** Every rewind begins a line that the verbs of its trainer carry; without the patch, one that changed nothing did not. */
export const FENCED_BY_LINE = 'fenced-by-line';
