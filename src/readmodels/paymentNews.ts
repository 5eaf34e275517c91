/**
 * Notifies open payment pages of changes of their payment. Read models notify per app: for an app with open pages its feed is read once for
 * all of them, and their payments are notified. New blocks are queried while a page waits for them.
 */

import type { Observable } from 'rxjs';
import type { Clock } from '../../commands/ports.ts';
import {
  type AppNews,
  createPlaceShares,
  defaultListenerLimits,
  defaultPageListenerLimits,
  type ListenerLimits,
  ListenersFull,
  type PageListenerLimits,
  type PaymentListener,
  type PaymentNews,
} from '../api/news.ts';
import { createWakeup, type Wakeup } from '../lib/concurrency.ts';
import type { Notification } from '../postgres/listen.ts';

/** Notified by the read models with `<appId> <newest ordinal>`, or empty if only a query can tell. */
export const appEventsChannel = 'app_events';

type Listener = Wakeup<string | null>;

/** @param notifications contains at least `appEventsChannel`: one connection for all listeners */
export function createAppNews(
  notifications: Observable<Notification>,
  limits: ListenerLimits = defaultListenerLimits,
): AppNews & { close(): void } {
  const byApp = new Map<string, Set<Listener>>();
  let count = 0;
  let closed = false;
  const listening = notifications.subscribe(({ channel, payload }) => {
    if (channel !== appEventsChannel) return;
    const [appId = '', ordinal = null] = payload.split(' ');
    const told = appId === '' ? everybody() : [...(byApp.get(appId) ?? [])];
    for (const listener of told) listener.notify(ordinal);
  });
  const everybody = (): readonly Listener[] => [...byApp.values()].flatMap((listeners) => [...listeners]);

  return {
    changes(appId, signal) {
      const others = byApp.get(appId) ?? new Set();
      if (others.size >= limits.perApp)
        throw new ListenersFull('one', 'too many requests wait for events of this app: let some of them end first');
      if (count >= limits.perInstance)
        throw new ListenersFull('instance', 'too many requests wait for events here: try again');
      const listener: Listener = createWakeup(signal, () => {
        count -= 1;
        others.delete(listener);
        if (others.size === 0) byApp.delete(appId);
      });
      count += 1;
      byApp.set(appId, others.add(listener));
      if (closed || signal.aborted) listener.end();
      return listener.values;
    },
    close() {
      closed = true;
      listening.unsubscribe();
      for (const listener of everybody()) listener.end();
    },
  };
}

export interface PaymentNewsDeps {
  /** Contains at least `appEventsChannel`: one connection for all listeners. */
  readonly notifications: Observable<Notification>;
  readonly lastOrdinal: (appId: string) => Promise<string>;
  readonly events: (
    appId: string,
    page: { readonly after: string; readonly limit: number },
  ) => Promise<readonly { readonly ordinal: string; readonly paymentId: string }[]>;
  /** Newest block of each chain that was read. */
  readonly heads: () => Promise<ReadonlyMap<number, bigint>>;
  readonly clock: Pick<Clock, 'sleep'>;
}

const page = 100;
/** Maximum pages to catch up; beyond it all pages of the app query for themselves. */
const pagesMax = 10;
const headPoll_ms = 1_000;

interface Open extends PaymentListener {
  readonly paymentId: string;
  /** Chain whose head the page waits for. */
  readonly awaited: () => number | null;
  tell(): void;
}

/** An app with open pages. */
interface Pages {
  readonly open: Set<Open>;
  /** Reads new entries of the app's feed, and notifies the pages of their payments. */
  readOn(): void;
}

