/**
 * Ports of relays: their needs on a chain, which are an account of their own and the nodes' answers about a payer's authorization, and their
 * own doors for pages and programs.
 */
import type { ChainId } from '../domain/chains.ts';
import type { Refusal } from '../domain/decider.ts';
import type { Deposit, TokenRef } from '../domain/payment/events.ts';
import type { RelayedSource } from '../domain/payment/relayed.ts';
import type { Payment } from '../domain/payment/state.ts';
import type { Relay } from '../domain/relay/relay.ts';
import type { RelayResult } from '../domain/relay/result.ts';
import type { By } from './handle.ts';
import type { PayoutRail, TransferOrder } from './transferPorts.ts';

/** The signed fields of an authorization: EIP-3009, an authorization entry on Stellar, or a payer's transaction on Solana. */
export interface Authorization {
  readonly token: TokenRef;
  readonly payer: string;
  readonly receiver: string;
  /** In smallest units. */
  readonly amount: bigint;
  /** Seconds since 1970. On Stellar 0, and the last ledger that accepts it. On Solana 0: the blockhash limits its life. */
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  /** As `nonceIn` returns it. */
  readonly nonce: string;
}

/** An authorization as its payer sent it. */
export interface SignedAuthorization {
  readonly chainId: number;
  readonly tokenAddress: string;
  readonly from: string;
  readonly to: string;
  readonly value: string;
  /** Seconds since 1970, or ledgers, as in `Authorization`. */
  readonly validAfter: string;
  readonly validBefore: string;
  readonly nonce: string;
  readonly signature: string;
}

/** EIP-712 domain of a token, besides chain and contract. */
export interface AuthorizationDomain {
  readonly name: string;
  readonly version: string;
}

/** Terms that payers' wallets sign, besides the payment's own. */
export type RelayTerms =
  /** Typed data of a token with EIP-3009. `networkId`: of the network that wallets and signatures name. */
  | { readonly kind: 'eip712'; readonly networkId: number; readonly domain: AuthorizationDomain }
  /** An authorization entry of the token's contract on Stellar. */
  | { readonly kind: 'entry' }
  /** A transaction on Solana whose fee our relay account pays. */
  | { readonly kind: 'transaction'; readonly feePayer: string };

type OrderOf<K> = TransferOrder & { readonly form: Extract<NonNullable<TransferOrder['form']>, { kind: K }> };

/** An order whose form is an authorization (EIP-3009). */
export type RelayOrder = OrderOf<'authorization'>;
/** An order whose form is an authorization entry. */
export type EntryOrder = OrderOf<'authorizationEntry'>;
/** An order whose form is a payer's transaction on Solana. */
export type PayerTransactionOrder = OrderOf<'payerTransaction'>;

/** Maximum cost of a relay now, in the smallest unit of the chain's coin. */
export interface RelayCost {
  readonly fee: bigint;
  /** For opening the deposit's token account on Solana; the sweep of the deposit returns it. */
  readonly rent: bigint;
}

export interface Relaying {
  /** Sends from the relay account, whose nonces no payout waits for. */
  readonly rail: PayoutRail;
  /** The network in CAIP-2 (`eip155:8453`), as x402 names it. */
  readonly network: string;
  /**
   * The token's terms; null if no authorization of it is accepted. On EVM chains the contract's separator equals the one
   * computed from the domain.
   * @throws ChainUnavailable while no node answers
   */
  termsOf(token: Pick<TokenRef, 'address'>, signal: AbortSignal): Promise<RelayTerms | null>;
  /** Contract of a token, as x402 names the asset. */
  assetOf(token: Pick<TokenRef, 'address'>): string;
  /** Receiver that pays a deposit; null for a deposit that no authorization can pay. */
  receiverOf(deposit: Pick<Deposit, 'address' | 'memo' | 'contract'>): string | null;
  /** Account of the token that a payment to the receiver names. Omitted where it is the receiver. */
  accountAt?(receiver: string, token: Pick<TokenRef, 'address'>): string;
  /** The deposit of a receiver; null for any other text. */
  depositIn(receiver: string): Pick<Deposit, 'address' | 'memo'> | null;
  /** The authorization in a transaction that a payer's program built; null for another one. Undefined where programs send the fields. */
  read?(transaction: string): SignedAuthorization | null;
  /** Prepares what wallets in pages sign. Undefined where they sign typed data. */
  readonly wallets?: WalletAuthorizations;
  /** Signature in the stored form, if the payer's key made it; null for any other. Calls no node. */
  signatureOf(authorization: Authorization, terms: RelayTerms, signature: string): Promise<string | null>;
  /** Canonical spelling of a nonce; null for any other text. */
  nonceIn(text: string): string | null;
  /** Nonce that the server chooses for a payment: the contract refuses a second authorization of the payer with it. Calls no node. */
  nonceOf(text: string): string;
  /** Canonical spelling of an account's address; null for any other text. */
  accountOf(text: string): string | null;
  /**
   * Runs the transaction on a node without sending it.
   * @throws PayoutBlocked whose `ends` names the reason of the token's refusal, ChainUnavailable
   */
  simulate(order: RelayOrder | EntryOrder | PayerTransactionOrder, signal: AbortSignal): Promise<RelayCost>;
}

