// What a view shows in place of its data: that it loads, that there is nothing, or nothing to read from, and what to do next, or what went wrong; and a
// view that is loaded when it is first shown.
import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, type Requested, setToken } from '../api/client.js';
import { hrefOf, type ViewProps } from './location.js';

interface EmptyProps {
  readonly title: string;
  readonly command?: string;
  readonly children?: ComponentChildren;
}

/** Nothing to show, and the command that changes this. */
export const Empty = ({ title, command, children }: EmptyProps) => (
  <section class="state">
    <h1>{title}</h1>
    {children}
    {command !== undefined && (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
      <pre tabIndex={0}>
        <code>{command}</code>
      </pre>
    )}
  </section>
);

/** For an address that somebody passed on, which has no token in it. */
const TokenNeeded = ({ message }: { message: string }) => (
  <section class="state failure" role="alert">
    <h1>A token is needed</h1>
    <p>{message}</p>
    <p>Open the address that the command printed, with everything behind the #, or type its token here.</p>
    <form
      onSubmit={(event) => {
        event.preventDefault();
        setToken(String(new FormData(event.currentTarget).get('token')).trim());
        location.reload();
      }}
    >
      <label>
        token <input name="token" type="password" autocomplete="off" required />
      </label>{' '}
      <button type="submit">Show</button>
    </form>
  </section>
);

/** What went wrong, in the server's words. */
export const Failure = ({ error }: { error: Error }) =>
  error instanceof ApiError && error.status === 401 ? (
    <TokenNeeded message={error.message} />
  ) : (
    <section class="state failure" role="alert">
      <h1>That did not work</h1>
      <p>{error.message}</p>
    </section>
  );

/**
 * Shows the answer of a request, or its state. The last answer stays, dimmed, while the next one loads, and stays as it was drawn: what was asked
 * since belongs to the next answer, and drawn with this one it would say what is not true.
 */
export function Answer<T>({ of, children }: { of: Requested<T>; children: (value: T) => ComponentChildren }) {
  const drawn = useRef<{ value: T; content: ComponentChildren } | undefined>(undefined);
  const { value, error, isLoading } = of;
  if (error !== undefined) return <Failure error={error} />;
  if (value === undefined)
    return (
      <p class="state" role="status">
        {isLoading ? 'Loading …' : ''}
      </p>
    );
  if (!isLoading || drawn.current?.value !== value) drawn.current = { value, content: children(value) };
  return (
    <div class={isLoading ? 'is-loading' : undefined} aria-busy={isLoading}>
      {drawn.current.content}
    </div>
  );
}

export type Load = () => Promise<{ readonly default: ComponentType<ViewProps> }>;

/** A view that is loaded when it is first shown; what cannot be is thrown. Another one needs another key. */
export const Loaded = ({ load, ...props }: ViewProps & { load: Load }) => {
  const [loaded, setLoaded] = useState<{ readonly View: ComponentType<ViewProps> } | Error>();
  useEffect(() => {
    load().then(
      (module) => setLoaded({ View: module.default }),
      (error: Error) => setLoaded(error),
    );
  }, []);
  if (loaded instanceof Error) throw loaded;
  return loaded === undefined ? null : <loaded.View {...props} />;
};

export const NoArchive = ({ sources }: Pick<ViewProps, 'sources'>) => (
  <Empty title="No archive is open" command="spanline ui --archive ./traces">
    {sources.snapshots && (
      <p>
        Or look at <a href={hrefOf('traces/snapshots')}>a snapshot of a running process</a>.
      </p>
    )}
  </Empty>
);
