/** What each chain family implements: where to pay to, what was paid, how to pay out, who may sign. */
import type { ChainId } from '../domain/chains.ts';
import {
  type DeathProof,
  type SignedAttempt,
  type TokenRef,
  type Transfer,
  transferId,
} from '../domain/payment/events.ts';
import type { Instant } from '../domain/time.ts';

/**
 * A chain is scanned in passes, each to its own depth. `head` sees transfers first (PayinDetected). `final` and `finalLarge` confirm
 * them (PayinConfirmed) once they are as deep as configuration demands for small amounts, and for large ones.
 */
export const passes = ['head', 'final', 'finalLarge'] as const;
export type Pass = (typeof passes)[number];

/** How far a pass has come: the last block that it has wholly handled. */
export interface Cursor {
  readonly chainId: ChainId;
  readonly pass: Pass;
  readonly blockNumber: bigint;
  readonly blockHash: string;
  readonly chainTime: Instant;
}

export interface ScannedRange {
  /** Every transfer of a catalogue token in the range, whoever it is for. */
  readonly logs: readonly TransferLog[];
  /**
   * Blocks that this pass has handled and that have left the chain since; when there are any, `next` is where the chain forked. Blocks
   * that left while the service was down may be missing: what was recorded above `next` is looked at again.
   * On a final pass this is empty, unless the configured depth was too shallow: then confirmed money is gone.
   */
  readonly orphaned: readonly string[];
  /**
   * Deposits that hold what the chain does not explain yet, on chains that are read by balances. The range goes on without them: they are
   * to be set aside and read by themselves.
   */
  readonly unexplained?: readonly string[];
  /** Blocks that no node remembers any more: what they held for us has not been seen. */
  readonly missed?: { readonly from: bigint; readonly to: bigint };
  /** Move the cursor here once the range is handled. */
  readonly next: Cursor;
}

export interface DepositRead {
  readonly logs: readonly TransferLog[];
  readonly explained: boolean;
}

/** A transfer as a log shows it: cheap to read, for nearly all of them are nothing to us. */
export interface TransferLog {
  /** Whom it was made to: the account, or the payin contract that the payer called. */
  readonly to: string;
  /** What the payer wrote beside the address, as text; null where there is none or the chain has no memos. */
  readonly memo: string | null;
  readonly from: string;
  readonly token: TokenRef;
  readonly amount: bigint;
  readonly txHash: string;
  readonly blockNumber: bigint;
  readonly blockHash: string;
  /** Its index within its block. */
  readonly logIndex: number;
  readonly blockTime: Instant;
}

/** The transfer that a log shows, where the log's own index tells it from the others of its transaction. */
export const transferOf = (chainId: ChainId, log: TransferLog): Transfer => ({
  chainId,
  txHash: log.txHash,
  index: log.logIndex,
  blockNumber: log.blockNumber.toString(),
  blockHash: log.blockHash,
  blockTime: log.blockTime,
  token: log.token,
  from: log.from,
  to: log.to,
  memo: log.memo,
  amount: log.amount.toString(),
});

/** Whether two nodes mean the same transfer, in the same place. What the catalogue says of the token is the same anyway. */
export const sameTransfer = (a: Transfer, b: Transfer): boolean =>
  transferId(a) === transferId(b) &&
  a.blockHash === b.blockHash &&
  a.blockTime === b.blockTime &&
  a.token.address === b.token.address &&
  a.amount === b.amount &&
  a.from === b.from &&
  a.to === b.to &&
  (a.memo ?? null) === (b.memo ?? null);

/** What one node shows at a moment. */
export interface NodeHead {
  readonly blockNumber: bigint;
  /** Another one when anything has moved that a pass could see: a new block, another one in its place, what is final. */
  readonly mark: string;
}

