// Starts the page.
import { render } from 'preact';
import { takeToken } from './api/client.js';
import { App } from './shell/app.js';
import './styles/base.css';

takeToken();
// Whoever pastes the printed address over that of an open page stays in that page.
addEventListener('hashchange', () => takeToken() && location.reload());
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
