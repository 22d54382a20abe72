// Reads what a sandboxed command prints: takes off the two marks that are ours, counts the rest, and keeps it.

export const READY = 'ready\n';
export const GO = 'go\n';

/** `starting` until it is ready, `given` until the program begins. */
export type Stage = 'starting' | 'given' | 'running';

const KEPT_ERROR_CHARS = 16 * 1024;

export function createReader(limitBytes: number) {
  let stage: Stage = 'starting';
  let head = '';
  let printed: Buffer[] = [];
  let bytes = 0;
  let errors = '';
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
      bytes += rest.length;
      if (bytes > limitBytes) {
        printed = [];
        return false;
      }
      if (rest.length > 0) printed.push(rest);
      return true;
    },
    /** False when both streams together hold more than they may. */
    complain(chunk: Buffer): boolean {
      errors = (errors + chunk.toString('utf8')).slice(-KEPT_ERROR_CHARS);
      bytes += chunk.length;
      return bytes <= limitBytes;
    },
    finish: () => ({ stage, output: Buffer.concat(printed), errors }),
  };
}
