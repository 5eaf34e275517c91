import type { Observable } from 'rxjs';
import { type AppNews, defaultListenerLimits, type ListenerLimits, ListenersFull } from '../api/news.ts';
import { type Bell, createBell } from '../lib/wakeup.ts';
import type { Notification } from '../postgres/listen.ts';

/** Notified by the read models with `<appId> <newest ordinal>`, or with nothing where only a look can tell. */
export const appEventsChannel = 'app_events';

type Listener = Bell<string | null>;

/** @param notifications of `appEventsChannel` at least: one connection for all who wait */
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
    for (const listener of told) listener.tell(ordinal);
  });
  const everybody = (): readonly Listener[] => [...byApp.values()].flatMap((listeners) => [...listeners]);

  return {
    changes(appId, signal) {
      const others = byApp.get(appId) ?? new Set();
      if (others.size >= limits.perApp)
        throw new ListenersFull('one', 'too many requests wait for events of this app: let some of them end first');
      if (count >= limits.perInstance)
        throw new ListenersFull('instance', 'too many requests wait for events here: try again');
      const listener: Listener = createBell(signal, () => {
        count -= 1;
        others.delete(listener);
        if (others.size === 0) byApp.delete(appId);
      });
      count += 1;
      byApp.set(appId, others.add(listener));
      if (closed || signal.aborted) listener.end();
      return listener.words;
    },
    close() {
      closed = true;
      listening.unsubscribe();
      for (const listener of everybody()) listener.end();
    },
  };
}
