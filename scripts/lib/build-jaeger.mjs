// Builds Jaeger where there is none, with the Go on PATH.
import { ensureProgram } from './go-programs.mjs';
import { BUILT, findJaeger, VERSION } from './jaeger.mjs';

export { hasGo } from './go-programs.mjs';

const MODULE = 'github.com/jaegertracing/jaeger';

/** The path of a Jaeger; undefined where there is neither one nor Go. */
export const ensureJaeger = () =>
  ensureProgram('Jaeger', findJaeger, {
    module: MODULE,
    version: VERSION,
    checksums: ['h1:sWCOOF1dr+NL0PLil7mFo3BqqQL8k4WiM7aguFbc14g=', 'h1:hqcuJlLDTv7G2x5eFd/BhwcPdLxj3N+90aKhIzdOcKo='],
    built: BUILT,
    target: `${MODULE}/cmd/jaeger`,
  });
