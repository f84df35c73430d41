// The part of the OpenTelemetry SDK's interfaces that an exporter meets, by structure. Declared here so that this package
// needs the SDK neither at run time nor for its types; a real SpanExporter fits without a cast.

import type { ListedState, SdkResource } from '../../formats/sdk-shapes.js';

/** Whole seconds and nanoseconds. */
export type HrTime = [number, number];

export type SdkAttributeValue = string | number | boolean | string[] | number[] | boolean[];
export type SdkAttributes = Record<string, SdkAttributeValue>;

export interface SdkSpanContext {
  traceId: string;
  spanId: string;
  traceFlags: number;
  isRemote?: boolean;
  traceState?: ListedState;
}

export interface SdkEvent {
  name: string;
  time: HrTime;
  attributes?: SdkAttributes;
  droppedAttributesCount?: number;
}

export interface SdkLink {
  context: SdkSpanContext;
  attributes?: SdkAttributes;
  droppedAttributesCount?: number;
}

export interface SdkScope {
  readonly name: string;
  readonly version?: string;
  readonly schemaUrl?: string;
  readonly attributes?: SdkAttributes;
}

/** What exporters call ReadableSpan: the fields of SDK 2, and the two that SDK 1 named differently. */
export interface SdkSpan {
  readonly name: string;
  readonly kind: number;
  readonly spanContext: () => SdkSpanContext;
  readonly parentSpanContext?: SdkSpanContext;
  /** SDK 1. */
  readonly parentSpanId?: string;
  readonly startTime: HrTime;
  readonly endTime: HrTime;
  readonly duration: HrTime;
  readonly status: { code: number; message?: string };
  readonly attributes: SdkAttributes;
  readonly links: SdkLink[];
  readonly events: SdkEvent[];
  readonly ended: boolean;
  readonly resource: SdkResource<SdkAttributes>;
  readonly instrumentationScope: SdkScope;
  /** SDK 1. */
  readonly instrumentationLibrary: SdkScope;
  readonly droppedAttributesCount: number;
  readonly droppedEventsCount: number;
  readonly droppedLinksCount: number;
}

/** `code` 0 is success, anything else failure. */
export interface SdkExportResult {
  readonly code: number;
  readonly error?: Error;
}

/** Any span exporter made for the OpenTelemetry SDK, 1.x or 2.x. */
export interface SdkSpanExporter {
  // biome-ignore lint/suspicious/noExplicitAny: each major version of the SDK declares spans of its own, all met by SdkSpan
  export(spans: any[], resultCallback: (result: any) => void): void;
  shutdown(): Promise<void>;
  forceFlush?(): Promise<void>;
}
