// Builds Jaeger where there is none, with the Go on PATH: with traces in memory and what the tests talk to, a third of its packages. Whatever
// receives, keeps and answers must be Jaeger's own.
import { fileURLToPath } from 'node:url';
import { ensureProgram } from './go-programs.mjs';
import { BUILT, findJaeger, VERSION } from './jaeger.mjs';

const ours = (name) => fileURLToPath(new URL(`./jaeger/${name}`, import.meta.url));

/** The path of a Jaeger; undefined where there is neither one nor Go. */
export const ensureJaeger = () =>
  ensureProgram('Jaeger', findJaeger, {
    module: 'github.com/jaegertracing/jaeger',
    version: VERSION,
    checksums: ['h1:sWCOOF1dr+NL0PLil7mFo3BqqQL8k4WiM7aguFbc14g=', 'h1:hqcuJlLDTv7G2x5eFd/BhwcPdLxj3N+90aKhIzdOcKo='],
    built: BUILT,
    packages: {
      'cmd/jaeger': ours('main.go'),
      'cmd/jaeger/internal/extension/jaegerstorage': ours('storage.go'),
      'internal/storage/v1/factory': ours('archive.go'),
    },
    target: './cmd/jaeger',
  });
