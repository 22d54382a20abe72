// Reads the output of a sandboxed command: removes our two marks, counts the rest, and stores it.

export const READY = 'ready\n';
export const GO = 'go\n';

/** `starting` until it is ready, `given` until the program begins. */
export type Stage = 'starting' | 'given' | 'running';

const KEPT_ERROR_CHARS = 16 * 1024;

/** `outputBytes`, `errorBytes`: the limit of each stream. */
export function createReader(outputBytes: number, errorBytes: number) {
  let stage: Stage = 'starting';
  let head = '';
  let printed: Buffer[] = [];
  let printedBytes = 0;
  let errors = '';
  let complainedBytes = 0;
  return {
    stage: () => stage,
    /** False once the program has exceeded the limit of standard output. */
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
    /** False once the program has exceeded the limit of standard error. */
    complain(chunk: Buffer): boolean {
      errors = (errors + chunk.toString('utf8')).slice(-KEPT_ERROR_CHARS);
      complainedBytes += chunk.length;
      return complainedBytes <= errorBytes;
    },
    finish: () => ({ stage, output: Buffer.concat(printed), errors }),
  };
}
