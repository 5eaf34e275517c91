import type { AppEvent } from '../../../queries/feed.ts';
import type { Feed } from '../news.ts';
import { type AnyRoute, ok, route, type Waiting } from '../router.ts';
import { EventsQuery, pageMax } from '../schemas/queries.ts';
import { EventsResponse } from '../schemas/responses.ts';

/** Needs of the route of the feed. */
export interface FeedRoutesDeps {
  readonly feed: Feed;
}

/** Feed of an app's payment events: for shops without a public URL, and to recover from missed webhooks. */
export const feedRoutes = ({ feed }: Pick<FeedRoutesDeps, 'feed'>): readonly AnyRoute[] => [
  route({
    method: 'get',
    path: '/payment-api/events',
    auth: 'app',
    query: EventsQuery,
    answers: { 200: { description: 'The next events', schema: EventsResponse } },
    errors: ['invalidRequest', 'unauthenticated', 'scope_insufficient', 'rateLimited', 'unavailable'],
    doc: {
      id: 'listEvents',
      tag: 'Payments',
      summary: 'Read what happened to the app’s payments',
      description:
        'Every event once and in order, failures included, from any point in history: after is the nextCursor that you saved, 0 (or nothing) for the beginning, latest for events from now on. With wait the answer is sent when there is an event, or without events after this number of seconds.',
    },
    async handle({ caller, query: { after = '0', limit = pageMax, wait = 0 }, waiting }) {
      const from = after === 'latest' ? await feed.lastOrdinal(caller.appId) : after;
      // An extra event reveals whether there are more.
      const look = () => feed.events(caller.appId, { after: from, limit: limit + 1 });
      const found =
        wait === 0 ? await look() : await lookUntilFound(look, { feed, appId: caller.appId, wait, waiting });
      const data = found.slice(0, limit);
      return ok({ data, hasMore: found.length > limit, nextCursor: data.at(-1)?.ordinal ?? from });
    },
  }),
];

interface Patience {
  readonly feed: Feed;
  readonly appId: string;
  /** Maximum wait in seconds. */
  readonly wait: number;
  readonly waiting: Waiting;
}

/** Reads now and after each notification, until something is found, the time is up, the caller disconnects or the service stops. */
async function lookUntilFound(
  look: () => Promise<readonly AppEvent[]>,
  { feed, appId, wait, waiting }: Patience,
): Promise<readonly AppEvent[]> {
  const answered = new AbortController();
  const signal = AbortSignal.any([waiting.away, AbortSignal.timeout(wait * 1_000), answered.signal]);
  try {
    const news = feed.changes(appId, signal);
    for (let ended = false; ; ) {
      const found = await look();
      if (found.length > 0 || ended) return found;
      const next = await waiting.aside(() => news.next());
      ended = next.done === true;
    }
  } finally {
    answered.abort();
  }
}
