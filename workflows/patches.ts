// The changes of workflow code that histories in flight do not know yet, by the name that `patched` writes into
// a history. How a patch comes, stays and goes: CONTRIBUTING.md, "Changing a workflow".

/** Since after 0.1.0: a rollout that was started by itself carries its run and query from its first step on. */
export const FOUND_WHILE_PLAYED = 'found-while-played';

/** A pause that comes at once with the resume before it holds; without the patch the next turn began. */
export const PAUSED_AGAIN = 'paused-again';

/** Work that was asked to end and fails ends its rollout as cancelled; without the patch, as failed. */
export const STOPPED_NOT_FAILED = 'stopped-not-failed';

/** Updates in the first task of a continued collection take effect; without the patch they were lost. */
export const STEERED_EARLY = 'steered-early';

/** A collection publishes its progress in its memo too; without the patch, to queries alone. */
export const TOLD_IN_MEMO = 'told-in-memo';
