// Reads what a sandboxed command prints: takes off the two marks that are ours, counts the rest, and keeps it.

export const READY = 'ready\n';
export const GO = 'go\n';

/** `starting` until it is ready, `given` until the program begins. */
export type Stage = 'starting' | 'given' | 'running';

const KEPT_ERROR_CHARS = 16 * 1024;

/** `outputBytes`, `errorBytes`: the most that each stream may hold. */
export function createReader(outputBytes: number, errorBytes: number) {
  let stage: Stage = 'starting';
  let head = '';
  let printed: Buffer[] = [];
  let printedBytes = 0;
  let errors = '';
  let complainedBytes = 0;
  return {
    stage: () => stage,
    /** False when the program has printed more than it may. */
    print(chunk: Buffer): boolean {
      let rest = chunk;
      while (stage !== 'running' && rest.length > 0) {
        const mark = stage === 'starting' ? READY : GO;
        const taken = rest.subarray(0, mark.length - head.length);
        head += taken.toString('latin1');
        rest = rest.subarray(taken.length);
        if (head.length < mark.length) return true;
        if (head !== mark) return false;
        head = '';
        stage = stage === 'starting' ? 'given' : 'running';
      }
      printedBytes += rest.length;
      if (printedBytes > outputBytes) {
        printed = [];
        return false;
      }
      if (rest.length > 0) printed.push(rest);
      return true;
    },
    /** False when the program has written more to standard error than it may. */
    complain(chunk: Buffer): boolean {
      errors = (errors + chunk.toString('utf8')).slice(-KEPT_ERROR_CHARS);
      complainedBytes += chunk.length;
      return complainedBytes <= errorBytes;
    },
    finish: () => ({ stage, output: Buffer.concat(printed), errors }),
  };
}
