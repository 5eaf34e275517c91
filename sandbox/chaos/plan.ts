/** A seeded plan of faults: one after the other, sometimes two at once, until stopped. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dice } from './dice.ts';
import { type FaultName, faults, targetOf, weights } from './faults.ts';
import type { ChaosWorld } from './world.ts';

export interface Plan {
  /** Number of each fault. */
  readonly counts: ReadonlyMap<FaultName, number>;
  /** Faults that could not be applied or reverted. */
  readonly failures: readonly string[];
  /** Reverts active faults. */
  stop(): Promise<void>;
}

const lasts_ms = { least: 300, most: 7_000 };
const pause_ms = { least: 500, most: 4_000 };
/** On a busy machine a start takes long: a service that never gets ready would test nothing. */
const readyMost_ms = 60_000;
const atOnceMax = 2;
const undoTriesMax = 20;

export function runPlan(chaos: ChaosWorld, dice: Dice, onFault: (name: FaultName) => void): Plan {
  const counts = new Map<FaultName, number>();
  const failures: string[] = [];
  const underWay = new Map<string, Promise<void>>();
  const stopping = new AbortController();
  const going = go();

  async function go(): Promise<void> {
    while (!stopping.signal.aborted) {
      const name = dice.weighted(weights);
      const lasting_ms = dice.between(lasts_ms.least, lasts_ms.most);
      if (underWay.size < atOnceMax && !underWay.has(targetOf(name))) {
        onFault(name);
        const once = inflict(name, lasting_ms).finally(() => underWay.delete(targetOf(name)));
        underWay.set(targetOf(name), once);
      }
      await sleep(dice.between(pause_ms.least, pause_ms.most));
    }
  }

  async function inflict(name: FaultName, lasting_ms: number): Promise<void> {
    const undo = await faults[name](chaos, dice).catch((error: unknown) => {
      failures.push(`${name}: ${text(error)}`);
      return undefined;
    });
    if (!undo) return;
    counts.set(name, (counts.get(name) ?? 0) + 1);
    await sleep(lasting_ms);
    await takenBack(name, undo);
    if (mustRecover(name)) await ready();
  }

  async function takenBack(name: FaultName, undo: () => Promise<void>): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const failed = await undo().then(
        () => undefined,
        (error: unknown) => text(error),
      );
      if (failed === undefined) return;
      if (tries === undoTriesMax) return void failures.push(`${name} was not taken back: ${failed}`);
      await sleep(pause_ms.least);
    }
  }

  async function ready(): Promise<void> {
    for (const until_ms = performance.now() + readyMost_ms; performance.now() < until_ms; await sleep(pause_ms.least))
      if (await chaos.isReady()) return;
  }

  return {
    counts,
    failures,
    async stop() {
      stopping.abort();
      await going;
      await Promise.all(underWay.values());
    },
  };
}

/** Dependencies of the service: the next fault of the kind waits until it is ready again. */
const mustRecover = (name: FaultName): boolean => ['service', 'postgres', 'event'].includes(targetOf(name));

const text = (error: unknown): string => (error instanceof Error ? error.message.slice(0, 200) : String(error));
