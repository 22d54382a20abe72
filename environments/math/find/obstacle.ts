// Why a text states no answer: the words at which the grammar of statements stopped, for people who ask. The last one that was met
// counts; it never changes a verdict.

let met: string | undefined;

/** Says no, because of these words. */
export function stopped(rule: string, words = ''): false {
  met = words === '' ? rule : `${rule}: ${words.trim().slice(0, SHOWN_CHARS)}`;
  return false;
}

const SHOWN_CHARS = 80;

/** The obstacle that was met since the last call. */
export function takeObstacle(): string | undefined {
  const taken = met;
  met = undefined;
  return taken;
}
