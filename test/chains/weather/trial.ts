/** One quirk between the service's own modules and a local chain: a payin that is to be seen once, a payout that is to land once. */
import type { ChainFamily } from '../../../domain/chains.ts';

/** What a family's chain offers to the trials. */
export interface Ground {
  readonly family: ChainFamily;
  readonly rpcUrl: string;
  /** Somebody has paid a deposit of its own; nobody has looked yet. */
  payin(urls: readonly string[]): Promise<Payin>;
  payout(urls: readonly string[]): Promise<Payout>;
  /** So many blocks that what was there before is final. */
  advance(): Promise<void>;
}

export interface Payin {
  readonly paid: bigint;
  /** One look of every pass, as the service takes it. @throws as it would */
  look(): Promise<void>;
  /** What counts as paid, finally. */
  confirmed(): bigint;
  /** The service is started again, with other nodes. */
  restart(urls: readonly string[]): void;
}

export interface Payout {
  readonly ordered: bigint;
  /** One step, as the service takes it: prepared and signed once, sent while nothing is known of it. @throws as it would */
  step(): Promise<'final' | 'waits'>;
  /** What the receiver has on the chain. */
  arrived(): Promise<bigint>;
}

/** Looks or steps until it was done, and what failed on the way, each once; undefined when it was not done. */
export interface Tried {
  readonly took: number | undefined;
  readonly failures: readonly string[];
}

/** Looks again and again, as a service does, while the chain goes on. */
export const seeing = (ground: Ground, payin: Payin, most: number): Promise<Tried> =>
  trying(ground, most, async () => {
    await payin.look();
    return payin.confirmed() >= payin.paid;
  });

export const paying = (ground: Ground, payout: Payout, most: number): Promise<Tried> =>
  trying(ground, most, async () => (await payout.step()) === 'final');

async function trying(ground: Ground, most: number, isDone: () => Promise<boolean>): Promise<Tried> {
  const failures = new Set<string>();
  for (let took = 1; took <= most; took++) {
    const done = await isDone().catch((error: Error) => void failures.add(`${error.name}: ${error.message}`));
    if (done) return { took, failures: [...failures] };
    await ground.advance();
  }
  return { took: undefined, failures: [...failures] };
}
