/** What commands need from the world. Adapters live in src/; tests bring their own. */
import type { Chain, ChainId, Token } from '../domain/chains.ts';
import { type EventMetadata, type LogPlace, type Refusal, refuse, type StoredEvent } from '../domain/decider.ts';
import type { Profile } from '../domain/merchant/profile.ts';
import type { Deposit, PaymentCreated } from '../domain/payment/events.ts';
import type { Intent } from '../domain/payment/intent.ts';
import type { Instant } from '../domain/time.ts';

/** An event ready to be stored: with its id, and with its predecessor's hash in its metadata. */
export interface SealedEvent {
  readonly id: string;
  readonly type: string;
  readonly data: object;
  readonly metadata: EventMetadata;
}

export interface Appended {
  /** Revision of the last event written. */
  readonly revision: bigint;
  readonly position: bigint;
}

/** The stream was not at the expected revision: somebody else decided first. `actual` is null for no stream. */
export class StreamConflict extends Error {
  override readonly name = 'StreamConflict';
  readonly stream: string;
  readonly expected: bigint | 'no_stream';
  readonly actual: bigint | null;
  constructor(stream: string, expected: bigint | 'no_stream', actual: bigint | null) {
    super(`stream ${stream} is at ${actual ?? 'no_stream'}, expected ${expected}: read it again and decide anew`);
    this.stream = stream;
    this.expected = expected;
    this.actual = actual;
  }
}

/**
 * What passes by itself: the world around the work is away or busy, and the work is fine. It is tried again and its failures are not
 * counted. Every error that says so extends this class, whatever its name.
 */
export abstract class TransientError extends Error {}

/** The store cannot be reached or is overloaded. Nothing is known to be written; try again after `retryAfter_s`. */
export class Unavailable extends TransientError {
  override readonly name: string = 'Unavailable';
  readonly retryAfter_s: number;
  constructor(message: string, retryAfter_s = 1, options?: ErrorOptions) {
    super(message, options);
    this.retryAfter_s = retryAfter_s;
  }
}

/** Returns the refusal of a request that needs what cannot be reached, with the reason for the operator. */
export const refuseUnavailable = (error: Unavailable, message = error.message): Refusal => ({
  ...refuse('unavailable', message),
  retryAfter_s: error.retryAfter_s,
  cause: error,
});

export interface Batch {
  readonly events: readonly StoredEvent[];
  /**
   * Everything up to here is in this batch or earlier ones (or filtered out). Not always the position of an event: the store writes records
   * of its own (at each start, and at each election of a leader), and reports positions behind the last event.
   */
  readonly position: bigint;
  /** Whether the subscription has caught up with the log's end. */
  readonly live: boolean;
}

export interface ReadOptions {
  readonly from?: bigint;
  readonly backwards?: boolean;
  readonly max?: number;
}

/** The event store as this product uses it: exact revisions only, never an empty append. */
export interface EventStore {
  /**
   * Settles only when the outcome is known: a lost answer is resolved by sending the identical event ids again.
   * @throws StreamConflict, Unavailable
   */
  append(stream: string, expected: bigint | 'no_stream', events: readonly SealedEvent[]): Promise<Appended>;
  /** Empty for a stream that does not exist. @throws Unavailable */
  read(stream: string, options?: ReadOptions): Promise<readonly StoredEvent[]>;
  /**
   * All events of streams whose names begin with one of `prefixes`, in log order, strictly after `after`; then live ones.
   * Ends when `signal` aborts; throws Unavailable when the connection is lost: the caller resubscribes from what it recorded.
   */
  all(options: { after: bigint | null; prefixes: readonly string[]; signal: AbortSignal }): AsyncIterable<Batch>;
  /** Position of the log's last event, whoever wrote it; 0n for an empty log. @throws Unavailable */
  tail(): Promise<bigint>;
  /**
   * The last event of streams whose names begin with one of `prefixes`; null when there is none behind `after`.
   * Costs time in proportion to the other applications' events behind `after`; without it, behind the last match.
   * @throws Unavailable, also when there are too many of them
   */
  lastEvent(prefixes: readonly string[], after?: bigint): Promise<LogPlace | null>;
  /** The event at exactly this position, as the leader's log has it; null when no event begins there. @throws Unavailable */
  eventAt(position: bigint): Promise<LogPlace | null>;
}

