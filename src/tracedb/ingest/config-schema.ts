// The schema of the config file of an instance. It must never accept a property it does not know: a misspelled setting would
// otherwise have no effect, and nobody would see it.
import type { SchemaObject } from 'ajv';
import type { Direction } from '../detect/direction.js';
import type { StepDetectorName } from '../detect/step-detectors.js';
import { MAX_TILE_SIZE, MIN_TILE_SIZE } from '../tile.js';

/** Detectors of steps in a window. */
export const STEP_DETECTORS: readonly StepDetectorName[] = [
  'original',
  'absolute',
  'const',
  'percent',
  'cohen',
  'mann-whitney',
];

const DIRECTIONS: readonly Direction[] = ['up', 'down', 'unknown'];

const positive = (description: string, more: SchemaObject = {}): SchemaObject => ({
  type: 'number',
  exclusiveMinimum: 0,
  ...more,
  description,
});

/** JSON schema (draft 7) of the config file of an instance. */
export const CONFIG_SCHEMA: SchemaObject = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Config of an instance of the trace databases',
  type: 'object',
  required: ['store'],
  additionalProperties: false,
  properties: {
    $schema: { type: 'string' },
    store: {
      type: 'string',
      minLength: 1,
      description: 'Directory, relative to this file, or bigtable://project/instance/table.',
    },
    tileSize: {
      type: 'integer',
      minimum: MIN_TILE_SIZE,
      maximum: MAX_TILE_SIZE,
      description: 'Commits in a tile. Default 256.',
    },
    shards: {
      type: 'integer',
      minimum: 1,
      maximum: 64,
      description: 'Parts the rows of a tile are spread over. Default 8.',
    },
    allowedChars: {
      type: 'string',
      minLength: 1,
      maxLength: 200,
      description: 'Inside of a character class: what params may have; all else becomes "_". Default A-Za-z0-9._-',
    },
    paramSetKeys: {
      type: 'array',
      maxItems: 100,
      uniqueItems: true,
      items: { type: 'string', minLength: 1, maxLength: 1024 },
      description: 'Keys that are offered for queries, in this order. Default: all, sorted.',
    },
    directions: {
      type: 'object',
      maxProperties: 1000,
      propertyNames: { minLength: 1, maxLength: 200 },
      additionalProperties: { enum: DIRECTIONS },
      description: 'Unit to which way is better; comes before the built-in table.',
    },
    detection: {
      type: 'object',
      additionalProperties: false,
      description: 'How regressions are found.',
      properties: {
        detector: { enum: ['e-divisive', ...STEP_DETECTORS], description: 'Default e-divisive.' },
        interesting: positive('From where on a step counts; its meaning depends on the detector, which needs it.'),
        radius: { type: 'integer', minimum: 1, maximum: 1000, description: 'Commits on each side of a window.' },
        stddevThreshold: positive('Smallest spread that is divided by, for original and cohen.'),
        significance: positive('Largest p-value of e-divisive.', { exclusiveMaximum: 1 }),
        minimumEffect: { type: 'number', minimum: 0, description: 'Smallest change, as a share: 0.05 is 5 %.' },
      },
    },
  },
};
