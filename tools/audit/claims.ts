/** Statements of the log and of the chains about transactions: both sides of the comparison, by transaction. */
import { type ChainId, chainOf, tokenAt } from '../../domain/chains.ts';
import type { Cost } from '../../domain/transfer/shapes.ts';
import type { DeliveryKind, WebhookEventType } from '../../domain/webhook.ts';
import { type EventPosition, type Finding, type FindingCode, findingAt } from './findings.ts';

interface Claimed {
  readonly side: 'log';
  readonly where: EventPosition;
  readonly chainId: ChainId;
  readonly txHash: string;
  /** Log position of the event with the transaction's outcome: it identifies the network of a chain. */
  readonly position: string;
  /** Time of that event. */
  readonly at: string;
}

/** Received money according to the log. */
export interface InflowClaim extends Claimed {
  readonly kind: 'payin' | 'unmatched';
  readonly transferId: string;
  readonly from: string;
  readonly to: string;
  readonly memo: string | null;
  /** True at one of the payment's own deposits; false for unmatched funds. */
  readonly atOwnDeposit: boolean;
  readonly asset: string;
  /** Digits, as all amounts here. */
  readonly amount: string;
  readonly block: string;
  /** `gone`: the log states that it left its chain again. */
  readonly phase: 'detected' | 'confirmed' | 'gone';
  /** For unmatched money: the payment that it was assigned to, which claims it as well. */
  readonly givenTo?: string;
}

/** A signed transaction and its fate. */
export interface AttemptClaim extends Claimed {
  readonly kind: 'attempt';
  readonly account: string;
  /** Owner of the money, if it is not the signing account. */
  readonly owner: string | null;
  readonly asset: string;
  readonly amount: string;
  readonly receiver: string;
  readonly memo: string | null;
  /** `burn`: the chain destroys the tokens where they are, so nobody receives them. */
  readonly form: 'coin' | 'flush' | 'deploy' | 'burn' | null;
  /** For a sweep: the deposits that it empties. */
  readonly from?: readonly string[];
  /** Coin that the order sends along at most, in the smallest unit. Default: none. */
  readonly coinAlong?: string;
  readonly purpose: 'paid' | 'refunded' | 'moved';
  readonly fate: 'live' | 'dead' | 'short' | 'settled';
  readonly block: string | null;
  readonly cost: Cost | null;
  readonly arrived: string | null;
  /** Landed attempt of the same transfer according to the log; null while there is none. */
  readonly settledBy: string | null;
}

/** A transaction that moves no payment's money: a cancel, a self-payment, an adopted transaction, money from outside. */
export interface OwnClaim extends Claimed {
  readonly kind: 'cancel' | 'topUp' | 'adopted';
  readonly account: string;
  readonly cost: Cost | null;
  readonly changes: Evidence['changes'];
  readonly fee: string;
  readonly block: string | null;
  /** For an adoption: receivers that were not usable in the address book at that time. */
  readonly notInBook?: readonly string[];
}

/** A transaction whose memo is a head's hash, according to the log. Its attempt has the fee. */
export interface AnchorClaim extends Claimed {
  readonly kind: 'anchor';
  readonly account: string;
  readonly hash: string;
  readonly block: string;
  readonly cost: null;
}

/** A transaction that pays several. Each payment also claims its own part. */
export interface BatchClaim
  extends Claimed,
    Pick<AttemptClaim, 'account' | 'asset' | 'fate' | 'block' | 'cost' | 'arrived' | 'settledBy'> {
  readonly kind: 'batch';
  /** Final members. */
  readonly members: readonly { readonly paymentId: string; readonly receiver: string; readonly amount: string }[];
}

export type Claim = InflowClaim | AttemptClaim | OwnClaim | AnchorClaim | BatchClaim;

