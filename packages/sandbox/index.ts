// The door: all that others import. `proveSandbox` finds a sandbox that holds, a language encodes a program for it, and a runner runs it.

export { proveSandbox } from './canary.ts';
export { unsafeSandbox } from './unsafe.ts';
export { createRunner, type Runner } from './runner.ts';
export { type Job, type Language, LANGUAGES, languageOf, python, readReport, type Runtime } from './language.ts';
export { type CodeLimits, DEFAULT_LIMITS, type Launch, outputLimit, type Sandbox } from './sandbox.ts';
export { type Ran, type Run, SandboxTrouble } from './sandboxed.ts';
