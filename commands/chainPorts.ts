/** Ports for payins that each chain family implements. Ports for payouts: transferPorts.ts. */
import type { ChainId } from '../domain/chains.ts';
import { type TokenRef, type Transfer, transferId } from '../domain/payment/events.ts';
import type { Instant } from '../domain/time.ts';

/**
 * A chain is scanned in passes, each to its own depth. `head` sees transfers first (PayinDetected). `final` and `finalLarge` confirm
 * them (PayinConfirmed) once they are as deep as configuration demands for small amounts, and for large ones.
 */
export const passes = ['head', 'final', 'finalLarge'] as const;
export type Pass = (typeof passes)[number];

/** Progress of a pass: the last block that it has fully handled. */
export interface Cursor {
  readonly chainId: ChainId;
  readonly pass: Pass;
  readonly blockNumber: bigint;
  readonly blockHash: string;
  readonly chainTime: Instant;
}

export interface ScannedRange {
  /** Every transfer of a catalogue token in the range, to any receiver. */
  readonly logs: readonly TransferLog[];
  /**
   * Blocks that this pass has handled and that have left the chain since; if there are any, `next` is the fork point. Blocks that left
   * during downtime may be missing, so payins recorded above `next` are checked again. Empty on a final pass, unless the configured depth
   * was too shallow: then confirmed money is lost.
   */
  readonly orphaned: readonly string[];
  /**
   * Deposits with an unexplained balance, on chains that are read by balances. The range continues without them: each is set aside and read
   * separately.
   */
  readonly unexplained?: readonly string[];
  /**
   * Transactions that the nodes return and that cannot be parsed. The range continues without them: each is set aside and read again
   * separately.
   */
  readonly unreadable?: readonly Unreadable[];
  /** Tokens at deposits that cannot become a payin. An operator is notified; nothing is recorded. */
  readonly stray?: readonly StrayTokens[];
  /** Blocks that no node remembers any more: their payins were not read. */
  readonly missed?: { readonly from: bigint; readonly to: bigint };
  /** Move the cursor here once the range is handled. */
  readonly next: Cursor;
}

/** Tokens that a deposit's owner holds outside the watched token accounts. */
export interface StrayTokens {
  /** The deposit's address. */
  readonly owner: string;
  readonly account: string;
  /** The token's address, of the catalogue or not. */
  readonly token: string;
  /** In smallest units. */
  readonly amount: bigint;
}

/** A possible payin whose transaction cannot be parsed as its node returns it. */
export interface Unreadable {
  readonly txHash: string;
  readonly blockNumber: bigint;
  /** Possible receivers, as far as they can be read: their payments do not expire meanwhile. Empty if unknown. */
  readonly addresses: readonly string[];
  /** The node's answer and its defect, in at most `evidenceMax` characters. */
  readonly evidence: string;
}

export const evidenceMax = 2_000;

/** A transfer in a log whose transaction no node returns in a valid form. Its range continues without it. */
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

