// The script's entry: the pages of a report, where the HTML holds one, or of the viewer's server.

import { render } from 'preact';
import { App } from './app.tsx';
import { reportSource, type ReportSource } from './report-source.ts';
import { compareHref, runHref } from './route.ts';
import { serverSource } from './source.ts';
import { keyInAddress, takeSteerKey } from './steer-key.ts';
import { applyTheme } from './theme.ts';

applyTheme();
const key = takeSteerKey();
const root = document.getElementById('app');
const report = await reportSource().catch((error: unknown) => {
  if (root) root.textContent = `This report cannot be read: ${String(error)}`;
  throw error;
});
if (root) {
  const show = (withKey: string | null) => render(<App source={report ?? serverSource(withKey)} />, root);
  // An address with a key that is pasted into this tab loads nothing: the pages go on with it. Before the App listens.
  addEventListener('hashchange', () => {
    const pasted = keyInAddress();
    if (pasted !== null) show(pasted);
  });
  if (report && location.hash.replace(/^#\/?/, '') === '') history.replaceState(null, '', homeOf(report));
  show(key);
}

/** The comparison, or the run, that a report is about. */
function homeOf({ compared, first }: ReportSource): string {
  return compared ? compareHref(...compared) : runHref(first);
}
