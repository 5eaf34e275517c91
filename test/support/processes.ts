import assert from 'node:assert/strict';
import { eventCodec } from '../../commands/codec.ts';
import { createHandle, type Handle, type HandleDeps } from '../../commands/handle.ts';
import type { CrashPoint, EventStore } from '../../commands/ports.ts';
import { isRefusal, type Refusal } from '../../domain/decider.ts';
import type { Instant } from '../../domain/time.ts';
import { randomIds } from '../../src/process/system.ts';
import { memoryEventStore } from './memoryEventStore.ts';
import { minute } from './payments.ts';

/** Error that ends a process in tests. */
export class Crashed extends Error {}

/** The process dies at the first passing of the point. */
export const crashAt =
  (point: string): CrashPoint =>
  (name) => {
    if (name === point) throw new Crashed(name);
  };

/** Writes down each point that is passed. */
export const noting =
  (points: string[]): CrashPoint =>
  (name) => {
    points.push(name);
  };

export async function accepted<T>(answer: Promise<T | Refusal>): Promise<T> {
  const outcome = await answer;
  return isRefusal(outcome) ? assert.fail(`refused with ${outcome.refused}: ${outcome.message}`) : outcome;
}

/** Short-lived processes over one store; each has its own cache, and a clock that only the spec advances. */
export function processes({ store = memoryEventStore(), now = minute(0) }: { store?: EventStore; now?: Instant } = {}) {
  const time = { now };
  const clock = { now: () => time.now, sleep: async (_duration_ms: number) => {} };
  const start = (more: Partial<HandleDeps> = {}): Handle =>
    createHandle({ store, clock, ids: randomIds, codec: eventCodec, ...more });
  const typesIn = async (stream: string) => (await store.read(stream)).map(({ type }) => type);
  return { store, clock, time, start, typesIn };
}