/** A transfer as a log contains it: cheap to read, because nearly all of them are irrelevant. */
export interface TransferLog {
  /** Receiver: the account, or the payin contract that the payer called. */
  readonly to: string;
  /** The transfer's memo as text; null if there is none or the chain has no memos. */
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

/** The transfer of a log, on chains whose log index identifies it within its transaction. */
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

/** True if two nodes return the same transfer in the same block. The token's catalogue facts are equal anyway. */
export const sameTransfer = (a: Transfer, b: Transfer): boolean =>
  transferId(a) === transferId(b) &&
  a.blockHash === b.blockHash &&
  a.blockTime === b.blockTime &&
  a.token.address === b.token.address &&
  a.amount === b.amount &&
  a.from === b.from &&
  a.to === b.to &&
  (a.memo ?? null) === (b.memo ?? null);

/** Why the nodes are not trusted: they contradict each other, or too few of them answer. The message has each node's answer. */
export interface Dispute {
  /** `nodesForgot`: the deciding fact is older than the nodes' history. */
  readonly reason: 'nodesDisagree' | 'nodesTooFew' | 'nodesForgot';
  readonly message: string;
}

/** Whether enough nodes agree on a fact. Dissenting nodes are reported even if enough agree. */
export interface Agreement {
  readonly agreed: boolean;
  readonly dispute?: Dispute;
}

/** A node's state at one moment. */
export interface NodeHead {
  readonly blockNumber: bigint;
  /** Changes whenever a pass could find something new: a new block, a replaced block, or a new final block. */
  readonly mark: string;
}

/** Block in which a node returned a payin. */
export interface SeenPayin {
  readonly transferId: string;
  readonly txHash: string;
  readonly blockNumber: bigint;
  readonly blockHash: string;
}

export interface Ingester {
  readonly chainId: ChainId;
  /** Passes of the chain. Without `finalLarge`, no amount is large. */
  readonly passes: readonly Pass[];
  /** Amount, in whole tokens (USD), from which only `finalLarge` confirms; null if no amount is large. */
  readonly largeFrom: bigint | null;
  /** Maximum, in whole tokens (USD), that `final` confirms before `finalLarge` has caught up; null if no amount is large. */
  readonly exposureMax_usd: bigint | null;
  /**
   * Addresses that payments share; memos identify the payments. A transfer there without a known memo is unmatched money. Empty if every
   * payment has its own address.
   */
  readonly sharedAddresses: readonly string[];
  /** Number of blocks on top of a transfer's own before a pass reads it; null or omitted if the chain itself reports finality. */
  blocksOnTop?(pass: Pass): number | null;
  /** Age of a block from which a pass sees it, whatever else it needs. Default: 0. */
  leastAge_ms?(pass: Pass): number;
  /** Start of a pass without a cursor: the last block at or before `at`. */
  start(pass: Pass, at: Instant, signal: AbortSignal): Promise<Cursor>;
  /**
   * Deposits to read first: a node has pushed a notification that they were paid. It proves nothing and may be called at any time; entries
   * beyond a bound are dropped. Omitted if each read finds everything new.
   */
  lookFirst?(addresses: readonly string[]): void;
  /** Cursor for reading again after a block. Its time is the block's or earlier. */
  cursorAt(pass: Pass, blockNumber: bigint, signal: AbortSignal): Promise<Cursor>;
  /** Ranges after the cursor, oldest first, until the pass's end is reached; bounded by `rangesMax` per call. */
  scan(cursor: Cursor, signal: AbortSignal): AsyncIterable<ScannedRange>;
  /**
   * Completes a transfer on chains whose logs do not identify it. Omitted: the log is the whole transfer.
   * @returns undefined if its block has left the chain meanwhile
   * @throws TransferUnreadable if repeated queries return no valid transaction
   */
  resolve?(log: TransferLog, signal: AbortSignal): Promise<Transfer | undefined>;
  /**
   * Catalogue-token transfers of one transaction, for a registered hash; empty if unknown or failed.
   * @param whole accepts only complete answers: a node with an unreadable part has no answer
   * @throws while no node's answer can be parsed
   */
  lookUp(txHash: string, signal: AbortSignal, whole?: 'whole'): Promise<readonly Transfer[]>;
  /** True if a node returns the transaction as successful. A single node's word: for information, never for money. */
  hasSucceeded?(txHash: string, signal: AbortSignal): Promise<boolean>;
  /**
   * True if enough nodes independently return exactly this transfer in this block, at the pass's depth.
   * @param stake `usd`: amount at risk in whole tokens; large amounts need more nodes
   */
  agreed(
    transfer: Transfer,
    stake: { readonly pass: Pass; readonly usd: bigint },
    signal: AbortSignal,
  ): Promise<Agreement>;
  /**
   * Reads everything that a deposit ever received and that is final, on chains that are read by balances. `explained`: whether it adds up
   * to the balance.
   */
  readDeposit?(address: string, signal: AbortSignal): Promise<DepositRead>;
  /**
   * True if all answering nodes, and at least the required number, return that a payin has left the chain: another block replaced its own,
   * or its block exists without it because one node fabricated it.
   */
  hasLeft(seen: SeenPayin, signal: AbortSignal): Promise<boolean>;
  /** Height and time of the newest block that any node reports. */
  head(signal: AbortSignal): Promise<{ readonly blockNumber: bigint; readonly chainTime: Instant }>;
  /** One function per node: returns its current state in a few cheap calls. Throws that node's failure. */
  readonly nodeHeads: readonly ((signal: AbortSignal) => Promise<NodeHead>)[];
}

// Limits on queries of contract wallets for signatures: the contracts belong to strangers, the nodes to the operator.

/** Maximum concurrent queries. Each costs nodes a call on every chain that the contract paid from. */
export interface AskingPlaces {
  /** Maximum per contract, so one slow contract leaves capacity for others. */
  readonly perContract: number;
  readonly perInstance: number;
}

export const askingPlaces: AskingPlaces = { perContract: 2, perInstance: 20 };

/** Limits of one call of one node. */
export const askingLimits = {
  /** Gas limit of the call. */
  gas: 3_000_000n,
  /** Timeout of the node. */
  time_ms: 5_000,
  /** A positive answer is one word. A longer answer is cut off and counts as negative. */
  answer_bytes: 16_384,
} as const;