// Authorizations that the service prepares for wallets in pages, on chains where a wallet signs no typed data: Solana and Stellar.

/** Payment of one account by an authorization. */
export interface AuthorizationOrder {
  readonly token: TokenRef;
  /** In smallest units. */
  readonly amount: bigint;
  readonly deposit: Deposit;
  /** Receiver that pays the deposit. */
  readonly payTo: string;
  /** The payer's account, in the chain's canonical spelling. */
  readonly payer: string;
  /** Nonce that the server chose for the payment's next authorization. */
  readonly nonce: string;
}

/** Unsigned authorization in base64. */
export type PreparedAuthorization =
  /** Solana: a transaction whose fee our relay account pays, with empty signatures. */
  | { readonly transaction: string }
  /** Stellar: an entry without its signature, and the preimage whose hash the wallet signs. */
  | { readonly entry: string; readonly preimage: string };

/** @template T facts of the network that every authorization needs, which may be some seconds old */
export interface WalletAuthorizations<T = unknown> {
  /** @throws ChainUnavailable */
  readTerms(): Promise<T>;
  /** Simulates the payment, and signs nothing. @throws ChainUnavailable */
  prepare(order: AuthorizationOrder, terms: T, signal: AbortSignal): Promise<PreparedAuthorization | Refusal>;
  /** The authorization of a prepared entry with its wallet's signature; null for other texts. Undefined where wallets return all in one. */
  signedEntry?(entry: string, signature: string): SignedAuthorization | null;
}

/** A payment that is created only for an authorization that can pay it. */
export interface RelayDraft {
  readonly payment: Payment;
  /** False if its price is no longer offered, or its link is closed. An authorization that has moved the money is accepted all the same. */
  readonly isFresh: boolean;
  /** Creates it, or finds it. */
  create(by: By): Promise<Payment | Refusal>;
}

/** One source of the payment, which an authorization can pay. */
export interface RelayOffer {
  readonly source: RelayedSource;
  readonly deposit: Deposit;
  /** Receiver of the authorization, which pays the deposit. */
  readonly payTo: string;
  /** Network in CAIP-2, and the token's contract. */
  readonly network: string;
  readonly asset: string;
  readonly terms: RelayTerms;
  /** Nonce that the server chose for the payment's next authorization from this source. */
  readonly nonce: string;
}

/** Why an authorization is not accepted, in the words of x402. */
export type RelayFault =
  | 'invalid_network'
  | 'invalid_payload'
  | 'invalid_exact_evm_signature'
  | 'invalid_exact_evm_payload_recipient_mismatch'
  | 'invalid_exact_evm_payload_authorization_value_mismatch'
  | 'invalid_exact_evm_payload_authorization_valid_after'
  | 'invalid_exact_evm_payload_authorization_valid_before'
  | 'invalid_exact_evm_nonce_already_used'
  | 'invalid_exact_evm_insufficient_balance'
  | 'invalid_exact_evm_transaction_simulation_failed'
  | 'invalid_payer'
  | 'payment_over'
  | 'gas_limit'
  | 'duplicate_settlement'
  | 'unavailable';

export interface RelayRefusal extends Refusal {
  readonly fault: RelayFault;
}

export interface Accepted {
  readonly payment: Payment;
  readonly relay: Relay;
  readonly result: RelayResult;
}

/** Status of a payment that its payer wants to pay by authorization. */
export interface RelayDesk {
  readonly payment: Payment;
  /** Empty while nothing can be paid so. */
  readonly offers: readonly RelayOffer[];
  /** The payment's last relay. */
  readonly last: { readonly relay: Relay; readonly result: RelayResult } | null;
}

export interface Relays {
  /** The authorization in a transaction that a payer's program built; null for any other text. */
  read(chainId: ChainId, transaction: string): SignedAuthorization | null;
  /** @returns null for an unknown payment. Records nothing. @throws Unavailable */
  desk(paymentId: string, signal: AbortSignal): Promise<RelayDesk | null>;
  /** The desk of a payment that is not created. @throws Unavailable */
  draftDesk(payment: Payment, signal: AbortSignal): Promise<RelayDesk>;
  /**
   * Accepts an authorization once; the same one again gets the relay that it has.
   * @param draft the payment, if it may not exist yet @throws Unavailable
   */
  accept(
    paymentId: string,
    signed: SignedAuthorization,
    by: By,
    signal: AbortSignal,
    draft?: RelayDraft,
  ): Promise<Accepted | RelayRefusal>;
  /** Returns the payer if `accept` would accept the authorization now. Records nothing. @throws Unavailable */
  verify(paymentId: string, signed: SignedAuthorization, signal: AbortSignal): Promise<string | RelayRefusal>;
  /** The relay of an authorization; null where it was not accepted. @throws Unavailable */
  find(paymentId: string, signed: SignedAuthorization): Promise<Accepted | null>;
}
