// Where nobody looks at what was skipped: a check that cannot run there is a failure.

const { CI } = process.env;

/** True when the environment variable CI says so. */
export const isCI = CI !== undefined && CI !== '' && CI !== 'false';
