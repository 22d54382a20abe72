// The script's entry.

import { render } from 'preact';
import { App } from './app.tsx';
import { serverSource } from './source.ts';
import { applyTheme } from './theme.ts';

applyTheme();
const root = document.getElementById('app');
if (root) render(<App source={serverSource()} />, root);
