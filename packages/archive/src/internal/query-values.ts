// What the command takes of the archive before it knows whether there is one to open: how values of a search are written. Every command loads it: it must
// load no archive.
export { HttpError } from '../server/http-error.js';
export { durationNs, endTimeNs, timeNs } from '../server/query-values.js';
