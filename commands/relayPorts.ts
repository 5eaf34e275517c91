/** Needs of relays on a chain: an account of their own, and the nodes' answers about a payer's authorization. */
import type { Refusal } from '../domain/decider.ts';
import type { Deposit, TokenRef } from '../domain/payment/events.ts';
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
