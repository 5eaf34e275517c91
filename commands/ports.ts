/** Ports of commands. Adapters are in src/; tests bring their own. */
import type { Chain, ChainId, Token } from '../domain/chains.ts';
import {
  type DomainEvent,
  type EventMetadata,
  type LogPlace,
  type Refusal,
  refuse,
  type StoredEvent,
} from '../domain/decider.ts';
import type { Profile } from '../domain/merchant/profile.ts';
import type { Deposit, PaymentCreated } from '../domain/payment/events.ts';
import type { Intent } from '../domain/payment/intent.ts';
import type { Instant } from '../domain/time.ts';

/** An event ready to be stored: it has its id, and its predecessor's hash in its metadata. */
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

/** The stream was not at the expected revision: a concurrent append won. `actual` is null for no stream. */
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
 * A failure that passes without a fix, because something outside the work is unavailable or busy. The work is retried and the failure is
 * not counted. Every such error extends this class, whatever its name.
 */
export abstract class TransientError extends Error {}

/** The store is unreachable or overloaded. Nothing is known to be written; retry after `retryAfter_s`. */
export class Unavailable extends TransientError {
  override readonly name: string = 'Unavailable';
  readonly retryAfter_s: number;
  constructor(message: string, retryAfter_s = 1, options?: ErrorOptions) {
    super(message, options);
    this.retryAfter_s = retryAfter_s;
  }
}

/**
 * A newer version of this program wrote the event. Its meaning is unknown here, so nothing is decided about its stream: the API answers 503,
 * workers wait, and projections stop.
 */
export class NewerEvent extends Unavailable {
  override readonly name = 'NewerEvent';
  constructor({ stream, revision, type, metadata }: Pick<StoredEvent, 'stream' | 'revision' | 'type' | 'metadata'>) {
    super(
      `${stream} has an event of a newer version of this program: ${type} (schema version ${metadata.schemaVersion}) at revision ${revision}. Start that version again (docs/operate/upgrade.md)`,
      newerEventRetry_s,
    );
  }
}

/** For readers that decide nothing: undefined for an event of a newer version, too. */
export function knownEvent(
  stored: StoredEvent,
  read: (stored: StoredEvent) => DomainEvent | undefined,
): DomainEvent | undefined {
  try {
    return read(stored);
  } catch (error) {
    if (error instanceof NewerEvent) return undefined;
    throw error;
  }
}

/** A newer version takes at least this long to start. */
const newerEventRetry_s = 30;

/** Returns the refusal of a request that needs an unavailable service, with the reason for the operator. */
export const refuseUnavailable = (error: Unavailable, message = error.message): Refusal => ({
  ...refuse('unavailable', message),
  retryAfter_s: error.retryAfter_s,
  cause: error,
});

