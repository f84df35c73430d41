// The service on hono, as a program of ES modules.
import { serveOnce } from './hono-service.mjs';

await serveOnce();
