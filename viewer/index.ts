// The door: all that commands and the library import of the viewer.

export { type ApiParts, createApi } from './api.ts';
export { type Bundle, serverAssets } from './assets.ts';
export { openTrainedAt } from './counts.ts';
export { openEvaluations } from './evaluations.ts';
export type { Evaluation } from './model/messages.ts';
export { versionsOf, type VersionSummary } from './model/summary.ts';
export { makeReport } from './report.ts';
export { type OpenRun, openRuns, type Runs } from './runs.ts';
export { serveView } from './server.ts';
export type { Steering } from './steer.ts';
export type { TokenDecoder } from './token-message.ts';
