/** One quirk between the service's own modules and a local chain: a payin that must be detected once, a payout that must land once. */
import type { ChainFamily } from '../../../domain/chains.ts';

/** A family's chain as the trials use it. */
export interface Ground {
  readonly family: ChainFamily;
  readonly rpcUrl: string;
  /** Pays a new deposit. Nothing has polled it yet. */
  payin(urls: readonly string[]): Promise<Payin>;
  payout(urls: readonly string[]): Promise<Payout>;
  /** Advances the chain until earlier blocks are final. */
  advance(): Promise<void>;
}

export interface Payin {
  readonly paid: bigint;
  /** Polls every pass once, like the service. @throws as the service would */
  look(): Promise<void>;
  /** Amount whose payment is final. */
  confirmed(): bigint;
  /** Restarts the service with other nodes. */
  restart(urls: readonly string[]): void;
}

export interface Payout {
  readonly ordered: bigint;
  /** Takes one step like the service: prepares and signs once, sends while the result is unknown. @throws as the service would */
  step(): Promise<'final' | 'waits'>;
  /** Balance of the receiver on the chain. */
  arrived(): Promise<bigint>;
}

/** Number of polls or steps until the goal was reached (undefined: never), and each failure on the way once. */
export interface Tried {
  readonly took: number | undefined;
  readonly failures: readonly string[];
}

/** Polls repeatedly, like a service, while the chain continues. */
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
