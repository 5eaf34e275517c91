/** What each chain family implements of payins: what was paid. How it pays out: transfers/ports.ts. */
import type { ChainId } from '../domain/chains.ts';
import { type TokenRef, type Transfer, transferId } from '../domain/payment/events.ts';
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
  /** Transactions that the nodes show and that cannot be read. The range goes on without them: each is set aside and read again by itself. */
  readonly unreadable?: readonly Unreadable[];
  /** Tokens at deposits that no payin is read from. An operator is told; nothing is recorded. */
  readonly stray?: readonly StrayTokens[];
  /** Blocks that no node remembers any more: what they held for us has not been seen. */
  readonly missed?: { readonly from: bigint; readonly to: bigint };
  /** Move the cursor here once the range is handled. */
  readonly next: Cursor;
}

/** Tokens that a deposit's owner holds outside the accounts that payins are read from. */
export interface StrayTokens {
  /** The deposit's address. */
  readonly owner: string;
  readonly account: string;
  /** The token's address, of the catalogue or not. */
  readonly token: string;
  /** In smallest units. */
  readonly amount: bigint;
}

/** A transaction that may have paid us and that cannot be read as its node shows it. */
export interface Unreadable {
  readonly txHash: string;
  readonly blockNumber: bigint;
  /** Whom it may have paid, as far as that can be read: the end of their payments waits for it. Empty when nothing tells. */
  readonly addresses: readonly string[];
  /** What the node showed and what was wrong with it, in at most `evidenceMax` characters. */
  readonly evidence: string;
}

export const evidenceMax = 2_000;

/** A transfer that a log shows and whose transaction no node shows as it must be. Its range goes on without it. */
export class TransferUnreadable extends Error {
  override readonly name = 'TransferUnreadable';
  readonly found: Unreadable;
  constructor(found: Unreadable) {
    super(`transaction ${found.txHash} cannot be read: ${found.evidence}`);
    this.found = found;
  }
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

/** Why nodes cannot be believed as they stand: they contradict each other, or fewer can say than must. The message has each one's answer. */
export interface Dispute {
  /** `nodesForgot`: what would decide it is longer ago than the nodes remember. */
  readonly reason: 'nodesDisagree' | 'nodesTooFew' | 'nodesForgot';
  readonly message: string;
}

/** Whether as many nodes as must say the same of a fact. Those that disagree are told of even where enough agree. */
export interface Agreement {
  readonly agreed: boolean;
  readonly dispute?: Dispute;
}

/** What one node shows at a moment. */
export interface NodeHead {
  readonly blockNumber: bigint;
  /** Another one when anything has moved that a pass could see: a new block, another one in its place, what is final. */
  readonly mark: string;
}

/** Where a node showed a payin. */
export interface SeenPayin {
  readonly transferId: string;
  readonly txHash: string;
  readonly blockNumber: bigint;
  readonly blockHash: string;
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
  /** Age of a block from which a pass sees it, whatever else it needs. Default: 0. */
  leastAge_ms?(pass: Pass): number;
  /** Where a pass starts that has no cursor yet: the last block at or before `at`. */
  start(pass: Pass, at: Instant, signal: AbortSignal): Promise<Cursor>;
  /**
   * Where a look reads some of the deposits and not all: a node has pushed that these were paid, so that the next looks begin with them. It
   * proves nothing, and may be called at any time; beyond a bound they are passed over. Left out where a look finds all that is new.
   */
  lookFirst?(addresses: readonly string[]): void;
  /** To read again what comes after a block. Its time is the block's or an earlier one. */
  cursorAt(pass: Pass, blockNumber: bigint, signal: AbortSignal): Promise<Cursor>;
  /** Ranges after the cursor, oldest first, until the pass's end is reached; bounded by `rangesMax` per call. */
  scan(cursor: Cursor, signal: AbortSignal): AsyncIterable<ScannedRange>;
  /**
   * Fills in what identifies a transfer, on chains whose logs do not tell it: left out, the log is the whole transfer.
   * @returns undefined when its block has meanwhile left the chain
   * @throws TransferUnreadable when the nodes, asked more than once, do not show its transaction as it must be
   */
  resolve?(log: TransferLog, signal: AbortSignal): Promise<Transfer | undefined>;
  /**
   * Catalogue-token transfers of one transaction, for a registered hash; empty when unknown or failed.
   * @param whole asks for all of it: a node that shows a part that cannot be read has no answer
   * @throws while it cannot be read as nodes show it
   */
  lookUp(txHash: string, signal: AbortSignal, whole?: 'whole'): Promise<readonly Transfer[]>;
  /** Whether a node returns the transaction as successful. One node's word: for information, never for money. */
  hasSucceeded?(txHash: string, signal: AbortSignal): Promise<boolean>;
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
  /**
   * Whether a payin that was seen is not on the chain, for all nodes that can say, as many as must agree at least: another block is where its
   * own was, or its block is there without it, for one node had made it up.
   */
  hasLeft(seen: SeenPayin, signal: AbortSignal): Promise<boolean>;
  /** Height and time of the newest block that any node reports. */
  head(signal: AbortSignal): Promise<{ readonly blockNumber: bigint; readonly chainTime: Instant }>;
  /** For each node of the chain: what it shows now, by one cheap call or few. Each throws what its node's failure is. */
  readonly nodeHeads: readonly ((signal: AbortSignal) => Promise<NodeHead>)[];
}
