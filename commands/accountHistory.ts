/** Port for the books that each chain family implements: an account's transactions and balances. */
import type { ChainId } from '../domain/chains.ts';
import type { Instant } from '../domain/time.ts';
import type { Dispute } from './chainPorts.ts';
import { TransientError } from './ports.ts';

/** The chain's own coin among assets; any other is a token, by its address as the catalogue spells it. */
export { coinAddress as coin } from '../domain/money.ts';

export interface BalanceChange {
  readonly asset: string;
  /** In smallest units, negative for an outgoing amount. Excludes the fee. */
  readonly amount: bigint;
  /**
   * Sender or receiver. An outflow to several receivers is one change per receiver; an inflow from several senders names the largest
   * sender. Null if the chain names nobody, or if others paid in the same transaction too.
   */
  readonly counterparty: string | null;
  /** Stellar: the memo beside the transfer. Omitted if there is none, and on other chains. */
  readonly memo?: string;
}

/** A block that identifies a position on the chain. On Solana and Stellar, slots and ledgers are the blocks. */
export interface BlockPlace {
  readonly blockNumber: bigint;
  readonly blockHash: string;
}

export interface AccountTransaction extends BlockPlace {
  readonly txHash: string;
  readonly time: Instant;
  /** Nonce of this account that it used up; null for others' transactions, and on a chain without nonces. */
  readonly nonce: bigint | null;
  /** True if the account sent it; on Solana, if it paid the fee. */
  readonly outgoing: boolean;
  readonly succeeded: boolean;
  /** Fee that the account paid, in smallest units of the chain's coin. */
  readonly fee: bigint;
  readonly changes: readonly BalanceChange[];
  /** The 32-byte hash memo as hex; omitted if it has no memo, or another kind. */
  readonly hashMemo?: string;
}

export interface HistoryAsked {
  readonly account: string;
  /** First and last block of the range, both final. */
  readonly from: bigint;
  readonly to: bigint;
  readonly order: 'oldestFirst' | 'newestFirst';
  /** Maximum transactions of the page, rounded up to whole blocks. */
  readonly max: number;
  /** `next` of the previous page; null for the first page. */
  readonly after: string | null;
  /** Hashes to leave out, because their effects are known. */
  readonly except?: ReadonlySet<string>;
}

export interface HistoryPage {
  /** Empty if this page found nothing yet. */
  readonly transactions: readonly AccountTransaction[];
  /** Start of the next page; null after the end of the range. */
  readonly next: string | null;
  /** True if all transactions that the account sent are included; false if no node remembers them. */
  readonly complete: boolean;
}

/** Balances of an account at the end of a block. */
export interface AccountBalances extends BlockPlace {
  readonly time: Instant;
  /** EVM: number of transactions that the account has sent. Omitted on other chains. */
  readonly sent?: bigint;
  /** Coin and catalogue tokens, in smallest units. An omitted balance is zero. */
  readonly balances: Readonly<Record<string, bigint>>;
}

export interface AccountHistory {
  /**
   * Returns the account that receives payments to an address. Default: the address itself. On Stellar several M addresses are one account.
   */
  holderOf?(address: string): string;
  /** Returns the memo that an address contains; null if it contains none. Only Stellar's M addresses contain one. */
  memoIn?(address: string): string | null;
  readonly chainId: ChainId;
  /** True if received coin is listed. On EVM no node lists it, nor coin that contracts send: only balances reveal it. */
  readonly listsCoin: boolean;
  /**
   * Transactions of an account, one bounded page at a time. Tokens are those of the catalogue, plus any token that the account's own
   * transactions moved: anyone can name an account in the logs of their own contract.
   * @throws ChainUnavailable, HistoryTooLong
   */
  transactions(asked: HistoryAsked, signal: AbortSignal): Promise<HistoryPage>;
  /**
   * The account's transaction with a nonce; undefined if no node has it. Omitted on chains without nonces.
   * @param asked `since`: block before which nothing has used the nonce
   */
  withNonce?(
    asked: { readonly account: string; readonly nonce: bigint; readonly since: Instant },
    signal: AbortSignal,
  ): Promise<AccountTransaction | undefined>;
  /** Catalogue-token transfers of many addresses in both directions, from logs. Omitted if each address needs its own query. */
  transfersOf?(
    addresses: readonly string[],
    range: { readonly from: bigint; readonly to: bigint },
    signal: AbortSignal,
  ): AsyncIterable<{ readonly address: string; readonly transaction: AccountTransaction }>;
  /** Oldest block that any node remembers. Omitted if nodes remember all. @throws ChainUnavailable */
  oldest?(signal: AbortSignal): Promise<{ readonly blockNumber: bigint; readonly time: Instant }>;
  /** Current balances of the account, confirmed by the required number of nodes. @throws ChainUnavailable, StandingDisputed */
  standing(account: string, signal: AbortSignal): Promise<AccountBalances>;
  /** State of a block: `gone` if another block replaced it. */
  finality(place: BlockPlace, signal: AbortSignal): Promise<'final' | 'open' | 'gone'>;
}

/** The range has more transactions than one query lists: use a shorter range. */
export class HistoryTooLong extends Error {
  override readonly name = 'HistoryTooLong';
}

/** The nodes disagree about an account's balances; the next read may succeed. */
export class StandingDisputed extends TransientError {
  override readonly name = 'StandingDisputed';
  readonly dispute: Dispute;
  constructor(account: string, dispute: Dispute) {
    super(`what ${account} holds is not agreed on: ${dispute.message}`);
    this.dispute = dispute;
  }
}
