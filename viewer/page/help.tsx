// The keys of the viewer, and the words of its filter.

import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Facts } from './parts.tsx';

const KEYS: readonly (readonly [string, string])[] = [
  ['j  k', 'next and previous row, or rollout'],
  ['Enter', 'open the row'],
  ['n  p', 'next and previous turn'],
  ['s', 'next sample of the query'],
  ['t', 'tokens of the turn'],
  ['←  →', 'in tokens: the token before and after'],
  ['x', 'expand or fold what the model was shown'],
  ['r', 'texts rendered, or as they were written'],
  ['c', 'compare the run, or the query, with another run'],
  ['z', 'the list alone in the window, and back'],
  ['Space', 'in flight: hold still, and go on'],
  ['y', 'copy the address of what is seen'],
  ['/', 'filter, or search'],
  ['Esc', 'back'],
  ['d', 'light or dark'],
  ['?', 'this'],
];

const WORDS: readonly (readonly [string, string])[] = [
  ['carry "the one"', 'words in the id or the question'],
  ['outcome:failed', 'complete, undecided, failed, cancelled, open'],
  ['reason:no-answer', 'of the judge or of the failure'],
  ['right@1:no right@T:yes', 'at turn 1, at the last turn'],
  ['has:repair has:spoil', 'wrong, then right; right, then wrong'],
  ['has:message', 'a person’s message is in its context'],
  ['has:note has:verdict', 'a person’s note or verdict on it'],
  ['tokens>2000 seconds>=10 turns:5', 'also sample, attempt, version, return'],
  ['finish:length found:42', 'how a turn ended, what was found; also server'],
  ['-outcome:complete', 'without'],
];

export function Help({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={onClose}>
      <h2 id="help-title">Keys</h2>
      <Facts facts={KEYS} />
      <h2>Filter</h2>
      <Facts facts={WORDS} />
      <form method="dialog">
        <button>Close</button>
      </form>
    </dialog>
  );
}
