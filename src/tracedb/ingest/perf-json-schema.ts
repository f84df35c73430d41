// The schema of the Perf JSON format, version 1. It must never accept a property it does not know: a misspelled one would
// otherwise lose measurements without a word.
import type { SchemaObject } from 'ajv';
import { MAX_TIME_MS } from './commit-fields.js';

const TEXTS: SchemaObject = { type: 'object', additionalProperties: { type: 'string' } };

/** JSON schema (draft 7) of a file in the Perf JSON format. */
export const PERF_JSON_SCHEMA: SchemaObject = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Perf JSON format, version 1',
  type: 'object',
  required: ['version', 'git_hash', 'results'],
  additionalProperties: false,
  properties: {
    version: { const: 1 },
    git_hash: { type: 'string', minLength: 1 },
    issue: { type: 'string', description: 'A change under review that was measured; must be absent or empty.' },
    patchset: { type: 'string' },
    timestamp: { type: 'string', description: 'When the commit was made, RFC 3339; an addition of this store.' },
    date: {
      type: 'integer',
      minimum: 0,
      maximum: MAX_TIME_MS,
      description: 'When it was measured, in ms since 1970; an addition of this store.',
    },
    key: { ...TEXTS, description: 'Params of every measurement of the file.' },
    results: { type: 'array', items: { $ref: '#/definitions/result' } },
    links: { ...TEXTS, description: 'Title to URL.' },
  },
  definitions: {
    result: {
      type: 'object',
      required: ['key'],
      additionalProperties: false,
      properties: {
        key: { ...TEXTS, description: 'Params of every measurement of the result.' },
        measurement: { type: 'number', description: 'The only measurement; 1e32 is a missing one.' },
        measurements: {
          type: 'object',
          description: 'A further param key, to its values with their measurements.',
          additionalProperties: { type: 'array', items: { $ref: '#/definitions/single' } },
        },
      },
    },
    single: {
      type: 'object',
      required: ['value', 'measurement'],
      additionalProperties: false,
      properties: {
        value: { type: 'string', description: 'Value of the param.' },
        measurement: { type: 'number' },
        links: TEXTS,
      },
    },
  },
};
