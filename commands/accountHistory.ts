/** What its transactions did to an account, and what it holds: the port that each chain family implements for the books. */
import type { ChainId } from '../domain/chains.ts';
import type { Instant } from '../domain/time.ts';
import type { Dispute } from './chainPorts.ts';
import { TransientError } from './ports.ts';

/** The chain's own coin among assets; any other is a token, by its address as the catalogue spells it. */
export { coinAddress as coin } from '../domain/money.ts';

export interface Change {
  readonly asset: string;
  /** In smallest units, negative for what left the account. The fee is not in it. */
  readonly amount: bigint;
  /**
   * Who gave or received it. An outflow to several receivers is one change per receiver; an inflow from several names the one who gave
   * most. Null if the chain names nobody, or if others paid in the same transaction too.
   */
  readonly counterparty: string | null;
  /** Stellar: the memo beside the transfer. Omitted if there is none, and on other chains. */
  readonly memo?: string;
}

/** A place on the chain. On Solana and Stellar, slots and ledgers are its blocks. */
export interface Place {
  readonly blockNumber: bigint;
  readonly blockHash: string;
}

export interface AccountTransaction extends Place {
  readonly txHash: string;
  readonly time: Instant;
  /** Of the account's own nonces, the one that it used up; null for others' transactions, and on a chain without nonces. */
  readonly nonce: bigint | null;
  /** Whether the account sent it; on Solana, whether it paid for it. */
  readonly outgoing: boolean;
  readonly succeeded: boolean;
  /** Of the chain's coin, in smallest units, as far as the account paid it. */
  readonly fee: bigint;
  readonly changes: readonly Change[];
  /** The 32 bytes that it has for a memo, as hex; left out where it has none, or another. */
  readonly hashMemo?: string;
}

export interface HistoryAsked {
  readonly account: string;
  /** The first and the last block of the range, both of them final: what may still be undone is not told apart. */
  readonly from: bigint;
  readonly to: bigint;
  readonly order: 'oldestFirst' | 'newestFirst';
  /** Transactions of the page; where a block has more of them, all of its own are in it. */
  readonly max: number;
  /** `next` of the page before; null for the first one. */
  readonly after: string | null;
  /** Hashes that are left out: what they did is known. */
  readonly except?: ReadonlySet<string>;
}

export interface HistoryPage {
  /** None in a page where nothing was found so far. */
  readonly transactions: readonly AccountTransaction[];
  /** Where the next page begins; null behind the end of the range. */
  readonly next: string | null;
  /** Whether all that the account sent is among them: false where no node remembers what it sent. */
  readonly complete: boolean;
}

/** What an account holds at the end of a block. */
export interface Standing extends Place {
  readonly time: Instant;
  /** EVM: number of transactions that the account has sent. Omitted on other chains. */
  readonly sent?: bigint;
  /** Of the coin and each token of the catalogue, in smallest units; nothing is nought. */
  readonly balances: Readonly<Record<string, bigint>>;
}

export interface AccountHistory {
  /** Returns the account that holds what is paid to an address. Default: the address itself. On Stellar several M addresses are one account. */
  holderOf?(address: string): string;
  /** Returns the memo that an address contains; null if it contains none. Only Stellar's M addresses contain one. */
  memoIn?(address: string): string | null;
  readonly chainId: ChainId;
  /** Whether coin that others send is listed. On EVM no node lists it, nor what contracts send: only balances show it. */
  readonly listsCoin: boolean;
  /**
   * What happened to an account, a bounded page at a time. Tokens are those of the catalogue, and whatever a transaction of the account's
   * own moved besides: anybody can name an account in the logs of a contract of his own.
   * @throws ChainUnavailable, HistoryTooLong
   */
  transactions(asked: HistoryAsked, signal: AbortSignal): Promise<HistoryPage>;
  /**
   * The account's transaction with a nonce; undefined where no node has it or remembers it. Left out where a chain has no nonces.
   * @param asked `since`: nothing has used it before
   */
  withNonce?(
    asked: { readonly account: string; readonly nonce: bigint; readonly since: Instant },
    signal: AbortSignal,
  ): Promise<AccountTransaction | undefined>;
  /**
   * What came to many addresses and left them, of the catalogue's tokens alone, as far as logs show it. Left out where each address has to
   * be asked about by itself.
   */
  transfersOf?(
    addresses: readonly string[],
    range: { readonly from: bigint; readonly to: bigint },
    signal: AbortSignal,
  ): AsyncIterable<{ readonly address: string; readonly transaction: AccountTransaction }>;
  /** Where the memory of the node that remembers most begins. Left out where nodes remember all. @throws ChainUnavailable */
  oldest?(signal: AbortSignal): Promise<{ readonly blockNumber: bigint; readonly time: Instant }>;
  /** What the account holds now, as so many nodes as must agree say. @throws ChainUnavailable, StandingDisputed */
  standing(account: string, signal: AbortSignal): Promise<Standing>;
  /** What may become of a block: `gone` when another one is in its place. */
  finality(place: Place, signal: AbortSignal): Promise<'final' | 'open' | 'gone'>;
}

/** More happened in the range than is listed in one go: ask for a shorter one. */
export class HistoryTooLong extends Error {
  override readonly name = 'HistoryTooLong';
}

/** The nodes do not say the same of what an account holds; the next look may find them agreed. */
export class StandingDisputed extends TransientError {
  override readonly name = 'StandingDisputed';
  readonly dispute: Dispute;
  constructor(account: string, dispute: Dispute) {
    super(`what ${account} holds is not agreed on: ${dispute.message}`);
    this.dispute = dispute;
  }
}