/** A transaction on its chain, from the view of one of our accounts or deposits. */
export interface Evidence {
  readonly side: 'chain';
  readonly chainId: ChainId;
  readonly txHash: string;
  readonly of: 'treasury' | 'deposit';
  readonly account: string;
  readonly block: string;
  readonly blockHash: string;
  readonly time: string;
  readonly outgoing: boolean;
  readonly succeeded: boolean;
  readonly fee: string;
  readonly changes: readonly {
    readonly asset: string;
    readonly amount: string;
    readonly counterparty: string | null;
    readonly memo?: string;
  }[];
  readonly hashMemo?: string;
}

/** A statement that may appear once in the whole log. */
export interface Once {
  readonly side: 'once';
  readonly where: EventPosition;
  readonly says: string;
  readonly code: Finding['code'];
}

/** A consequence in one stream of a cause in another: the cause exists, each appears once, and both with the same values. */
export interface Paired {
  readonly side: 'cause' | 'consequence';
  readonly where: EventPosition;
  /** All values that both must have in common. */
  readonly words: string;
  /** Time of the event. */
  readonly at: string;
  readonly code: Finding['code'];
  /** For a cause: true if it may have no consequence. */
  readonly isOptional?: boolean;
}

/** A payment's event that its merchant is notified of. */
export interface ReportedEvent {
  readonly side: 'news';
  readonly where: EventPosition;
  readonly position: string;
  readonly at: string;
  readonly paymentId: string;
  readonly appId: string;
  readonly eventType: WebhookEventType;
  /** Null if the payment has no webhook URL. */
  readonly url: string | null;
  /** Further endpoint; null for the webhook URL. */
  readonly endpointId: string | null;
}

/** A webhook for a payment's event. */
export interface Telling {
  readonly side: 'telling';
  readonly where: EventPosition;
  readonly position: string;
  readonly kind: DeliveryKind;
  readonly paymentId: string | null;
  readonly appId: string;
  readonly eventType: string;
  readonly url: string;
  readonly endpointId: string | null;
  readonly eventId: string | null;
  readonly eventRevision: string | null;
}

/** A deposit that was disclosed. */
export interface DepositClaim {
  readonly address: string;
  readonly family: string;
  readonly at: string;
  readonly paymentId: string;
}

/** A deposit that payments share, identified by its memo. */
export interface SharedPlace {
  readonly side: 'place';
  readonly where: EventPosition;
  readonly paymentId: string;
  /** Number of transfers that the payment has recorded. */
  readonly payins: number;
}

/** Unmatched funds that arrived at a shared address with a memo. */
export interface UnmatchedAt {
  readonly side: 'unmatchedAt';
  readonly where: EventPosition;
  /** The payment that could record no more transfers; null for none. */
  readonly beyond: string | null;
  readonly message: string;
}

/** Outgoing money on an operator's word, whose receiver neither the log nor a payer named. */
export interface ByWord {
  readonly stream: string;
  readonly revision: number;
  readonly what: string;
}

/** An operation without a second operator's approval. */
export interface Unapproved {
  readonly where: EventPosition;
  /** Time of the record. The order's own time is the writer's statement. */
  readonly at: string;
  readonly by: string;
  /** Digits. */
  readonly value_microUsd: string;
}

export type AuditFact = Claim | Evidence | Once | Paired | ReportedEvent | Telling | SharedPlace | UnmatchedAt;

/** Key of the block position, equal for every statement. */
export const factKey = (fact: Claim | Evidence): string => `tx ${fact.chainId} ${fact.txHash}`;
/** Key of the notified event and its receiver. */
export const newsKey = (fact: ReportedEvent | Telling): string =>
  `news ${fact.side === 'news' ? fact.where.id : fact.eventId}${fact.endpointId === null ? '' : ` ${fact.endpointId}`}`;

export type SumColumn =
  | 'received'
  | 'paidOut'
  | 'fees'
  | 'dust'
  | 'refunded'
  | 'networkFees'
  | 'held'
  | 'swept'
  | 'withdrawn';

