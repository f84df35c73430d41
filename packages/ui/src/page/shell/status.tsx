// How a request ended: its status code of HTTP, and whether its span says that it failed. A refused request is not an error to a server, but must be seen.
import type { RequestStatus } from '../../api/answers.js';

export const Status = ({ http, isFailed }: RequestStatus) => {
  const kind = isFailed || (http ?? 0) >= 500 ? 'failed' : (http ?? 0) >= 400 ? 'refused' : '';
  return <span class={`status ${kind}`}>{[http, isFailed ? 'error' : undefined].filter(Boolean).join(' ')}</span>;
};
