// Starts the page.
import { render } from 'preact';
import { takeToken } from './api/client.js';
import { App } from './shell/app.js';
import './styles/base.css';

takeToken();
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
