// The endpoint of the view Live: server-sent events.
import type { Archive } from '@spanline/archive';
import type { Route } from '@spanline/archive/internal';
import { LiveFeed } from './live-feed.js';

/** The routes of the view. */
export const liveRoutes = (archive: Archive): Route[] => {
  const feed = new LiveFeed(archive);
  return [
    {
      method: 'GET',
      path: ['ui', 'api', 'live'],
      isQuery: false,
      isEndless: true,
      handle: ({ response }) => feed.listen(response),
    },
  ];
};
