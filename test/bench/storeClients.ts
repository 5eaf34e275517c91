/** Both clients of the event store on one node of the real EventStoreDB, which EVENTSTOREDB names, in turn. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type OpenEventStore, openEventStore } from '../../src/store/client.ts';
import { openKurrentStore } from '../../src/store/kurrentStore.ts';
import { append, type LogOptions } from './log.ts';
import { loadText } from './machine.ts';
import { startRealEventStore } from './realEventStore.ts';
import { median, table, whole } from './table.ts';

interface Work {
  readonly name: string;
  /** @returns the number of events */
  readonly run: (store: OpenEventStore, seconds: number) => Promise<number>;
}

interface Measured {
  readonly perSecond: number;
  /** Processor time of the client's process for one event. */
  readonly cpu_us: number;
}

const longStream = `long-${randomUUID()}`;
const longLength = 5_000;
const data = { text: 'x'.repeat(600) };

const works: readonly Work[] = [
  { name: 'append, 80 callers', run: append },
  { name: 'append, 1 caller', run: appendAlone },
  { name: 'read a stream of 5,000 events', run: readLong },
  { name: 'read streams of 1 event', run: readShort },
  { name: 'catch up with the log', run: catchUp },
];

/** @returns a table with the medians of each client and their ratio */
export async function benchStoreClients({ rounds, seconds }: LogOptions): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'payments-bench-clients-'));
  const node = await startRealEventStore({ dataDir });
  const stores = [openEventStore({ url: node.url }), await openKurrentStore({ url: node.url })] as const;
  try {
    await fill(stores[0]);
    const rows: string[][] = [];
    for (const { name, run } of works) {
      const measured: [Measured[], Measured[]] = [[], []];
      for (let round = 0; round < rounds; round++) {
        for (const which of [0, 1] as const) measured[which].push(await timed(() => run(stores[which], seconds)));
      }
      const [one, other] = measured.map(medianOf) as [Measured, Measured];
      const ratios = [other.perSecond / one.perSecond, other.cpu_us / one.cpu_us].map((ratio) => ratio.toFixed(2));
      const figures = [one, other].flatMap(({ perSecond, cpu_us }) => [whole(perSecond), cpu_us.toFixed(0)]);
      rows.push([name, ...figures, ...ratios, loadText()]);
    }
    const clients = ['db-client', 'kurrentdb-client'].flatMap((client) => [`${client}, events/s`, 'CPU µs each']);
    return table(['work', ...clients, 'speed, ratio', 'CPU, ratio', 'load'], rows);
  } finally {
    for (const store of stores) await store.close();
    await node.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function fill(store: OpenEventStore): Promise<void> {
  for (let length = 0; length < longLength; length += 500) {
    const events = Array.from({ length: 500 }, eventToAppend);
    await store.append(longStream, length === 0 ? 'no_stream' : BigInt(length - 1), events);
  }
}

const eventToAppend = () => ({ id: randomUUID(), type: 'Measured', data, metadata: {} }) as never;

async function appendAlone(store: OpenEventStore, seconds: number): Promise<number> {
  return repeated(seconds, async () => {
    await store.append(`alone-${randomUUID()}`, 'no_stream', [eventToAppend()]);
    return 1;
  });
}

async function readLong(store: OpenEventStore, seconds: number): Promise<number> {
  return repeated(seconds, async () => (await store.read(longStream)).length);
}

async function readShort(store: OpenEventStore, seconds: number): Promise<number> {
  const stream = `short-${randomUUID()}`;
  await store.append(stream, 'no_stream', [eventToAppend()]);
  return repeated(seconds, async () => (await store.read(stream)).length);
}

async function repeated(seconds: number, work: () => Promise<number>): Promise<number> {
  const until_ms = performance.now() + seconds * 1_000;
  let count = 0;
  while (performance.now() < until_ms) count += await work();
  return count;
}

async function catchUp(store: OpenEventStore): Promise<number> {
  const leave = new AbortController();
  let count = 0;
  for await (const { events, live } of store.all({ after: null, prefixes: ['measured-'], signal: leave.signal })) {
    count += events.length;
    if (live) leave.abort();
  }
  return count;
}

async function timed(work: () => Promise<number>): Promise<Measured> {
  const [began_ms, before] = [performance.now(), process.cpuUsage()];
  const count = await work();
  const { user, system } = process.cpuUsage(before);
  return { perSecond: (count / (performance.now() - began_ms)) * 1_000, cpu_us: (user + system) / count };
}

function medianOf(rounds: readonly Measured[]): Measured {
  const of = (key: keyof Measured): number => median(rounds.map((round) => round[key]));
  return { perSecond: of('perSecond'), cpu_us: of('cpu_us') };
}