/** Output of checking one stream. */
export interface Out {
  find(finding: Finding): void;
  claim(claim: Claim): void;
  once(key: string, once: Omit<Once, 'side'>): void;
  paired(key: string, fact: Paired): void;
  news(fact: ReportedEvent | Telling): void;
  deposit(deposit: DepositClaim): void;
  sum(chainId: number, asset: string, column: SumColumn, amount: bigint): void;
  /** Sums of account books without a transaction. Negative for an explained shortfall. */
  told(account: string, asset: string, amount: bigint): void;
  opening(opening: BooksOpening): void;
  networkClosed(closing: NetworkClosing): void;
  unsettled(of: UnsettledMoney): void;
  /** @param place address and memo */
  place(place: string, fact: SharedPlace | UnmatchedAt): void;
  byWord(of: ByWord): void;
  unapproved(of: Unapproved): void;
  /** Number of the account's first transaction that the log can know. */
  firstNonce(account: string, nonce: bigint): void;
}

/** The network of an account's books was reset. */
interface NetworkClosing {
  readonly chainId: ChainId;
  readonly account: string;
  readonly payinAddresses: readonly string[];
  readonly position: string;
  readonly reason: string;
  readonly network: string | null;
  readonly closedAt: string;
}

/** Money of a chain that a stream has neither paid out nor refunded. */
export interface UnsettledMoney {
  readonly chainId: ChainId;
  readonly stream: string;
  /** Log position of its last event about the chain. */
  readonly position: string;
  readonly what: string;
}

/** Start of an account's books. */
export interface BooksOpening {
  readonly chainId: ChainId;
  readonly account: string;
  readonly block: string;
  readonly balances: Readonly<{ [asset: string]: string }>;
}

export const accountColumns = ['received', 'paid', 'refunded', 'fees', 'moved'] as const;
export type AccountColumn = (typeof accountColumns)[number];

/** Effect of a transaction on an account according to the log: negative for an outgoing amount. */
export interface Entered {
  readonly asset: string;
  readonly column: AccountColumn;
  readonly amount: bigint;
}

// Context of a comparison of chain and log, and its outputs.

export interface ComparisonOutput {
  find(finding: Finding): void;
  /** Money received by a treasury account without a transaction in the log: sums may include it. */
  unclaimed(evidence: Evidence, asset: string, amount: bigint): void;
  /** Effect of a transaction on an account according to the log, and additional effects, by asset. */
  entered(evidence: Evidence, entered: readonly Entered[], besides: ReadonlyMap<string, bigint>): void;
  /** A claim of a closed network, which is not compared. */
  skipped(claim: Claim): void;
}

export interface World {
  /** Account that owns money at a treasury address: payin contracts forward it. Null for any other address. */
  accountAt(chainId: ChainId, address: string): string | null;
  /** Account that receives payments to an address, in the chain's events. */
  holderOf(chainId: ChainId, address: string): string;
  /** Memo in an address; null if it contains none. */
  memoIn(chainId: ChainId, address: string): string | null;
  /** True if a block is after the last one that was read of the address, so that no node had it yet. */
  isBehindEnd(chainId: ChainId, address: string, block: string | null): boolean;
  /** True if the chain was read up to this block for an account or a deposit. */
  wasRead(chainId: ChainId, address: string, block: string | null): boolean;
  /** True if the claim belongs to a reset network: nodes of the new network cannot return its transaction. */
  isOfClosedNetwork(claim: Claim): boolean;
  /** Younger transfers may still be pending. */
  readonly settledBefore: string;
  /** True if the whole log was checked, and not only some streams. */
  readonly isWhole: boolean;
}

export const findAtClaim = (out: ComparisonOutput, code: FindingCode, claim: Claim, message: string): void =>
  out.find(findingAt(code, claim.where, message, { chainId: claim.chainId, hash: claim.txHash, block: claim.block }));

