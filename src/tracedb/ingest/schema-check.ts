// Checks JSON values against JSON schemas, with ajv. Its errors must name the place and what stood there, and must never
// descend into values: they may be nested without end.
import type { ErrorObject, SchemaObject } from 'ajv';
import { optionalPackage } from '../optional-package.js';
import { pointer, quoted, shown } from './bad-file.js';
import type { Problem } from './problem.js';

/** The problems of a value; empty when it is valid. */
export type SchemaCheck = (value: unknown) => readonly Problem[];

const checks = new Map<string, SchemaCheck>();

const problemOf = ({ keyword, instancePath, params, message = 'is invalid', data }: ErrorObject): Problem => {
  switch (keyword) {
    case 'additionalProperties':
      return { path: instancePath, reason: `has the unknown property ${quoted(params.additionalProperty)}` };
    case 'required':
      return { path: instancePath, reason: `lacks the property ${quoted(params.missingProperty)}` };
    case 'enum':
      return {
        path: instancePath,
        reason: `must be one of ${params.allowedValues.map(shown).join(', ')}, got ${shown(data)}`,
      };
    case 'const':
      return { path: instancePath, reason: `must be ${shown(params.allowedValue)}, got ${shown(data)}` };
    case 'propertyNames':
      return { path: pointer(instancePath, params.propertyName), reason: 'is not a name that may be used here' };
    default:
      return { path: instancePath, reason: `${message}, got ${shown(data)}` };
  }
};

/**
 * The check for a schema, compiled once per `name` and way. With `all` it finds every problem; without it only the first, so
 * that a large document that is wrong everywhere costs no more than one that is right.
 */
export const loadSchemaCheck = async (name: string, schema: SchemaObject, all = false): Promise<SchemaCheck> => {
  const id = `${name} ${all}`;
  const known = checks.get(id);
  if (known !== undefined) return known;
  const { Ajv } = await optionalPackage('ajv', 'checking a document against its schema', () => import('ajv'));
  // `verbose` puts the refused value into the error; strictNumbers (the default) refuses Infinity, which is what 1e999 becomes.
  const validate = new Ajv({ allErrors: all, verbose: true, strict: true }).compile(schema);
  const check: SchemaCheck = (value) => {
    if (validate(value)) return [];
    const found = (validate.errors ?? []).filter((error) => error.propertyName === undefined);
    return found.map(problemOf);
  };
  checks.set(id, check);
  return check;
};