export interface Ingester {
  readonly chainId: ChainId;
  /** Those that the chain has. Without `finalLarge`, nothing of it is large. */
  readonly passes: readonly Pass[];
  /** The amount, in whole tokens (USD), from which only `finalLarge` confirms; null where nothing is large. */
  readonly largeFrom: bigint | null;
  /** Most, in whole tokens (USD), that `final` confirms before `finalLarge` has come as far; null where nothing is large. */
  readonly exposureMax_usd: bigint | null;
  /**
   * Addresses that payments share; memos tell the payments apart. What is paid there without a known memo is still somebody's money.
   * Empty where every payment has an address of its own.
   */
  readonly sharedAddresses: readonly string[];
  /** How many blocks on top of its own a transfer needs for a pass to see it; null, as when left out, where the chain itself says. */
  blocksOnTop?(pass: Pass): number | null;
  /** Where a pass starts that has no cursor yet: the last block at or before `at`. */
  start(pass: Pass, at: Instant, signal: AbortSignal): Promise<Cursor>;
  /** To read again what comes after a block. Its time is the block's or an earlier one. */
  cursorAt(pass: Pass, blockNumber: bigint, signal: AbortSignal): Promise<Cursor>;
  /** Ranges after the cursor, oldest first, until the pass's end is reached; bounded by `rangesMax` per call. */
  scan(cursor: Cursor, signal: AbortSignal): AsyncIterable<ScannedRange>;
  /**
   * Fills in what identifies a transfer, on chains whose logs do not tell it: left out, the log is the whole transfer.
   * @returns undefined when its block has meanwhile left the chain
   */
  resolve?(log: TransferLog, signal: AbortSignal): Promise<Transfer | undefined>;
  /** Catalogue-token transfers of one transaction, for a registered hash; empty when unknown or failed. */
  lookUp(txHash: string, signal: AbortSignal): Promise<readonly Transfer[]>;
  /**
   * Whether enough nodes, each asked for itself, show this transfer just so, in this block, as deep as the pass demands.
   * @param stake `usd`: what depends on it, in whole tokens; large sums take more nodes
   */
  agreed(
    transfer: Transfer,
    stake: { readonly pass: Pass; readonly usd: bigint },
    signal: AbortSignal,
  ): Promise<Agreement>;
  /**
   * Reads by itself all that a deposit ever received, as far as it is final, on chains that are read by balances.
   * `explained`: whether that adds up to what it holds.
   */
  readDeposit?(address: string, signal: AbortSignal): Promise<DepositRead>;
  /** Whether another block is where this one was, for all nodes that can say: only then what it held has left the chain. */
  hasLeft(block: { readonly blockNumber: bigint; readonly blockHash: string }, signal: AbortSignal): Promise<boolean>;
  /** Height and time of the newest block that any node reports. */
  head(signal: AbortSignal): Promise<{ readonly blockNumber: bigint; readonly chainTime: Instant }>;
  /** For each node of the chain: what it shows now, by one cheap call or few. Each throws what its node's failure is. */
  readonly nodeHeads: readonly ((signal: AbortSignal) => Promise<NodeHead>)[];
}

/** One transfer to make: a payout or a refund. */
export interface TransferOrder {
  readonly chainId: ChainId;
  readonly token: TokenRef;
  readonly receiver: string;
  readonly receiverMemo: string | null;
  readonly amount: bigint;
  /** What it is for, such as a payment. No chain shows it. Where there are no nonces, equal transfers are told apart by what is derived from it. */
  readonly reference?: string;
  /**
   * For a reference that nobody else knows before it is used: one more than attempts of the transfer that failed on the chain, so that each
   * is used once there. Left out where the reference is the public one, for payments from before there were others.
   */
  readonly referenceOrdinal?: number;
  /** What other transfers that are signed, and that no balance shows yet, will take of the token, in smallest units. */
  readonly spokenFor?: bigint;
}

/** A transaction that lacks only its signature. `payload` is the family's own serialisable form. */
export interface Unsigned {
  readonly chainId: ChainId;
  /** Whose nonce it uses up. */
  readonly account: string;
  readonly nonce: bigint | null;
  readonly order: TransferOrder;
  readonly validUntil: string | null;
  readonly fee: Readonly<Record<string, string>>;
  readonly payload: unknown;
}

export interface Signed {
  readonly bytes: string;
  readonly hash: string;
}

export type Fate =
  /** No node knows any of the attempts, or none answered: broadcast the stored bytes again. */
  | { readonly kind: 'unknown' }
  /** Waiting to be mined, or `mined` and not yet final. With a dispute, only its end can decide more. */
  | { readonly kind: 'pending'; readonly mined: boolean; readonly dispute?: Dispute }
  /** Final at the payout depth of configuration, for as many nodes as must agree: this attempt landed and succeeded. */
  | ({ readonly kind: 'final'; readonly attempt: number } & Settled)
  /** None of the attempts of this nonce can land any more. */
  | { readonly kind: 'dead'; readonly attempts: readonly number[]; readonly proof: DeathProof };

/** Why nodes cannot be believed as they stand: they contradict each other, or fewer can say than must. The message has each one's answer. */
export interface Dispute {
  readonly reason: 'nodesDisagree' | 'nodesTooFew';
  readonly message: string;
}

/** Whether as many nodes as must say the same of a fact. Those that disagree are told of even where enough agree. */
export interface Agreement {
  readonly agreed: boolean;
  readonly dispute?: Dispute;
}