/**
 * Maximum fee that a token keeps of a transfer, in its smallest units; 0n for a token without one. USDT's contract on Ethereum refuses a
 * fee of 20 basis points or more, and one of 50 dollars or more (`setParams`). Other catalogue tokens have no fee. The numbers are repeated
 * here on purpose.
 */
export function tokenFeeMax(chainId: ChainId, asset: string, amount: bigint): bigint {
  const token = chainId === 1 ? tokenAt(chainOf(chainId), asset) : undefined;
  if (token?.symbol !== 'USDT') return 0n;
  const [rated, most] = [(amount * 19n) / 10_000n, 49n * 10n ** BigInt(token.decimals)];
  return rated < most ? rated : most;
}

// Networks that were reset, according to the books: nodes of the new network cannot return transactions of the old
// one. An event belongs to the old network if it is in the log before the closing, because the new network repeats
// block numbers.

/** The last network of a chain that was closed. */
export interface ClosedNetwork {
  readonly chainId: ChainId;
  readonly reason: string;
  /** Null if it was not stored. */
  readonly network: string | null;
  readonly closedAt: string;
  /** Number of recorded transactions of closed networks that no node was queried for. */
  readonly unseen: number;
  /** Unsettled money: at most 100 of `unsettledCount`. */
  readonly unsettled: readonly UnsettledMoney[];
  readonly unsettledCount: number;
}

const unsettledMax = 100;

export interface ClosedNetworks {
  close(closing: NetworkClosing): void;
  isClosed(claim: Claim): boolean;
  /** Counts a claim that is not compared with the chain. */
  skip(claim: Claim): void;
  /** Keeps the unsettled money of the closed network. Streams of books precede those of payments and operations. */
  unsettled(of: UnsettledMoney): void;
  report(): readonly ClosedNetwork[];
}

interface Kept {
  last: NetworkClosing;
  unseen: number;
  unsettledCount: number;
  readonly unsettled: UnsettledMoney[];
}

export function createClosedNetworks(): ClosedNetworks {
  const byChain = new Map<ChainId, Kept>();
  const byAddress = new Map<string, bigint>();

  /** Deposits have no books: the chain's last closing counts for them. */
  const closedAt = (chainId: ChainId, address: string): bigint | undefined => {
    const kept = byChain.get(chainId);
    return kept && (byAddress.get(`${chainId} ${address}`) ?? BigInt(kept.last.position));
  };
  const isBefore = (position: string, closing: bigint | undefined): boolean =>
    closing !== undefined && BigInt(position) < closing;

  return {
    close(closing) {
      const { chainId, account, payinAddresses, position } = closing;
      for (const address of [account, ...payinAddresses]) byAddress.set(`${chainId} ${address}`, BigInt(position));
      const kept = byChain.get(chainId);
      if (!kept) byChain.set(chainId, { last: closing, unseen: 0, unsettledCount: 0, unsettled: [] });
      else if (BigInt(kept.last.position) < BigInt(position)) kept.last = closing;
    },
    isClosed: (claim) => isBefore(claim.position, closedAt(claim.chainId, 'to' in claim ? claim.to : claim.account)),
    skip({ chainId }) {
      const kept = byChain.get(chainId);
      if (kept) kept.unseen += 1;
    },
    unsettled(of) {
      const kept = byChain.get(of.chainId);
      if (!kept || !isBefore(of.position, BigInt(kept.last.position))) return;
      kept.unsettledCount += 1;
      if (kept.unsettled.length < unsettledMax) kept.unsettled.push(of);
    },
    report: () =>
      [...byChain].map(
        ([
          chainId,
          {
            last: { reason, network, closedAt: at },
            ...kept
          },
        ]) => ({
          ...{ chainId, reason, network, closedAt: at },
          ...{ unseen: kept.unseen, unsettled: kept.unsettled, unsettledCount: kept.unsettledCount },
        }),
      ),
  };
}
