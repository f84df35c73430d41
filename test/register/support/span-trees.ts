// Trees of spans as they came over OTLP, of several services, and what differs between two of them. Ids and times are left out, which differ anyway.
import type { DecodedSpan, DecodedValue } from '../../exporters/support/otlp-decode.js';

export type ReceivedSpan = DecodedSpan & { readonly scope: string };

export interface SpanTree {
  readonly library: string;
  readonly name: string;
  readonly kind: string;
  readonly status: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly events: readonly string[];
  /** Nanoseconds; the order of children. */
  readonly start: bigint;
  readonly children: readonly SpanTree[];
}

const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];
const STATUS = ['unset', 'ok', 'error'];

/** What a library is called in the scopes of either. */
const libraryOf = (scope: string): string =>
  scope.replace(/^spanline\/instrument\/|^@opentelemetry\/instrumentation-/, '').replace(/^@fastify\/otel$/, 'fastify');

const textOf = (value: DecodedValue): string => {
  const [type, content] = value;
  if (type === 'array') return `[${(content as readonly DecodedValue[]).map(textOf).join(', ')}]`;
  return type === 'string' ? JSON.stringify(content) : `${type} ${content}`;
};

const byStart = (a: { readonly start: bigint }, b: { readonly start: bigint }): number => (a.start < b.start ? -1 : 1);

const treeOf = (span: ReceivedSpan, childrenOf: ReadonlyMap<string, readonly ReceivedSpan[]>): SpanTree => ({
  library: libraryOf(span.scope),
  name: span.name,
  kind: KINDS[span.kind],
  status: STATUS[span.status.code],
  attributes: Object.fromEntries(span.attributes.map(([key, value]) => [key, textOf(value)])),
  events: span.events.map(({ name }) => name),
  start: BigInt(span.start),
  children: (childrenOf.get(span.spanId) ?? []).map((child) => treeOf(child, childrenOf)).sort(byStart),
});

/**
 * The traces, each from its root, the first first. A span whose parent is not here is a root. What came twice counts once: what is on its way when
 * a process exits is sent again.
 */
export const treesOf = (received: readonly ReceivedSpan[]): SpanTree[] => {
  const spans = [...new Map(received.map((span) => [span.spanId, span])).values()];
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const childrenOf = new Map<string, ReceivedSpan[]>();
  for (const span of spans) childrenOf.set(span.parentSpanId, [...(childrenOf.get(span.parentSpanId) ?? []), span]);
  return spans
    .filter(({ parentSpanId }) => !ids.has(parentSpanId))
    .map((root) => treeOf(root, childrenOf))
    .sort(byStart);
};

/** Without the spans that `isLeftOut` is true of, whose children stand in their place. */
export const without = (tree: SpanTree, isLeftOut: (span: SpanTree) => boolean): SpanTree => {
  const kept = (children: readonly SpanTree[]): SpanTree[] =>
    children.flatMap((child) => (isLeftOut(child) ? kept(child.children) : [without(child, isLeftOut)]));
  return { ...tree, children: kept(tree.children).sort(byStart) };
};

/** The shape alone, a line each: kind, name and status, or kind, library and status, for names that differ. */
export const outline = (tree: SpanTree, isNamed = true, indent = ''): string => {
  const { kind, library, name, status, children } = tree;
  const line = `${indent}${kind} ${isNamed ? name : library}${status === 'unset' ? '' : ` (${status})`}`;
  return [line, ...children.map((child) => outline(child, isNamed, `${indent}  `))].join('\n');
};

/** All of a tree. */
export const spansOf = (tree: SpanTree): SpanTree[] => [tree, ...tree.children.flatMap(spansOf)];

export interface Difference {
  readonly library: string;
  readonly kind: string;
  readonly name: string;
  /** `name`, `kind`, `status`, `events`, `children`, or the key of an attribute. */
  readonly field: string;
  readonly ours: string | undefined;
  readonly official: string | undefined;
}

/** All that differs, field by field. Where the numbers of children differ, they are not looked into. */
export const differences = (ours: SpanTree, official: SpanTree): Difference[] => {
  const { library, kind, name } = ours;
  const found: Difference[] = [];
  const compare = (field: string, a: string | undefined, b: string | undefined): void => {
    if (a !== b) found.push({ library, kind, name, field, ours: a, official: b });
  };
  for (const field of ['library', 'name', 'kind', 'status'] as const) compare(field, ours[field], official[field]);
  compare('events', ours.events.join(), official.events.join());
  for (const key of new Set([...Object.keys(ours.attributes), ...Object.keys(official.attributes)])) {
    compare(key, ours.attributes[key], official.attributes[key]);
  }
  const [a, b] = [ours.children, official.children];
  if (a.length !== b.length) {
    compare('children', a.map((child) => outline(child)).join('\n'), b.map((child) => outline(child)).join('\n'));
    return found;
  }
  return [...found, ...a.flatMap((child, i) => differences(child, b[i]))];
};
