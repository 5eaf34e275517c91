/** What the log says about transactions of chains, and what the chains say: both sides of the comparison, by transaction. */
import type { ChainId } from '../../domain/chains.ts';
import type { Cost } from '../../domain/transfer/shapes.ts';
import type { DeliveryKind, WebhookEventType } from '../../domain/webhook.ts';
import type { Finding, Where } from './findings.ts';

interface Claimed {
  readonly side: 'log';
  readonly where: Where;
  readonly chainId: ChainId;
  readonly txHash: string;
  /** Log position of the event that says what became of the transaction: it tells networks of a chain apart. */
  readonly position: string;
  /** When that event was written. */
  readonly at: string;
}

/** Money that the log says came in. */
export interface InflowClaim extends Claimed {
  readonly kind: 'payin' | 'unmatched';
  readonly transferId: string;
  readonly from: string;
  readonly to: string;
  readonly memo: string | null;
  /** Whether it is at one of the payment's own deposits; false for unmatched funds. */
  readonly atOwnDeposit: boolean;
  readonly asset: string;
  /** Digits, as all amounts here. */
  readonly amount: string;
  readonly block: string;
  /** `gone`: the log says that it left its chain again. */
  readonly phase: 'detected' | 'confirmed' | 'gone';
  /** Of unmatched money: the payment that it was given to, which claims it as well. */
  readonly givenTo?: string;
}

/** A transaction that was signed, and what became of it. */
export interface AttemptClaim extends Claimed {
  readonly kind: 'attempt';
  readonly account: string;
  /** Whose money it moves, where that is not the account's that signs. */
  readonly owner: string | null;
  readonly asset: string;
  readonly amount: string;
  readonly receiver: string;
  readonly memo: string | null;
  readonly form: 'coin' | 'flush' | 'deploy' | null;
  /** Of a sweep: the deposits that it empties. */
  readonly from?: readonly string[];
  readonly purpose: 'paid' | 'refunded' | 'moved';
  readonly fate: 'live' | 'dead' | 'short' | 'settled';
  readonly block: string | null;
  readonly cost: Cost | null;
  readonly arrived: string | null;
  /** The attempt that the log says landed for the same transfer; null while none did. */
  readonly settledBy: string | null;
}

/** A transaction that moves no money of payments: a cancel, a payment to oneself, what an operator adopted, money from outside. */
export interface OwnClaim extends Claimed {
  readonly kind: 'cancel' | 'topUp' | 'adopted';
  readonly account: string;
  readonly cost: Cost | null;
  readonly changes: Evidence['changes'];
  readonly fee: string;
  readonly block: string | null;
  /** Of an adoption: receivers that were not usable in the address book when it was adopted. */
  readonly notInBook?: readonly string[];
}

/** A transaction that the log says has the hash of a head for its memo. Whose fee it is, its attempt says. */
export interface AnchorClaim extends Claimed {
  readonly kind: 'anchor';
  readonly account: string;
  readonly hash: string;
  readonly block: string;
  readonly cost: null;
}

/** A transaction that pays many. Each payment claims its own part besides. */
export interface BatchClaim
  extends Claimed,
    Pick<AttemptClaim, 'account' | 'asset' | 'fate' | 'block' | 'cost' | 'arrived' | 'settledBy'> {
  readonly kind: 'batch';
  /** Those who are in it for good. */
  readonly members: readonly { readonly paymentId: string; readonly receiver: string; readonly amount: string }[];
}

export type Claim = InflowClaim | AttemptClaim | OwnClaim | AnchorClaim | BatchClaim;

/** A transaction as a chain shows it, seen from one of our accounts or deposits. */
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

/** Something that may be said once in the whole log. */
export interface Once {
  readonly side: 'once';
  readonly where: Where;
  readonly says: string;
  readonly code: Finding['code'];
}

/** What one stream says because of what another one says: the cause is there, each is said once, and both in the same words. */
export interface Paired {
  readonly side: 'cause' | 'consequence';
  readonly where: Where;
  /** All that both must have in common. */
  readonly words: string;
  /** When the event was written. */
  readonly at: string;
  readonly code: Finding['code'];
}

