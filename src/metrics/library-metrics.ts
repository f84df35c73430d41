// What instrumentations measure, by OpenTelemetry's conventions: requests answered and sent, calls to databases, messages and procedures. They call this for every one of
// them, whether or not it has a span, which is for exemplars alone; nothing here may depend on it, throw, or keep what a request said beyond the attributes of its set.
import { checkDrift, now, nsPerTick } from '../clock/index.js';
import type { AttributeValue } from './attribute-sets.js';
import type { MeasuredSpan } from './exemplars.js';
import { Histogram, UpDownCounter } from './instruments.js';
import type { Instruments } from './reader.js';

/** Seconds, by the conventions. */
const HTTP_BOUNDARIES = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const DATABASE_BOUNDARIES = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];

const METHOD = 'http.request.method';
const SCHEME = 'url.scheme';
const STATUS = 'http.response.status_code';
const ERROR = 'error.type';
const PROTOCOL_VERSION = 'network.protocol.version';
const ADDRESS = 'server.address';
const PORT = 'server.port';

const secondsSince = (begin: number): number => Math.max(0, ((now() - begin) * nsPerTick()) / 1e9);

/** What became of a request, on either side. */
export interface HttpOutcome {
  /** Undefined where there was no answer. */
  readonly status: number | undefined;
  /** Undefined where it did not fail. */
  readonly errorType: string | undefined;
  /** `1.1`, `2` */
  readonly version: string | undefined;
}

/** A call to a database: what is known of it when it begins. */
export interface DatabaseOperation {
  readonly system: string;
  readonly namespace: string | undefined;
  readonly operation: string | undefined;
  readonly collection: string | undefined;
  readonly summary: string | undefined;
  readonly address: string | undefined;
  readonly port: number | undefined;
}

/** What became of a call to a database, or of a procedure. */
export interface CallOutcome {
  /** The server's own code: of a database that of an error. */
  readonly status: string | undefined;
  readonly errorType: string | undefined;
}

/** A request sent, where it goes. */
export interface HttpCall {
  readonly method: string;
  readonly host: string;
  readonly port: number | undefined;
}

/** A message, or a batch, that is sent or done with. */
export interface MessageOperation {
  readonly system: string;
  /** What the library calls it: `publish`, `process`. */
  readonly name: string;
  readonly type: 'send' | 'process';
  /** The exchange, queue or topic. */
  readonly destination: string;
  readonly group: string | undefined;
  readonly address: string | undefined;
  readonly port: number | undefined;
}

/** A call of a procedure, on either side. */
export interface RpcCall {
  readonly side: 'client' | 'server';
  readonly system: string;
  readonly method: string;
  readonly address: string | undefined;
  readonly port: number | undefined;
}

/** A request that a server answers. */
export interface ServedRequest {
  readonly metrics: LibraryMetrics;
  /** In ticks. */
  readonly begin: number;
  readonly method: string;
  readonly scheme: string;
  /** Where it is counted as active. */
  readonly active: number;
}

export class LibraryMetrics {
  /** How often anything was recorded: whether there is anything new. */
  records = 0;
  readonly #served: Histogram;
  readonly #active: UpDownCounter;
  readonly #sent: Histogram;
  readonly #queried: Histogram;
  readonly #messages: Readonly<Record<MessageOperation['type'], Histogram>>;
  readonly #procedures: Readonly<Record<RpcCall['side'], Histogram>>;
  // Filled anew by each record, which copies what it keeps: a list for each would be garbage of every request.
  readonly #activeSet: AttributeValue[] = new Array(2).fill(undefined);
  readonly #requestSet: AttributeValue[] = new Array(6).fill(undefined);
  readonly #querySet: AttributeValue[] = new Array(9).fill(undefined);
  readonly #messageSet: AttributeValue[] = new Array(8).fill(undefined);
  readonly #callSet: AttributeValue[] = new Array(6).fill(undefined);

