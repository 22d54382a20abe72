// For replay.test.ts: blocks and their roots that do something else than those of today, each with the histories that
// must catch it.

import type { Alteration } from '../support/altered-bundle.ts';

export interface AlteredWorkflow {
  readonly what: string;
  readonly caughtBy: RegExp;
  readonly alterations: readonly Alteration[];
}

export const altered = (what: string, caughtBy: RegExp, file: string, from: string, to: string): AlteredWorkflow => ({
  what,
  caughtBy,
  alterations: [{ file: `workflows/${file}.ts`, from, to }],
});

export const OF_BLOCKS: readonly AlteredWorkflow[] = [
  altered(
    'a block that has more in flight than its order says',
    /blocks-(waiting|signalled|struck-while-stopping)-block/,
    'block',
    'state.maxConcurrent = order.limit;',
    'state.maxConcurrent = 100;',
  ),
  altered(
    'those that wait for a slot are cancelled like the others',
    /blocks-waiting-block/,
    'children',
    'if (!many) return state.inFlight.forEach(cancel);',
    'return state.inFlight.forEach(cancel);',
  ),
  altered(
    'those that were counted are cancelled once more',
    /blocks-waiting-block/,
    'children',
    '(cancelledLater ? units.filter((unit) => state.inFlight.includes(unit)) : state.inFlight).forEach(cancel);',
    'units.forEach(cancel);',
  ),
  altered('all starts at once', /in-step/, 'play-window', 'children.starting() >= mostStarting', 'false'),
  altered(
    'those that do not exist yet are cancelled with the others',
    /in-step-stopped-block/,
    'children',
    'starting.size > 0;',
    'false;',
  ),
  altered(
    'a block without a root that goes on',
    /blocks-left-alone-block/,
    'block',
    'state.to = isAlone ? state.next : undefined;',
    'state.to = undefined;',
  ),
  altered(
    'orders that are not sent',
    /blocks-(struck|taken)/,
    'blocks',
    "block.state === 'absent' ? start(block) : send(block);",
    "block.state === 'absent' ? start(block) : Promise.resolve();",
  ),
  altered(
    'a block that is gone for good',
    /blocks-struck/,
    'blocks',
    "else if (block.state === 'open') block.state = 'absent';",
    '',
  ),
  altered(
    'a block that stops without what had begun',
    /blocks-struck-while-stopping-block/,
    'block',
    'state.stopping = state.counting = true;',
    'state.stopping = true;',
  ),
  altered(
    'a run that never outgrows its workflow',
    /blocks-outgrown/,
    'collection',
    "if (end === 'outgrown')",
    'if (false)',
  ),
];
