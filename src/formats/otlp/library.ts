// Who sends: the name and version that go into every batch. Constants only; a test holds the version to package.json.

import type { Resource } from '../../collector/reporter.js';
import type { Properties } from '../../local-span/property.js';

export const LIBRARY_NAME = 'spanline';
export const LIBRARY_VERSION = '0.1.0';

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
