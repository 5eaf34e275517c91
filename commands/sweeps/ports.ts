/** Ports for sweeps that each chain family implements: balances of deposits, and the transactions that collect them. */
import type { ChainId, Token } from '../../domain/chains.ts';
import type { FlushedDeposit } from '../../domain/transfer/shapes.ts';

/** A deposit with recorded money, of a payment that is over. */
export interface PaidDeposit {
  readonly address: string;
  readonly paymentId: string;
}

/** Final balance of one token at a deposit. */
export interface HeldDeposit extends FlushedDeposit {
  readonly paymentId: string;
  readonly token: Token;
  /** In smallest units. */
  readonly amount: bigint;
}

/** A deposit that is not swept, and the reason. */
export interface LeftDeposit {
  readonly address: string;
  readonly token: Token;
  readonly amount: bigint;
  readonly why: string;
  /** The deposit holds money that its payment has not recorded: its history must be read. */
  readonly unrecorded?: true;
}

/** One transaction: deposits of one token. */
export interface SweepPart {
  readonly token: Token;
  readonly deposits: readonly HeldDeposit[];
  /** Estimated gas; null on chains without gas. */
  readonly gas: bigint | null;
  /** Cost in the chain's coin, smallest units, less the deposits' returned rent; negative if more is returned. */
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

/** Only plans: the log orders the plan, and the engine signs and sends it. */
export interface DepositSweep {
  readonly chainId: ChainId;
  /** The treasury. */
  readonly account: string;
  /** Maximum deposits of one `held` call. */
  readonly heldMax: number;
  /** Maximum concurrent transactions, so payouts keep capacity, and maximum deposits of one transaction. */
  readonly partsMax: number;
  readonly depositsMax: number;
  /**
   * @param gasPriceMax in smallest units of the coin per unit of gas; null for the chain's own limit, as on chains without gas
   * @throws PayoutBlocked if nothing can be swept on the chain now
   */
  ready(gasPriceMax: bigint | null, signal: AbortSignal): Promise<void>;
  /** Balances of the deposits in every token, in the same order; empty deposits are omitted. */
  held(deposits: readonly PaidDeposit[], signal: AbortSignal): Promise<readonly HeldDeposit[]>;
  /** Groups deposits of one token, in order, into transactions; deposits beyond `partsMax` transactions remain for a later plan. */
  plan(held: readonly HeldDeposit[], partsMax: number, signal: AbortSignal): Promise<SweepPlan>;
  /**
   * The transaction that moves a token outside the catalogue from a deposit to the treasury, on chains where any account may send it. Null
   * if the token's address is invalid, or the deposit belongs to another treasury.
   */
  recoveryCall?(deposit: FlushedDeposit, token: string): { readonly to: string; readonly data: string } | null;
  /**
   * Moves tokens outside the catalogue from a deposit to the treasury, on chains where the deposit's own key must sign. Reports each token
   * account that is finally empty.
   * @param feePayerKey key of another account than the treasury, as wallets export it
   * @throws Error with what to do
   */
  recoverTokens?(deposit: FlushedDeposit, feePayerKey: string, signal: AbortSignal): AsyncIterable<RecoveredTokens>;
  /** Contract that must exist on the chain before deposits can be swept, if one is needed. */
  readonly forwarder?: { readonly address: string; isThere(signal: AbortSignal): Promise<boolean> };
}
