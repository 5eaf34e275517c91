/** Memory of a service with all roles after many created payments. */
import { load, settled } from './create.ts';
import { loadText, memory_MiB, ownMemory_MiB } from './machine.ts';
import { startServer } from './servers.ts';
import { table, whole } from './table.ts';
import type { BenchWorld } from './world.ts';

export interface MemoryOptions {
  readonly payments: number;
  readonly connections: number;
}

const step_s = 5;
const rest_ms = 30_000;

/** @returns a table: memory after a number of payments, and half a minute later, without load */
export async function benchMemory(world: BenchWorld, { payments, connections }: MemoryOptions): Promise<string> {
  const service = await startServer('src/main.ts', world.env);
  const rows: (readonly string[])[] = [];
  const note = (when: string) =>
    rows.push([
      when,
      whole(ownMemory_MiB(service.pid)),
      whole(ownMemory_MiB(world.eventStore.pid)),
      whole(memory_MiB(world.eventStore.pid)),
    ]);
  try {
    note('started');
    let created = 0;
    for (const part of [0.1, 0.5, 1]) {
      while (created < payments * part)
        created += (await load(world, service, { connections, seconds: step_s })).requests;
      await settled(world);
      note(`${whole(created)} payments created`);
    }
    await new Promise((resolve) => setTimeout(resolve, rest_ms));
    note('half a minute later');
  } finally {
    await service.stop();
  }
  const head = ['memory, MiB', 'service, all roles', 'event store', 'event store with its file'];
  return `${table(head, rows)}\nits own, without what is mapped of files; load of the machine after: ${loadText()}`;
}
