// The same, where an instrumentation is switched on again when hono is imported already.
import 'hono';
import { instrument } from '../../../dist/esm/instrument/index.js';

instrument({ hono: {}, undici: false });
await import('./hono-app.mjs');
