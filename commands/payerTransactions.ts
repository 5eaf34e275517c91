/** Facts that a payer's wallet needs to pay by one press, and the transactions that the service prepares for it. */
import type { ChainId, Token } from '../domain/chains.ts';
import type { Refusal } from '../domain/decider.ts';
import type { Deposit } from '../domain/payment/shapes.ts';

/** Data for the script of a payment's page. Every value is public: the page shows the same facts. */
export type WalletOffer = EvmOffer | SolanaOffer | StellarOffer;

export interface EvmOffer {
  readonly family: 'evm';
  readonly chain: EvmNetwork;
  /** The token's contract. */
  readonly token: string;
  /** Calldata of the ERC-20 transfer of exactly the amount that is due. */
  readonly data: string;
  /** Smallest units in decimal. */
  readonly units: string;
  readonly amount: ChosenAmount;
}

/** A chain as wallets add it (EIP-3085). */
export interface EvmNetwork {
  /** Hexadecimal. */
  readonly id: string;
  readonly name: string;
  readonly coin: { readonly name: string; readonly symbol: string; readonly decimals: number };
  readonly rpcUrls: readonly string[];
  readonly explorers: readonly string[];
}

export interface SolanaOffer {
  readonly family: 'solana';
  /** As the Wallet Standard names clusters: `solana:mainnet`. */
  readonly chain: string;
  readonly amount: ChosenAmount;
}

/** In whole tokens, if the payer chose it; null for the amount that is due. */
type ChosenAmount = string | null;

export interface StellarOffer {
  readonly family: 'stellar';
  /** The network's passphrase. */
  readonly network: string;
  /** The only account that can pay; null where every account can. */
  readonly sender: string | null;
  readonly amount: ChosenAmount;
}

/** Amount that an account must pay. */
export interface PayerOrder {
  readonly paymentId: string;
  readonly chainId: ChainId;
  readonly token: Token;
  /** In smallest units. */
  readonly amount: bigint;
  readonly deposit: Pick<Deposit, 'address' | 'memo' | 'contract' | 'contractMemo'>;
  /** The payer's account, in the chain's canonical spelling. */
  readonly payer: string;
}

export interface PreparedTransaction {
  /** As the chain's wallets read it, in base64; it has no valid signature. */
  readonly transaction: string;
  /** The hash that a wallet signs; null where the wallet may change the transaction. */
  readonly hash: string | null;
}

/**
 * Prepares transactions for payers' wallets. It holds no key and signs nothing.
 * @template T facts of the network that every transaction needs, which may be some seconds old
 */
export interface PayerTransactions<T = unknown> {
  /** @throws ChainUnavailable */
  readTerms(): Promise<T>;
  /** @throws ChainUnavailable */
  prepare(order: PayerOrder, terms: T): Promise<PreparedTransaction | Refusal>;
  /** Where wallets sign and the service sends. Undefined where wallets send. */
  readonly signed?: SignedTransactions;
}

export interface SignedTransactions {
  /** The hash of a signed transaction; a refusal for a text that the payer has not signed. Calls no node. */
  hashOf(signed: string, payer: string): string | Refusal;
  /** @throws ChainUnavailable */
  send(signed: string): Promise<Refusal | undefined>;
}
