// The resource of a trace in the shape of OpenTelemetry's SDK: one object for all spans of a resource, for exporters group by identity.
import { getOrMake } from '../base/maps/maps.js';
import type { Resource } from '../collector/reporter.js';
import { resourceProperties } from '../formats/library.js';
import type { Properties } from '../rows/property.js';
import type { ActiveTrace } from '../span/active-trace.js';

const made = new WeakMap<Resource, object>();

const fromAttributes = (attributes: Properties): object => ({
  attributes,
  asyncAttributesPending: false,
  waitForAsyncAttributes: () => Promise.resolve(),
  merge: (other: { readonly attributes?: Properties } | null) =>
    fromAttributes({ ...attributes, ...other?.attributes }),
  getRawAttributes: () => Object.entries(attributes),
});

/** The resource of the collector that the trace goes to. */
export const toSdkResource = ({ resource }: ActiveTrace): object =>
  getOrMake(made, resource as Resource, (of) => fromAttributes(resourceProperties(of)));
