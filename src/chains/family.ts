/** The shape in which the service knows its chains, whatever their family. */
import type { ChainFamily } from '../../domain/chains.ts';
import type { CanReceive, DepositScheme, Ingester, PayoutRail } from './ports.ts';

/** One configured chain: what watches it and what pays out on it share its nodes. */
export interface OpenChain {
  readonly ingester: Ingester;
  readonly rail: PayoutRail;
  /** How often the chain is looked at. */
  readonly poll_ms: number;
}

/** Chains that work alike and share one treasury account. */
export interface OpenFamily {
  readonly family: ChainFamily;
  readonly chains: readonly OpenChain[];
  readonly deposits: DepositScheme;
  /** Null where every receiver can take every token. */
  readonly canReceive: CanReceive | null;
  /**
   * Why the configuration does not fit what is on the chain, so that nothing must be offered; undefined when it does.
   * @throws ChainUnavailable when no node can tell
   */
  readonly misfit: ((signal: AbortSignal) => Promise<string | undefined>) | null;
}
