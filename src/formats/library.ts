// Who sends: the name and version that go into every batch. Constants only; a test holds the version to package.json.

import type { Resource } from '../collector/reporter.js';
import type { ArchivedProperties, ArchivedResource, ArchivedScope } from '../record/archived-span.js';
import { NO_PROPERTIES } from '../record/properties.js';
import type { Properties, PropertyValue } from '../rows/property.js';

export const LIBRARY_NAME = 'spanline';
export const LIBRARY_VERSION = '0.1.0';

/** The scope of spans made by this library. */
export const OWN_SCOPE: ArchivedScope = Object.freeze({
  name: LIBRARY_NAME,
  version: LIBRARY_VERSION,
  properties: NO_PROPERTIES,
});

/** Where the format has no place for scopes, or the process says the same: a scope on each span would repeat it. */
export const NO_SCOPE: ArchivedScope = Object.freeze({ name: '', version: '', properties: NO_PROPERTIES });

const SDK: Properties = {
  'telemetry.sdk.language': 'nodejs',
  'telemetry.sdk.name': LIBRARY_NAME,
  'telemetry.sdk.version': LIBRARY_VERSION,
};

/** All attributes of a resource, `service.name` first. What the user set wins over our own `telemetry.sdk.*`. */
export const resourceProperties = ({ serviceName, attributes }: Resource): Properties => ({
  'service.name': serviceName,
  ...SDK,
  ...attributes,
});

// `fromEntries` sets own properties, whatever their keys.
const present = (properties: Properties): ArchivedProperties =>
  Object.fromEntries(
    Object.entries(properties).filter((entry): entry is [string, PropertyValue] => entry[1] !== undefined),
  );

/** A resource of the collector as the user described it. */
export const attributesOf = ({ serviceName, attributes }: Resource): ArchivedProperties =>
  present({ 'service.name': serviceName, ...attributes });

/** A resource of the collector, with what says which library it is. */
export const ownResource = (resource: Resource): ArchivedResource => ({
  properties: present(resourceProperties(resource)),
});
