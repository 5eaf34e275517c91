/** What a chain family implements of sweeps: what deposits hold, and in which transactions it goes to the treasury. */
import type { ChainId, Token } from '../../domain/chains.ts';
import type { FlushedDeposit } from '../../domain/transfer/shapes.ts';

/** A deposit that money was recorded at, of a payment that is over. */
export interface PaidDeposit {
  readonly address: string;
  readonly paymentId: string;
}

/** What a deposit holds of one token, as far as it is final. */
export interface HeldDeposit extends FlushedDeposit {
  readonly paymentId: string;
  readonly token: Token;
  /** In smallest units. */
  readonly amount: bigint;
}

/** What stays where it is, and why. */
export interface LeftDeposit {
  readonly address: string;
  readonly token: Token;
  readonly amount: bigint;
  readonly why: string;
  /** The deposit holds money that its payment has not recorded: its history is to be read. */
  readonly unrecorded?: true;
}

/** What one transaction takes: deposits of one token. */
export interface SweepPart {
  readonly token: Token;
  readonly deposits: readonly HeldDeposit[];
  /** Gas that it is estimated to use; null on chains without gas. */
  readonly gas: bigint | null;
  /** Of the chain's coin, in smallest units, less what comes back of what was paid for the deposits; negative where more does. */
  readonly cost: bigint;
}

export interface SweepPlan {
  readonly parts: readonly SweepPart[];
  readonly left: readonly LeftDeposit[];
}

/** Tokens that were moved from a deposit to the treasury. */
export interface RecoveredTokens {
  readonly token: string;
  /** In smallest units. */
  readonly amount: bigint;
  readonly hash: string;
}

/** Only plans: what is planned is ordered in the log, and the engine signs and sends it. */
export interface DepositSweep {
  readonly chainId: ChainId;
  /** The treasury. */
  readonly account: string;
  /** How many deposits `held` takes at most. */
  readonly heldMax: number;
  /** How many transactions are under way at most, so that payouts have room beside them, and how many deposits one takes at most. */
  readonly partsMax: number;
  readonly depositsMax: number;
  /**
   * @param gasPriceMax in smallest units of the coin, for one of gas; null for the chain's own limit, as on chains without gas
   * @throws PayoutBlocked when nothing can be swept on the chain now
   */
  ready(gasPriceMax: bigint | null, signal: AbortSignal): Promise<void>;
  /** What deposits hold of every token, in the same order; those that hold nothing are left out. */
  held(deposits: readonly PaidDeposit[], signal: AbortSignal): Promise<readonly HeldDeposit[]>;
  /**
   * Puts deposits of one token together, in their order, in as many of them as one transaction takes; beyond `partsMax` transactions they
   * are left for another plan.
   */
  plan(held: readonly HeldDeposit[], partsMax: number, signal: AbortSignal): Promise<SweepPlan>;
  /**
   * The transaction that moves a token outside the catalogue from a deposit to the treasury, where any account may send it. Null when the
   * token's address is none, or the deposit belongs to another treasury.
   */
  recoveryCall?(deposit: FlushedDeposit, token: string): { readonly to: string; readonly data: string } | null;
  /**
   * Moves tokens outside the catalogue from a deposit to the treasury, where the deposit's own key must sign. Reports each token account that
   * is empty for good.
   * @param feePayerKey key of another account than the treasury, as wallets export it
   * @throws Error with what to do
   */
  recoverTokens?(deposit: FlushedDeposit, feePayerKey: string, signal: AbortSignal): AsyncIterable<RecoveredTokens>;
  /** What must stand on the chain before deposits can be swept, where that takes anything. */
  readonly forwarder?: { readonly address: string; isThere(signal: AbortSignal): Promise<boolean> };
}