export function createPaymentNews(
  deps: PaymentNewsDeps,
  limits: PageListenerLimits = defaultPageListenerLimits,
): PaymentNews & { close(): void } {
  const apps = new Map<string, Pages>();
  const closing = new AbortController();
  const shares = createPlaceShares({ placesMax: limits.perInstance, perCallerMax: limits.perAddress });
  let count = 0;
  const everybody = (): readonly Open[] => [...apps.values()].flatMap(({ open }) => [...open]);
  const watch = headWatch(deps, everybody, closing.signal);
  const listening = deps.notifications.subscribe(({ channel, payload }) => {
    if (channel !== appEventsChannel) return;
    const [appId = '', ordinal] = payload.split(' ');
    if (ordinal !== undefined) apps.get(appId)?.readOn();
    else for (const listener of everybody()) listener.tell();
  });

  return {
    listen({ paymentId, appId, address }, signal) {
      const pages = apps.get(appId) ?? pagesOf(deps, appId);
      const others = [...pages.open].filter((each) => each.paymentId === paymentId);
      if (others.length >= limits.perPayment)
        throw new ListenersFull('one', 'this payment’s page is open too often to be told its news: close some of them');
      if (count >= limits.perInstance)
        throw new ListenersFull(
          'instance',
          'too many pages of payments are open here to be told their news: try again',
        );
      const giveBack = shares.take(address);
      if (!giveBack)
        throw new ListenersFull('one', 'too many pages are open at your address to be told their news: close some');
      const wakeup = createWakeup<void>(AbortSignal.any([signal, closing.signal]), () => {
        count -= 1;
        giveBack();
        pages.open.delete(listener);
        if (pages.open.size === 0) apps.delete(appId);
      });
      let awaited: number | null = null;
      const listener: Open = {
        paymentId,
        awaited: () => awaited,
        tell: wakeup.notify,
        awaitHead(chainId) {
          awaited = chainId;
          if (chainId !== null) watch();
        },
        [Symbol.asyncIterator]: () => wakeup.values,
      };
      count += 1;
      apps.set(appId, pages);
      pages.open.add(listener);
      if (signal.aborted || closing.signal.aborted) wakeup.end();
      return listener;
    },
    close() {
      listening.unsubscribe();
      closing.abort();
    },
  };
}

/** Reads an app's feed once at a time; notifications during a read cause another one. */
function pagesOf({ events, lastOrdinal }: PaymentNewsDeps, appId: string): Pages {
  const open = new Set<Open>();
  /** End of the feed that was read, initially its end when the first page was opened. */
  let seen = lastOrdinal(appId);
  let busy = false;
  let again = false;

  const tell = (isTold: (paymentId: string) => boolean): void => {
    for (const listener of open) if (isTold(listener.paymentId)) listener.tell();
  };
  async function read(): Promise<void> {
    let after = await seen;
    for (let n = 0; n < pagesMax; n += 1) {
      const found = await events(appId, { after, limit: page });
      const happenedTo = new Set(found.map(({ paymentId }) => paymentId));
      tell((paymentId) => happenedTo.has(paymentId));
      after = found.at(-1)?.ordinal ?? after;
      seen = Promise.resolve(after);
      if (found.length < page) return;
    }
    throw new Error('far behind');
  }
  async function readOn(): Promise<void> {
    again = true;
    if (busy) return;
    busy = true;
    while (again && open.size > 0) {
      again = false;
      // If the feed cannot be read, or too much has happened, every page queries for itself.
      await read().catch(() => {
        seen = lastOrdinal(appId);
        seen.catch(() => {});
        tell(() => true);
      });
    }
    busy = false;
  }
  // Earlier notifications were unusable, so pages that have queried by then query once more.
  seen.then(() => tell(() => true)).catch(() => {});
  return { open, readOn: () => void readOn() };
}

/** @returns function that starts watching, unless it already runs, until no page waits */
function headWatch(
  { heads, clock }: PaymentNewsDeps,
  everybody: () => readonly Open[],
  signal: AbortSignal,
): () => void {
  let watching = false;
  const waiting = () => everybody().filter(({ awaited }) => awaited() !== null);
  async function watch(): Promise<void> {
    let known = await heads().catch(() => new Map<number, bigint>());
    while (!signal.aborted && waiting().length > 0) {
      await clock.sleep(headPoll_ms, signal);
      const now = await heads().catch(() => known);
      for (const listener of waiting()) {
        const chainId = listener.awaited();
        if (chainId !== null && now.get(chainId) !== known.get(chainId)) listener.tell();
      }
      known = now;
    }
    watching = false;
  }
  return () => {
    if (watching) return;
    watching = true;
    void watch();
  };
}
