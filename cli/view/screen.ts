// A full screen of text on a terminal: the alternate screen, drawn as a whole, and the user's own screen again at the end,
// however the process ends: Ctrl-C, an error, or Ctrl-Z and back. SIGKILL alone leaves it; `reset` then helps.

import type { Stream } from '../io.ts';
import { cut } from './cut-line.ts';

export interface Screen {
  /** At most the lines that fit; longer ones are cut. */
  draw(lines: readonly string[]): void;
  close(): void;
}

/** The events of a process that a screen must hear of; a test passes its own. */
export interface ProcessEvents {
  on(event: 'exit' | 'SIGTSTP' | 'SIGCONT', listener: () => void): unknown;
  off(event: 'exit' | 'SIGTSTP' | 'SIGCONT', listener: () => void): unknown;
  /** Suspends the process as the terminal would. */
  suspend(): void;
}

const ENTER = '\u001b[?1049h\u001b[?25l';
const LEAVE = '\u001b[0m\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const TO_LINE_END = '\u001b[K';
const TO_SCREEN_END = '\u001b[J';

const PROCESS: ProcessEvents = {
  on: (event, listener) => process.on(event, listener),
  off: (event, listener) => process.off(event, listener),
  suspend: () => void process.kill(process.pid, 'SIGSTOP'),
};

export function openScreen(stream: Stream, events: ProcessEvents = PROCESS): Screen {
  let open = false;
  let drawn: readonly string[] = [];
  const enter = () => {
    if (!open) stream.write(ENTER);
    open = true;
  };
  const leave = () => {
    if (open) stream.write(LEAVE);
    open = false;
  };
  const draw = (lines: readonly string[]) => {
    drawn = lines;
    const rows = Math.max(1, (stream.rows ?? 24) - 1);
    const columns = Math.max(1, stream.columns ?? 80);
    const shown = lines.slice(0, rows).map((line) => `${cut(line, columns)}${TO_LINE_END}`);
    enter();
    stream.write(`${HOME}${shown.join('\r\n')}\r\n${TO_SCREEN_END}`);
  };
  const suspend = () => {
    leave();
    events.suspend();
  };
  const resume = () => draw(drawn);
  events.on('exit', leave);
  events.on('SIGTSTP', suspend);
  events.on('SIGCONT', resume);
  return {
    draw,
    close() {
      events.off('exit', leave);
      events.off('SIGTSTP', suspend);
      events.off('SIGCONT', resume);
      leave();
    },
  };
}