/** An event of a payment that its merchant is told of. */
export interface News {
  readonly side: 'news';
  readonly where: Where;
  readonly position: string;
  readonly at: string;
  readonly paymentId: string;
  readonly appId: string;
  readonly eventType: WebhookEventType;
  /** Null where the payment has nobody to tell. */
  readonly url: string | null;
}

/** A webhook that is to tell of an event of a payment. */
export interface Telling {
  readonly side: 'telling';
  readonly where: Where;
  readonly position: string;
  readonly kind: DeliveryKind;
  readonly paymentId: string | null;
  readonly appId: string;
  readonly eventType: string;
  readonly url: string;
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

/** A deposit that payments share, told apart by its memo. */
export interface SharedPlace {
  readonly side: 'place';
  readonly where: Where;
  readonly paymentId: string;
  /** Transfers that the payment has recorded. */
  readonly payins: number;
}

/** Unmatched funds that came to a shared address with a memo. */
export interface UnmatchedAt {
  readonly side: 'unmatchedAt';
  readonly where: Where;
  /** The payment that could record no more transfers; null for none. */
  readonly beyond: string | null;
  readonly message: string;
}

/** What left the treasury because an operator said so, without the log or a payer naming the receiver. */
export interface ByWord {
  readonly stream: string;
  readonly revision: number;
  readonly what: string;
}

/** An operation that nobody but its orderer approved. */
export interface Unapproved {
  readonly where: Where;
  /** When the log recorded the order. The order's own time is the writer's statement. */
  readonly at: string;
  readonly by: string;
  /** Digits. */
  readonly value_microUsd: string;
}

export type Fact = Claim | Evidence | Once | Paired | News | Telling | SharedPlace | UnmatchedAt;

/** In the same place, whoever says it. */
export const factKey = (fact: Claim | Evidence): string => `tx ${fact.chainId} ${fact.txHash}`;
/** The event that is told of. */
export const newsKey = (fact: News | Telling): string => `news ${fact.side === 'news' ? fact.where.id : fact.eventId}`;

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

/** What a look through one stream tells. */
export interface Out {
  find(finding: Finding): void;
  claim(claim: Claim): void;
  once(key: string, once: Omit<Once, 'side'>): void;
  paired(key: string, fact: Paired): void;
  news(fact: News | Telling): void;
  deposit(deposit: DepositClaim): void;
  sum(chainId: number, asset: string, column: SumColumn, amount: bigint): void;
  /** What account books say in sums, without a transaction. Negative for what an operator explained to be missing. */
  told(account: string, asset: string, amount: bigint): void;
  opening(opening: Opening): void;
  networkClosed(closing: NetworkClosing): void;
  unsettled(of: Unsettled): void;
  /** @param place address and memo */
  place(place: string, fact: SharedPlace | UnmatchedAt): void;
  byWord(of: ByWord): void;
  unapproved(of: Unapproved): void;
  /** The number of the account's first transaction that the log can know. */
  firstNonce(account: string, nonce: bigint): void;
}

/** The network of an account's books began anew. */
export interface NetworkClosing {
  readonly chainId: ChainId;
  readonly account: string;
  readonly payinAddresses: readonly string[];
  readonly position: string;
  readonly reason: string;
  readonly network: string | null;
  readonly closedAt: string;
}

/** Money of a chain that a stream has neither paid out nor sent back. */
export interface Unsettled {
  readonly chainId: ChainId;
  readonly stream: string;
  /** Log position of its last event that concerns the chain. */
  readonly position: string;
  readonly what: string;
}

/** Where an account's books begin. */
export interface Opening {
  readonly chainId: ChainId;
  readonly account: string;
  readonly block: string;
  readonly balances: Readonly<{ [asset: string]: string }>;
}

export const accountColumns = ['received', 'paid', 'refunded', 'fees', 'moved'] as const;
export type AccountColumn = (typeof accountColumns)[number];

/** What the log says that a transaction did to an account: negative for what left it. */
export interface Entered {
  readonly asset: string;
  readonly column: AccountColumn;
  readonly amount: bigint;
}
