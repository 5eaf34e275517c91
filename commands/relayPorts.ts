/** Needs of relays on a chain: an account of their own, and the nodes' answers about a payer's authorization. */
import type { TokenRef } from '../domain/payment/events.ts';
import type { PayoutRail, TransferOrder } from './transferPorts.ts';

/** The signed fields of an authorization (EIP-3009), as a token's contract reads them. */
export interface Authorization {
  readonly token: TokenRef;
  readonly payer: string;
  readonly receiver: string;
  /** In smallest units. */
  readonly amount: bigint;
  /** Seconds since 1970. */
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  /** 32 bytes, in lower-case hex. */
  readonly nonce: string;
}

/** EIP-712 domain of a token, besides chain and contract. */
export interface AuthorizationDomain {
  readonly name: string;
  readonly version: string;
}

/** An order whose form is an authorization. */
export type RelayOrder = TransferOrder & {
  readonly form: Extract<NonNullable<TransferOrder['form']>, { kind: 'authorization' }>;
};

export interface Relaying {
  /** Sends from the relay account, whose nonces no payout waits for. */
  readonly rail: PayoutRail;
  /** Id of the network that payers' wallets and signatures name. */
  readonly networkId: number;
  /**
   * The token's domain, if the contract's separator equals the one computed from it; null if no authorization is
   * accepted.
   * @throws ChainUnavailable while no node answers
   */
  domainOf(token: Pick<TokenRef, 'address'>, signal: AbortSignal): Promise<AuthorizationDomain | null>;
  /** Signature in the contract's form (r, s, v of 65 bytes), if the payer's key made it; null for any other. Calls no node. */
  signatureOf(authorization: Authorization, domain: AuthorizationDomain, signature: string): Promise<string | null>;
  /** Nonce that the server chooses for a payment: the contract refuses a second authorization of the payer with it. Calls no node. */
  nonceOf(text: string): string;
  /** Canonical spelling of an account's address; null for any other text. */
  accountOf(text: string): string | null;
  /**
   * Runs the transaction on a node without sending it.
   * @returns its maximum cost now, in the smallest unit of the chain's coin
   * @throws PayoutBlocked whose `ends` names the reason of the token's refusal, ChainUnavailable
   */
  simulate(order: RelayOrder, signal: AbortSignal): Promise<bigint>;
}