export interface Clock {
  now(): Instant;
  /** Resolves after `duration_ms` or, early and without error, when the signal aborts. */
  sleep(duration_ms: number, signal?: AbortSignal): Promise<void>;
}

export interface Ids {
  /** A random UUID for an event. */
  eventId(): string;
  /** A random, unguessable UUIDv8 for a payment without an orderId. */
  paymentId(): string;
  /** 32 random bytes as hex, for salts and secrets. */
  secret(): string;
}

/** Gives each payment where its customer pays to. */
export interface DepositScheme {
  /** The intents that this installation can take payments of. */
  readonly intents: readonly Intent[];
  /** Computes it, or takes it out of a stock that is filled elsewhere: no chain is asked. @throws Unavailable when the stock is empty */
  assign(paymentId: string, token: Token, intent: PaymentCreated['intent']): Promise<Deposit>;
}

/**
 * Asks before a payment is created whether its receiver can take the token. On Stellar an account may be unable to: it does not exist,
 * or has no trustline, or no room for the amount, or takes nothing without a memo (`memoRequired`).
 *
 * @param amount what it will be paid, in smallest units; null while unknown
 * @returns a refusal that says what the receiver must do
 * @throws Unavailable when the chain cannot be asked: the answer is never guessed
 */
export type CanReceive = (
  chain: Chain,
  token: Token,
  receiver: string,
  amount?: bigint | null,
  memo?: string | null,
) => Promise<Refusal | undefined>;

/** A check for each family where a receiver may be unable to take a token. The other families have none. */
export type ReceiverChecks = Partial<Record<Chain['family'], CanReceive>>;

/** Called around each step that a crash must not break; tests kill the process at a named point. A no-op in production. */
export type CrashPoint = (name: string) => void | Promise<void>;

/** Reads addresses as their chain spells them. */
export interface AddressBook {
  /** The canonical spelling, or null when the text is no address of the chain (wrong checksum included). */
  canonical(chain: Chain, text: string): string | null;
}

export interface RevokedKey {
  readonly keyId: string;
  readonly appId: string;
}

/** The keys that every instance refuses, whether its read models know it or not. */
export interface RevokedKeys {
  /** Kept for ever once it resolves, and told to all instances. Repeating it changes nothing. @throws Unavailable */
  add(key: RevokedKey): Promise<void>;
  /** Waits, not for ever, until no instance accepts the key. @returns the names of those that may still do so. @throws Unavailable */
  unconfirmed(keyId: string): Promise<readonly string[]>;
}

/** A picture of our own making. */
export interface Logo {
  /** SHA-256 of the bytes, as hex. */
  readonly digest: string;
  readonly type: 'image/png' | 'image/webp';
  readonly bytes: Uint8Array;
}

/** What apps show of themselves: beside the log, so that it can be removed. Repeating a call changes nothing. */
export interface ProfileStore {
  /** @param profile `content` is JSON, `digest` its SHA-256. @throws Unavailable */
  keep(appId: string, profile: { readonly digest: string; readonly content: string }): Promise<void>;
  /** Null for one that was removed. @throws Unavailable */
  find(digest: string): Promise<Profile | null>;
  /** @throws Unavailable */
  keepLogo(appId: string, logo: Logo): Promise<void>;
}

export interface SignedMessage {
  readonly text: string;
  /** As the address's wallets write it. */
  readonly signature: string;
}

/** Tells who signed a text. Every family has its own way; an address says which. */
export interface MessageSigners {
  /** The canonical spelling of an address whose key can sign; null for any other text. */
  canonical(text: string): string | null;
  /** Whether the key of a canonical address signed it. A signature in another form than the one that wallets make is none. */
  isSignedBy(address: string, message: SignedMessage): Promise<boolean>;
  /**
   * Whether the contract at the address takes the signature for its own, on every one of these chains: others may own the same address
   * elsewhere. @throws Unavailable when a chain cannot be asked
   */
  isAcceptedBy(address: string, message: SignedMessage, chainIds: readonly ChainId[]): Promise<boolean>;
}
