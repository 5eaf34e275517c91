/** Replaces src/store/client.ts: the same port over the simulated network, with the same guarantees. */
import { type Appended, type EventStore, type SealedEvent, Unavailable } from '../../../commands/ports.ts';
import type { openEventStore as real } from '../../../src/store/client.ts';
import { runIn, runningProcess } from '../kernel/process.ts';
import { call, theRun } from '../kernel/run.ts';
import type { SimulatedLog } from '../store/log.ts';

const away = () => new Unavailable('the event store does not answer: try again');

/** As in the real client: sends the same ids until the outcome is known, or the timeout. */
const triesMost = 3;

/** Store of a separate signer. */
export const signerStoreUrl = 'esdb://signer.simulated:2113?tls=false';

/** @param name of the store in faults and in the trace @param logOf its log in the run */
function createStore(name: string, logOf: () => SimulatedLog): EventStore {
  async function append(stream: string, expected: bigint | 'no_stream', events: readonly SealedEvent[]) {
    const log = logOf();
    const sent = (): Promise<Appended> =>
      call({ port: `${name}.append`, serve: () => log.append(stream, expected, events), lost: away, repeats: true });
    for (let tries = 1; ; tries += 1) {
      try {
        return await sent();
      } catch (error) {
        if (!(error instanceof Unavailable) || tries === triesMost) throw error;
      }
    }
  }

  return {
    append,
    read: (stream, { from, backwards = false, max } = {}) =>
      call({
        port: `${name}.read`,
        lost: away,
        serve() {
          const history = logOf().stream(stream);
          const wanted = backwards
            ? history.slice(0, from === undefined ? undefined : Number(from) + 1).reverse()
            : history.slice(Number(from ?? 0n));
          return wanted.slice(0, max);
        },
      }),
    async *all({ after, prefixes, signal }) {
      const log = logOf();
      let position = after ?? 0n;
      for (let first = true; !signal.aborted; first = false) {
        if (!first && position >= log.tail()) await growth(log, signal);
        if (signal.aborted) return;
        const batch = await call({ port: `${name}.follow`, serve: () => log.after(position, prefixes), lost: away });
        position = batch.position;
        yield batch;
      }
    },
    tail: () => call({ port: `${name}.tail`, serve: () => logOf().tail(), lost: away }),
    lastEvent: (prefixes, after = 0n) =>
      call({
        port: `${name}.lastEvent`,
        serve: () => logOf().lastEvent(prefixes, after),
        lost: away,
      }),
    eventAt: (position) => call({ port: `${name}.eventAt`, serve: () => logOf().eventAt(position), lost: away }),
  };
}

/** Waits until the log has grown, which the server announces. */
function growth(log: SimulatedLog, signal: AbortSignal): Promise<void> {
  const { agenda, random, weather } = theRun();
  const process = runningProcess();
  return new Promise((resolve) => {
    const tell = () => {
      end();
      agenda.after(1 + random.below(weather.way_ms), () => runIn(process, resolve));
    };
    const forget = log.onGrown(tell);
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

const service = createStore('store', () => theRun().stores.log);
const signer = createStore('signerStore', () => theRun().stores.signerLog);

export const openEventStore: typeof real = ({ url }) => {
  const store = url === signerStoreUrl ? signer : service;
  return { ...store, workers: store, close: async () => {} };
};
