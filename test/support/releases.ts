// The workflows of the release before this one and of the one after it, as far as the patch of today goes: the
// one does not know it, the other has no way without it. CONTRIBUTING.md, "Changing a workflow".

import type { Alteration } from './altered-bundle.ts';

const file = 'workflows/progress.ts';
const patched = '&& patched(FOUND_WHILE_PLAYED)';

export const PREVIOUS_RELEASE: readonly Alteration[] = [{ file, from: patched, to: '&& false' }];

export const NEXT_RELEASE: readonly Alteration[] = [
  { file, from: '  patched,\n', to: '  deprecatePatch,\n  patched,\n' },
  { file, from: patched, to: '' },
  {
    file,
    from: '        upsertSearchAttributes([\n',
    to: '        deprecatePatch(FOUND_WHILE_PLAYED);\n        upsertSearchAttributes([\n',
  },
];

/** What nobody may release: the new way, and no patch. */
export const UNPATCHED: readonly Alteration[] = [{ file, from: patched, to: '' }];
