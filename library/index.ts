// The package's door, `import … from 'everturn'`: runs, started and read by a program. Documented in docs/library.md.

export {
  AgentError,
  DatasetError,
  EnvironmentError,
  EverturnError,
  InternalError,
  JudgeError,
  ModelError,
  SandboxError,
  StoreError,
  TemporalError,
  ToolError,
  UsageError,
} from '../domain/errors/errors.ts';
export type { Boundary, Reason } from '../domain/errors/reasons.ts';
export { evaluate, type EvaluateOptions, type Evaluation, type EvaluationCell } from './evaluate/evaluate.ts';
export { judgePairs } from './judge.ts';
export { openRun, type OpenOptions } from './open-run.ts';
export { run, start, type StartedRun, type StartOptions } from './start.ts';
export type { EnvironmentFunction, EnvironmentFunctions } from '../environments/own/function.ts';
export type { ToolFunction } from '../environments/tools/function.ts';
export type { ModelAnswer, ModelFunction, ModelRequest } from '../inference/function-model.ts';
export type { RunEvent } from '../run/caller.ts';
export type { WaitOptions } from './await-run.ts';
export type { RefusedCell } from './evaluate/cells.ts';
export type { EvaluationTable } from './evaluate/table.ts';
export type { CheckOptions, CheckResult } from './check.ts';
export type { ExportOptions, SampleOptions } from './export-plan.ts';
export type { ExtendOptions, ForkOptions } from './fork.ts';
export type { JudgedPair, JudgeOptions } from './judge-pairs.ts';
export type { JudgedRun, JudgeRunOptions } from './judge-run.ts';
export type { Rollout, RolloutFacts, RolloutTexts } from './rollout.ts';
export type {
  ExportResult,
  ForkedRun,
  RolloutsOptions,
  Row,
  RowsOptions,
  Run,
  RunProgress,
  SkipOptions,
  TargetOptions,
} from './run-handle.ts';
export type { StatsByFieldOptions, FieldStatistics, Statistics, StatsOptions } from './statistics.ts';
export type { WeightsOptions, WeightUpdate } from './update-weights.ts';
