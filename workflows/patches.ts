// The changes of workflow code that histories in flight do not know yet, by the name that `patched` writes into
// a history. How a patch comes, stays and goes: CONTRIBUTING.md, "Changing a workflow".

/** Since after 0.1.0: a rollout that was started by itself carries its run and query from its first step on. */
export const FOUND_WHILE_PLAYED = 'found-while-played';
