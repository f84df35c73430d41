// Requests to the server that the page came from, also as the state of a component: loading, an answer, or an error. A failure becomes an ApiError
// with the server's words; nothing is retried here; a newer request must win over an older one, whichever answers last. The token of a server that
// wants one comes behind # in the address that the command printed, and lives as long as the tab. It must never stay in the address, which people
// copy.
import { useEffect, useState } from 'preact/hooks';

const KEY = 'spanline-token';

/** What was made part of an address, or stands there as it is. */
export const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** Take the token out of the address; false where none is in it. */
export const takeToken = (): boolean => {
  const match = /^#token=([\x21-\x7e]+)$/.exec(location.hash);
  if (match === null) return false;
  sessionStorage.setItem(KEY, decoded(match[1]));
  history.replaceState(null, '', location.pathname);
  return true;
};

/** The headers a request needs. */
const authorization = (): Record<string, string> => {
  const token = sessionStorage.getItem(KEY);
  return token === null ? {} : { authorization: `Bearer ${token}` };
};

/** Keep a token that the user typed. */
export const setToken = (token: string): void => sessionStorage.setItem(KEY, token);

/** The server refused, or cannot be reached (status 0). */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** Parameters of a request; those undefined or empty are left out. */
export type Parameters = Readonly<Record<string, string | number | boolean | undefined>>;

const addressOf = (path: string, parameters: Parameters): string => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  const text = query.toString();
  return `/ui/api/${path}${text === '' ? '' : `?${text}`}`;
};

const request = async (address: string, init: RequestInit): Promise<Response> => {
  const headers = { ...authorization(), ...(init.headers as Record<string, string>) };
  const response = await fetch(address, { ...init, headers }).catch((error: unknown) => {
    if (init.signal?.aborted) throw error;
    throw new ApiError(0, 'the server does not answer: is spanline ui still running?');
  });
  if (response.ok) return response;
  const body = (await response.json().catch(() => ({}))) as { error?: { message?: string } };
  throw new ApiError(response.status, body.error?.message ?? `the server answered ${response.status}`);
};

/** GET `/ui/api/<path>` as JSON. */
export const get = async <T>(path: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<T> =>
  (await (await request(addressOf(path, parameters), { signal })).json()) as T;

/** GET `/ui/api/<path>` as bytes, for what is drawn in bulk or downloaded. */
export const getBytes = async (path: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<ArrayBuffer> =>
  (await request(addressOf(path, parameters), { signal })).arrayBuffer();

/** POST JSON. */
export const post = async <T>(path: string, body: unknown): Promise<T> => {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  return (await (await request(addressOf(path, {}), init)).json()) as T;
};

/** Server-sent events of `/ui/api/<path>`, each as JSON, until the signal fires or the server ends. By fetch: EventSource can send no token. */
export const listen = async <T>(path: string, onEvent: (event: T) => void, signal: AbortSignal): Promise<void> => {
  const { body } = await request(addressOf(path, {}), { signal, headers: { accept: 'text/event-stream' } });
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let pending = '';
  for (;;) {
    const part = await reader?.read();
    if (part === undefined || part.done) return;
    const events = (pending + part.value).split('\n\n');
    pending = events.pop() ?? '';
    for (const event of events) {
      const data = event.split('\n').filter((line) => line.startsWith('data: '));
      if (data.length > 0) onEvent(JSON.parse(data.map((line) => line.slice(6)).join('\n')) as T);
    }
  }
};

/** Milliseconds after which the browser has taken the file. */
const TAKEN_MS = 10_000;

/** Have the browser save bytes as a file. */
export const saveBytes = (bytes: ArrayBuffer, name: string): void => {
  const url = URL.createObjectURL(new Blob([bytes]));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), TAKEN_MS);
};

/** The value as it was `ms` ago, if it has not changed since; at first the first one. */
export const useSettled = <T>(value: T, ms: number): T => {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    if (value === settled) return;
    const timer = setTimeout(() => setSettled(() => value), ms);
    return () => clearTimeout(timer);
  }, [value, settled]);
  return settled;
};

/** What there is to show. `value` of the last answer stays while the next one loads. */
export interface Requested<T> {
  readonly value?: T;
  readonly error?: Error;
  readonly isLoading: boolean;
}

interface Keyed<T> extends Requested<T> {
  readonly key: string | undefined;
}

/** Ask again whenever `key` changes; undefined asks nothing. */
export const useRequest = <T>(key: string | undefined, ask: (signal: AbortSignal) => Promise<T>): Requested<T> => {
  const [state, setState] = useState<Keyed<T>>({ key, isLoading: key !== undefined });
  // `ask` is a new function every time; what it asks for is the key.
  useEffect(() => {
    if (key === undefined) return setState({ key, isLoading: false });
    const controller = new AbortController();
    setState(({ value }) => ({ key, value, isLoading: true }));
    ask(controller.signal).then(
      (value) => !controller.signal.aborted && setState({ key, value, isLoading: false }),
      (error: Error) => !controller.signal.aborted && setState({ key, error, isLoading: false }),
    );
    return () => controller.abort();
  }, [key]);
  // Effects come after the first look with a new key, which must not take the answer to the old one for its own.
  return state.key === key ? state : { value: state.value, isLoading: key !== undefined };
};

/** GET `/ui/api/<path>` as JSON, again whenever that or a parameter changes, or `round`, which counts what was changed there. No path asks nothing. */
export const useGet = <T>(path: string | false, parameters: Parameters = {}, round = 0): Requested<T> =>
  useRequest(path ? `${addressOf(path, parameters)} ${round}` : undefined, (signal) =>
    get<T>(path as string, parameters, signal),
  );
