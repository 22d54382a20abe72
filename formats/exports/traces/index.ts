// The formats of traces by name.

import { otlp } from './otlp.ts';
import { perfetto } from './perfetto.ts';
import type { TraceFormat } from './trace-format.ts';

export const TRACE_FORMATS: readonly TraceFormat[] = [otlp, perfetto];