  constructor(instruments: Instruments, hasExemplars = true) {
    // Else it is reports of spans that watch how long a tick is, and there may be none.
    instruments.onRead(checkDrift);
    const make = (
      name: string,
      description: string,
      keys: readonly string[],
      boundaries: readonly number[] = HTTP_BOUNDARIES,
    ): Histogram => instruments.add(new Histogram({ name, unit: 's', description, keys, boundaries, hasExemplars }));
    const outcome = [STATUS, ERROR, PROTOCOL_VERSION];
    this.#served = make('http.server.request.duration', 'Duration of HTTP server requests.', [
      METHOD,
      SCHEME,
      'http.route',
      ...outcome,
    ]);
    this.#active = instruments.add(
      new UpDownCounter({
        name: 'http.server.active_requests',
        unit: '{request}',
        description: 'Number of active HTTP server requests.',
        keys: [METHOD, SCHEME],
        isWhole: true,
      }),
    );
    this.#sent = make('http.client.request.duration', 'Duration of HTTP client requests.', [
      METHOD,
      ADDRESS,
      PORT,
      ...outcome,
    ]);
    const ofQueries = [
      'db.system.name',
      'db.namespace',
      'db.operation.name',
      'db.collection.name',
      'db.query.summary',
      'db.response.status_code',
      ERROR,
      ADDRESS,
      PORT,
    ];
    this.#queried = make(
      'db.client.operation.duration',
      'Duration of database client operations.',
      ofQueries,
      DATABASE_BOUNDARIES,
    );
    const ofMessages = [
      'messaging.system',
      'messaging.operation.name',
      'messaging.operation.type',
      'messaging.destination.name',
      'messaging.consumer.group.name',
      ERROR,
      ADDRESS,
      PORT,
    ];
    this.#messages = {
      send: make(
        'messaging.client.operation.duration',
        'Duration of messaging operation initiated by a producer or consumer client.',
        ofMessages,
      ),
      process: make('messaging.process.duration', 'Duration of processing operation.', ofMessages),
    };
    const ofCalls = ['rpc.system.name', 'rpc.method', 'rpc.response.status_code', ERROR, ADDRESS, PORT];
    this.#procedures = {
      client: make('rpc.client.call.duration', 'Measures the duration of outbound RPC.', ofCalls),
      server: make('rpc.server.call.duration', 'Measures the duration of inbound RPC.', ofCalls),
    };
  }

  /** The moment in ticks, for the calls below. */
  begin(): number {
    return now();
  }

  /** A request has come, for which {@link serverEnded} is called once. */
  serverBegan(method: string, scheme: string): ServedRequest {
    const set = this.#activeSet;
    set[0] = method;
    set[1] = scheme;
    const active = this.#active.place(set);
    this.records++;
    this.#active.addAt(active, 1);
    return { metrics: this, begin: now(), method, scheme, active };
  }

  serverEnded(request: ServedRequest, route: string | undefined, outcome: HttpOutcome, span?: MeasuredSpan): void {
    const { begin, method, scheme, active } = request;
    this.records++;
    this.#active.addAt(active, -1);
    this.#served.record(secondsSince(begin), this.#setOf(method, scheme, route, outcome), span);
  }

  clientEnded(begin: number, call: HttpCall, outcome: HttpOutcome, span?: MeasuredSpan): void {
    const { method, host, port } = call;
    this.records++;
    this.#sent.record(secondsSince(begin), this.#setOf(method, host, port, outcome), span);
  }

  /** `seconds` where the duration is known. */
  databaseEnded(
    begin: number,
    call: DatabaseOperation,
    outcome: CallOutcome,
    span?: MeasuredSpan,
    seconds = secondsSince(begin),
  ): void {
    const set = this.#querySet;
    set[0] = call.system;
    set[1] = call.namespace;
    set[2] = call.operation;
    set[3] = call.collection;
    set[4] = call.summary;
    set[5] = outcome.status;
    set[6] = outcome.errorType;
    set[7] = call.address;
    set[8] = call.port;
    this.records++;
    this.#queried.record(seconds, set, span);
  }

  messageEnded(begin: number, operation: MessageOperation, errorType: string | undefined, span?: MeasuredSpan): void {
    const set = this.#messageSet;
    set[0] = operation.system;
    set[1] = operation.name;
    set[2] = operation.type;
    set[3] = operation.destination;
    set[4] = operation.group;
    set[5] = errorType;
    set[6] = operation.address;
    set[7] = operation.port;
    this.records++;
    this.#messages[operation.type].record(secondsSince(begin), set, span);
  }

  /** `outcome` has the status that was answered. */
  rpcEnded(begin: number, call: RpcCall, outcome: CallOutcome, span?: MeasuredSpan): void {
    const set = this.#callSet;
    set[0] = call.system;
    set[1] = call.method;
    set[2] = outcome.status;
    set[3] = outcome.errorType;
    set[4] = call.address;
    set[5] = call.port;
    this.records++;
    this.#procedures[call.side].record(secondsSince(begin), set, span);
  }

  #setOf(first: string, second: string, third: AttributeValue, outcome: HttpOutcome): readonly AttributeValue[] {
    const set = this.#requestSet;
    set[0] = first;
    set[1] = second;
    set[2] = third;
    set[3] = outcome.status;
    set[4] = outcome.errorType;
    set[5] = outcome.version;
    return set;
  }
}
