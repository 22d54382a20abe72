// The script's entry: the pages of a report, where the HTML holds one, or of the viewer's server. A report is printed
// with its overview and the rollouts in it, whatever page is open.

import { options, render } from 'preact';
import { App } from './app.tsx';
import { embeddedSource, type ReportSource } from './embedded-source.ts';
import { Printed } from './printed.tsx';
import { serverSource } from './source.ts';
import { applyTheme } from './theme.ts';

applyTheme();
const root = document.getElementById('app');
const report = await embeddedSource().catch((error: unknown) => {
  if (root) root.textContent = `This report cannot be read: ${String(error)}`;
  throw error;
});
if (root) {
  render(<App source={report ?? serverSource()} />, root);
  if (report) printWhole(report, root);
}

function printWhole(source: ReportSource, root: HTMLElement): void {
  const paper = document.createElement('div');
  paper.className = 'paper';
  root.after(paper);
  addEventListener('beforeprint', () => {
    // The browser takes the page as it is when this ends.
    options.debounceRendering = (draw) => draw();
    render(<Printed data={source.data} />, paper);
  });
  addEventListener('afterprint', () => {
    delete options.debounceRendering;
    render(null, paper);
  });
}
