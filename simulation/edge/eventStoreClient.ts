/** In place of src/eventstore/client.ts: the same port over the simulated network, with the same promises. */
import { type Appended, type EventStore, type SealedEvent, Unavailable } from '../../commands/ports.ts';
import type { openEventStore as real } from '../../src/eventstore/client.ts';
import { runIn, runningProcess } from '../kernel/process.ts';
import { call, theRun } from '../kernel/run.ts';

const away = () => new Unavailable('the event store does not answer: try again');

/** As the real client does: the same ids are sent until the outcome is known, or the time is up. */
const triesMost = 3;

async function append(stream: string, expected: bigint | 'no_stream', events: readonly SealedEvent[]) {
  const { log } = theRun().stores;
  const sent = (): Promise<Appended> =>
    call({ port: 'store.append', serve: () => log.append(stream, expected, events), lost: away, repeats: true });
  for (let tries = 1; ; tries += 1) {
    try {
      return await sent();
    } catch (error) {
      if (!(error instanceof Unavailable) || tries === triesMost) throw error;
    }
  }
}

const store: EventStore = {
  append,
  read: (stream, { from, backwards = false, max } = {}) =>
    call({
      port: 'store.read',
      lost: away,
      serve() {
        const history = theRun().stores.log.stream(stream);
        const wanted = backwards
          ? history.slice(0, from === undefined ? undefined : Number(from) + 1).reverse()
          : history.slice(Number(from ?? 0n));
        return wanted.slice(0, max);
      },
    }),
  async *all({ after, prefixes, signal }) {
    const { log } = theRun().stores;
    let position = after ?? 0n;
    for (let first = true; !signal.aborted; first = false) {
      if (!first && position >= log.tail()) await growth(signal);
      if (signal.aborted) return;
      const batch = await call({ port: 'store.follow', serve: () => log.after(position, prefixes), lost: away });
      position = batch.position;
      yield batch;
    }
  },
  tail: () => call({ port: 'store.tail', serve: () => theRun().stores.log.tail(), lost: away }),
  lastEvent: (prefixes, after = 0n) =>
    call({
      port: 'store.lastEvent',
      serve: () => theRun().stores.log.lastEvent(prefixes, after),
      lost: away,
    }),
  eventAt: (position) =>
    call({ port: 'store.eventAt', serve: () => theRun().stores.log.eventAt(position), lost: away }),
};

/** Until the log has grown, of which the server tells. */
function growth(signal: AbortSignal): Promise<void> {
  const { stores, agenda, random, weather } = theRun();
  const process = runningProcess();
  return new Promise((resolve) => {
    const tell = () => {
      end();
      agenda.after(1 + random.below(weather.way_ms), () => runIn(process, resolve));
    };
    const forget = stores.log.onGrown(tell);
    const aborted = () => {
      end();
      resolve();
    };
    const end = () => {
      forget();
      process?.onEnd.delete(forget);
      signal.removeEventListener('abort', aborted);
    };
    process?.onEnd.add(forget);
    signal.addEventListener('abort', aborted, { once: true });
  });
}

export const openEventStore: typeof real = () => ({ ...store, workers: store, close: async () => {} });
