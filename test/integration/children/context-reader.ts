// Loads a module that reads frames in native code, before the first span or after it; prints which way contexts went first and last.
import { createRequire } from 'node:module';
import { flush, Span, setReporter, stats } from 'spanline';

const [file, when] = process.argv.slice(2);
const load = (): unknown => createRequire(import.meta.url)(file);
const warnings: unknown[] = [];
process.on('warning', (warning) => warnings.push((warning as { code?: string }).code));
setReporter({ name: 'none', report() {} });

const trace = (): Promise<unknown> => {
  const root = Span.root('root');
  root.run(() => undefined);
  root.end();
  return flush();
};

if (when === 'before') load();
await trace();
const first = stats().context;
if (when === 'after') load();
// Modules are looked through once a second.
await new Promise((resolve) => setTimeout(resolve, 1100));
await trace();
await trace();
await new Promise((resolve) => setImmediate(resolve));
console.log(JSON.stringify({ first, last: stats().context, warnings }));