/** What was signed and maybe sent, as far as its fate depends on it. */
export type Sent = Pick<
  SignedAttempt,
  'attempt' | 'account' | 'nonce' | 'hash' | 'bytes' | 'validUntil' | 'token' | 'amount' | 'signedAt'
>;

/** Where a transaction landed. */
export interface Settled {
  readonly hash: string;
  readonly blockNumber: bigint;
  readonly blockHash: string;
}

/** An account whose nonces number transfers of the treasury. */
export interface NumberingAccount {
  readonly account: string;
  /** Its next nonce as the chain has mined it. */
  readonly minedNonce: bigint;
  /** Whether it has used up no nonce yet. */
  readonly unused: boolean;
}

/** Makes transfers from one treasury account on one chain. */
export interface PayoutRail {
  readonly chainId: ChainId;
  readonly account: string;
  /** The account's next nonce as the chain has mined it. Null where a chain has no nonces: nothing that is signed is replaced there. */
  minedNonce(signal: AbortSignal): Promise<bigint | null>;
  /**
   * The account itself and further accounts that number its transfers, so that more of them land at a time; only those that exist on
   * the chain. Left out where the account's own nonces are enough.
   */
  numberingAccounts?(signal: AbortSignal): Promise<readonly NumberingAccount[]>;
  /**
   * Checks float, gas and that the transfer would succeed, then builds it.
   * With `replaces`, the same nonce, receiver and amount at a fee high enough to replace it.
   * @param numberedBy whose nonce it is; the account's own when left out
   * @throws PayoutBlocked when it cannot be made now (float, gas, refused by the token): wait and raise an alarm, sign nothing.
   */
  prepare(order: TransferOrder, nonce: bigint | null, replaces?: SignedAttempt, numberedBy?: string): Promise<Unsigned>;
  /** The same transaction under another nonce of its account. The chain is not asked. */
  numbered(unsigned: Unsigned, nonce: bigint): Unsigned;
  /**
   * A transaction that does nothing but use up a nonce whose purpose is gone.
   * @param outbid the fees of one that is to be replaced
   * @throws PayoutBlocked when outbidding would cost more than the configured maximum
   */
  prepareCancel(nonce: bigint, numberedBy?: string, outbid?: Pick<SignedAttempt, 'fee'>): Promise<Unsigned>;
  /** Sends bytes; idempotent: known, mined or outbid bytes are no error. */
  broadcast(bytes: string): Promise<void>;
  /** What became of attempts that share one nonce. A missing answer is `unknown`, never a failure. */
  fate(attempts: readonly Sent[], signal: AbortSignal): Promise<Fate>;
  /** Whether the chain may still take the bytes: false only when it provably cannot, whether it took them before or not. */
  canLand(sent: Sent, signal: AbortSignal): Promise<boolean>;
  /** Whether an attempt that was final is still on the chain: false only when its block left it, for all nodes that can say. */
  stillFinal(settled: Settled, signal: AbortSignal): Promise<boolean>;
  /** Of the account: the chain's own coin, and each catalogue token by its address as the catalogue spells it; smallest units. */
  balances(signal: AbortSignal): Promise<{ readonly gas: bigint; readonly tokens: Readonly<Record<string, bigint>> }>;
}

/** The transfer cannot be made at present; nothing was signed. The message says what an operator must do. */
export class PayoutBlocked extends Error {
  override readonly name = 'PayoutBlocked';
  /**
   * `treasuryBehindChain`: the chain shows that it was made already, and the log does not know. `fundingUnproven`: nodes do not show the
   * money that it is paid from.
   */
  readonly reason: 'float' | 'gas' | 'refusedByToken' | 'treasuryBehindChain' | 'fundingUnproven';
  constructor(reason: PayoutBlocked['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

export interface SigningPurpose {
  readonly kind: 'payout' | 'refund' | 'sweep' | 'cancel';
  readonly reference: string;
}

/** The signer refuses; no signature was made. `reason` is stable, the message names the limit. */
export class SigningRefused extends Error {
  override readonly name = 'SigningRefused';
  readonly reason: 'chain' | 'account' | 'fee' | 'mismatch' | 'perTransfer' | 'perHour';
  constructor(reason: SigningRefused['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The only holder of treasury keys. Enforces limits: chain, token contracts, most per transfer and per hour. */
export interface Signer {
  readonly account: string;
  /** Throws if it would not sign this now. Asked before a nonce is taken: a nonce without a transaction blocks the account. @throws SigningRefused */
  check(unsigned: Unsigned, purpose: SigningPurpose): void;
  /** @throws SigningRefused */
  sign(unsigned: Unsigned, purpose: SigningPurpose): Promise<Signed>;
}