export interface EventBatchRead {
  readonly events: readonly StoredEvent[];
  /**
   * Everything up to this position is in this batch or earlier ones (or filtered out). Not always an event's position: the store writes
   * records of its own (at each start, and at each election of a leader), and reports positions after the last event.
   */
  readonly position: bigint;
  /** True if the subscription has caught up with the log's end. */
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
   * Settles only once the outcome is known: after a lost answer it sends the same event ids again.
   * @throws StreamConflict, Unavailable
   */
  append(stream: string, expected: bigint | 'no_stream', events: readonly SealedEvent[]): Promise<Appended>;
  /** Empty for a stream that does not exist. @throws Unavailable */
  read(stream: string, options?: ReadOptions): Promise<readonly StoredEvent[]>;
  /**
   * All events of streams with one of these name prefixes, in log order, strictly after `after`; then live ones. Ends when `signal` aborts;
   * throws Unavailable if the connection is lost: the caller resubscribes from its recorded position.
   */
  all(options: {
    after: bigint | null;
    prefixes: readonly string[];
    signal: AbortSignal;
  }): AsyncIterable<EventBatchRead>;
  /** Position of the log's last event of any writer; 0n for an empty log. @throws Unavailable */
  tail(): Promise<bigint>;
  /**
   * The last event of streams with one of these name prefixes; null if there is none after `after`. Costs time in proportion to other
   * applications' events after `after`; without it, after the last match.
   * @throws Unavailable, also if there are too many of them
   */
  lastEvent(prefixes: readonly string[], after?: bigint): Promise<LogPlace | null>;
  /** The event at exactly this position in the leader's log; null if no event begins there. @throws Unavailable */
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

/** Assigns each payment its deposit address. */
export interface DepositScheme {
  /** Intents that this installation supports. */
  readonly intents: readonly Intent[];
  /**
   * Computes a deposit, or takes one from a stock that is filled elsewhere: no chain is queried. @throws Unavailable if the stock is empty
   */
  assign(paymentId: string, token: Token, intent: PaymentCreated['intent']): Promise<Deposit>;
  /**
   * For schemes with a stock: derives the payment's own deposit and takes nothing from the stock, so requests for terms may call it.
   * Undefined on an instance that neither has the seed nor reaches a signer with it. @throws Unavailable
   */
  derive?(paymentId: string): Promise<Deposit>;
}

/** The same schemes, but each assigns the deposit that it can derive from the payment. */
export const derivedDeposits = <K extends string>(
  schemes: Partial<Record<K, DepositScheme>>,
): Partial<Record<K, DepositScheme>> => {
  const entries = Object.entries<DepositScheme | undefined>(schemes);
  const derived = entries.map(([name, scheme]) => [
    name,
    scheme?.derive ? { ...scheme, assign: scheme.derive } : scheme,
  ]);
  return Object.fromEntries(derived);
};

/**
 * Queries before a payment's creation whether its receiver can receive the token. On Stellar an account may be unable to: it does not
 * exist, has no trustline, no room for the amount, or accepts nothing without a memo (`memoRequired`).
 *
 * @param amount amount of the payout in smallest units; null while unknown
 * @returns a refusal that says what the receiver must do
 * @throws Unavailable if the chain cannot be queried: the answer is never guessed
 */
export type CanReceive = (
  chain: Chain,
  token: Token,
  receiver: string,
  amount?: bigint | null,
  memo?: string | null,
) => Promise<Refusal | undefined>;

/** One check per family in which a receiver may be unable to receive a token. Other families have none. */
export type ReceiverChecks = Partial<Record<Chain['family'], CanReceive>>;

/** Called around each step that a crash must not break; tests kill the process at a named point. A no-op in production. */
export type CrashPoint = (name: string) => void | Promise<void>;

/** Reads addresses in their chain's spelling. */
export interface AddressSpelling {
  /** The canonical spelling, or null if the text is no address of the chain (including a wrong checksum). */
  canonical(chain: Chain, text: string): string | null;
}

export interface RevokedKey {
  readonly keyId: string;
  readonly appId: string;
}

/** Keys that every instance refuses, even before its read models know of the revocation. */
export interface RevokedKeys {
  /** Stored for ever and sent to all instances once it resolves. Repeating it changes nothing. @throws Unavailable */
  add(key: RevokedKey): Promise<void>;
  /** Waits, up to a timeout, until no instance accepts the key. @returns the instances that may still accept it. @throws Unavailable */
  unconfirmed(keyId: string): Promise<readonly string[]>;
}

/** A re-encoded picture. */
export interface Logo {
  /** SHA-256 of the bytes, as hex. */
  readonly digest: string;
  readonly type: 'image/png' | 'image/webp';
  readonly bytes: Uint8Array;
}

/** Profiles of apps, stored outside the log so that they can be removed. Repeating a call changes nothing. */
export interface ProfileStore {
  /** @param profile `content` is JSON, `digest` its SHA-256. @throws Unavailable */
  keep(appId: string, profile: { readonly digest: string; readonly content: string }): Promise<void>;
  /** Null for a removed profile. @throws Unavailable */
  find(digest: string): Promise<Profile | null>;
  /** @throws Unavailable */
  keepLogo(appId: string, logo: Logo): Promise<void>;
}

export interface SignedMessage {
  readonly text: string;
  /** In the encoding of the address's wallets. */
  readonly signature: string;
}

/** Verifies signatures of texts. The address determines the family and its method. */
export interface MessageSigners {
  /** The canonical spelling of an address whose key can sign; null for any other text. */
  canonical(text: string): string | null;
  /** True if the key of a canonical address signed it. Only the signature form that wallets produce is accepted. */
  isSignedBy(address: string, message: SignedMessage): Promise<boolean>;
  /**
   * True if the contract at the address accepts the signature on every one of these chains: elsewhere the same address may have other
   * owners. @throws Unavailable if a chain cannot be queried
   */
  isAcceptedBy(address: string, message: SignedMessage, chainIds: readonly ChainId[]): Promise<boolean>;
}

/** Picture types accepted for logos. */
export const pictureTypes = ['image/png', 'image/jpeg', 'image/webp'] as const;
export const pictureMax_bytes = 5_000_000;
