// Looks at traces as they came over OTLP: which spans a request has, whether they are one tree, and whether any is in the wrong one.

const KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];

/** What a library is called in the scopes of either. */
const libraryOf = (scope) =>
  scope.replace(/^spanline\/instrument\/|^@opentelemetry\/instrumentation-/, '').replace(/-core$/, '');

const idOf = ({ attributes = [] }) =>
  attributes.find(({ key }) => key === 'user_agent.original' || key === 'http.user_agent')?.value.stringValue;

/** The spans of one request of OTLP, with what is looked at. */
export const spansIn = ({ resourceSpans = [] }) =>
  resourceSpans.flatMap(({ scopeSpans = [] }) =>
    scopeSpans.flatMap(({ scope, spans = [] }) =>
      spans.map((span) => {
        const { traceId, spanId, parentSpanId, name, links = [] } = span;
        const [library, kind] = [libraryOf(scope.name), KINDS[span.kind ?? 0]];
        const id = kind === 'server' ? idOf(span) : undefined;
        return { traceId, spanId, parentSpanId, name, library, kind, id, links: links.map((link) => link.traceId) };
      }),
    ),
  );

/** Whether a pool has a connection left is chance: a span of waiting for one is not compared. */
const isChance = ({ name }) => /(^|[ .-])connect$/.test(name);

const shapeOf = ({ kind, library, name, children }) =>
  `${kind} ${library} ${name}(${children
    .filter((one) => !isChance(one))
    .map(shapeOf)
    .sort()
    .join(' ')})`;

/** Lists of `items` by what `keyOf` says of each. */
function grouped(items, keyOf) {
  const groups = new Map();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

/** The shape of each request's tree, a line, by its id; undefined where its spans are not one tree, or another request's are in it. */
export function treesOf(spans) {
  const traces = grouped(spans, ({ traceId }) => traceId);
  const trees = new Map();
  for (const trace of traces.values()) {
    const nodes = new Map(trace.map((span) => [span.spanId, { ...span, children: [] }]));
    const roots = [];
    for (const node of nodes.values()) (nodes.get(node.parentSpanId)?.children ?? roots).push(node);
    const [root] = roots;
    const ids = trace.map(({ id }) => id).filter((id) => id?.startsWith('bench-'));
    const isTree = roots.length === 1 && !root.parentSpanId && ids.length === 1 && root.id === ids[0];
    for (const id of ids) trees.set(id, isTree && !trees.has(id) ? shapeOf(root) : undefined);
  }
  return trees;
}

/** Spans by library, of these requests and of what is linked to them; apart what goes on inside the process, and waiting for a connection. */
export function countsOf(spans, ids) {
  const asked = new Set(ids);
  const traces = new Set(spans.filter(({ id }) => asked.has(id)).map(({ traceId }) => traceId));
  const counts = {};
  for (const span of spans) {
    const { traceId, links, kind, library } = span;
    if (!traces.has(traceId) && !links.some((link) => traces.has(link))) continue;
    counts[library] ??= { calls: 0, internal: 0, waits: 0 };
    counts[library][isChance(span) ? 'waits' : kind === 'internal' ? 'internal' : 'calls']++;
  }
  return counts;
}

/** Those of `many` whose tree has other spans than every tree of the same that was asked for alone, all with `id` and `asked`. */
export function mixedOf(trees, many, alone) {
  const known = grouped(alone, ({ asked }) => asked);
  return many.flatMap(({ id, asked }) => {
    const shape = trees.get(id);
    const shapes = known.get(asked).map((one) => trees.get(one.id));
    return shape === undefined || shapes.includes(shape) ? [] : [{ asked, shape, alone: shapes }];
  });
}
