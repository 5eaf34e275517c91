/** Interface of a chain family; families.ts lists the implementations. */
import type { Observable } from 'rxjs';
import type { PayerTransactions, WalletOffer } from '../../commands/payerTransactions.ts';
import type { Clock, SignedMessage } from '../../commands/ports.ts';
import type { DepositSweep } from '../../commands/sweeps/ports.ts';
import { type Chain, type ChainFamily, type ChainId, chainOf } from '../../domain/chains.ts';
import type { Deposit } from '../../domain/payment/shapes.ts';
import type { PaymentState } from '../../domain/payment/state.ts';
import type { PaymentView } from '../../domain/payment/view.ts';
import type { Instant } from '../../domain/time.ts';
import type { Form } from '../../domain/transfer/shapes.ts';
import type { Reader } from '../environment/reader.ts';
import type { ChainHealth } from './health.ts';
import type { MintReader } from './mints.ts';
import type { CheckSpending } from './money/spending.ts';
import type { NodeLines } from './node/limiter.ts';
import type { OftMessages } from './oftMessages.ts';
import {
  type AccountHistory,
  type CanReceive,
  type DepositScheme,
  type Ingester,
  PayoutBlocked,
  type PayoutRail,
  type Relaying,
  type Signer,
  type TransferOrder,
} from './ports.ts';
import type { ChainSettings } from './settings.ts';

/** Chains of one technology with one shared treasury account. */
export interface Family<T extends Treasury = Treasury> {
  readonly name: ChainFamily;
  /** Decimals of the coin for fees. */
  readonly coinDecimals: number;
  /** True if the operator chooses the depth of finality; false if the chain reports it. */
  readonly choosesDepth: boolean;
  /** True if its nodes push notifications over WebSockets (WS_URLS_<chainId>). */
  readonly hasPushes?: boolean;
  /** True if one transaction can make several payouts (PAYOUT_BATCH_<chainId>). */
  readonly hasBatches?: boolean;
  /** Canonical spelling of a payable address; null for any other text. */
  canonicalAddress(chain: Chain, text: string): string | null;
  /** Transaction hash in the chain's spelling; null for any other text. */
  canonicalTxHash(text: string): string | null;
  /** Reads the treasury's variables and reports their problems to the reader. Null if it is unusable. */
  readTreasury(read: Reader, production: boolean): T | null;
  /** @param settings of this family's chains */
  open(settings: readonly [ChainSettings, ...ChainSettings[]], treasury: T, needs: FamilyNeeds): OpenFamily;
  /** Null on an instance without the treasury's key. */
  openSigner(treasury: T, deps: SignerDeps): Signer | null;
  /** Signer of the relay account, which signs relays alone; null on an instance without its key. */
  openRelaySigner?(treasury: T, deps: RelaySignerNeeds): Signer | null;
  /**
   * Payment link in the family's format; null for a payment that has none.
   * @param amount in whole tokens; null leaves it to the payer
   * @param sandbox true for a simulated chain: if the format allows, the link prevents payments of real money
   */
  walletLink?(payment: PaymentView, amount: string | null, sandbox: boolean): string | null;
  /**
   * Facts that a wallet in the payer's browser needs to pay by one press; null for a payment that it cannot pay.
   * @param amount in whole tokens
   * @param localRpcUrls RPC URLs of a simulated chain; null for a real one
   */
  walletOffer?(payment: PaymentView, amount: string, localRpcUrls: readonly string[] | null): WalletOffer | null;
  /** Makes deposit addresses whose keys the signer can derive; null on an instance without the seed. */
  depositOwners?(treasury: T): ((salt: string) => DepositOwner) | null;
  /**
   * True if a payment's deposit is derived like this treasury's, so money there is ours; false if this instance cannot tell, and for former
   * schemes.
   */
  isOwnDeposit(treasury: T, paymentId: string, deposit: Deposit): Promise<boolean>;
  /** True if `isOwnDeposit` holds for one payment only; false if a salt derives the deposit, which two payments could name. */
  readonly derivesDepositFromPayment: boolean;
  /** For a family whose wallets sign texts. */
  readonly messages?: MessageScheme;
}

/** One configured chain: its payins and payouts share its nodes. */
export interface OpenChain {
  readonly ingester: Ingester;
  readonly rail: PayoutRail;
  /** Account history, for the treasury's books. */
  readonly history: AccountHistory;
  readonly health: ChainHealth;
  /** Poll interval of the chain. */
  readonly poll_ms: number;
  /** Sends payers' authorizations; omitted without a relay account. */
  readonly relaying?: Relaying;
  /** Notifications of nodes while subscribed; omitted if no WebSocket is configured. */
  readonly pushes?: Observable<Push>;
  /** Reasons why configured nodes cannot serve the chain, one sentence each; nodes that do not answer in time are omitted. */
  unfitNodes?(signal: AbortSignal): Promise<readonly string[]>;
  /** Reads what CCTP minted for rebalances. */
  readonly mints?: MintReader;
  /** Reads messages of USDT0, and their fee. */
  readonly oftMessages?: OftMessages;
  /** For families whose deposits must be swept into the treasury. @param paymentOf throws Unavailable */
  openSweep?(paymentOf: (paymentId: string) => Promise<PaymentState>): DepositSweep;
  /** Prepares transactions for payers' wallets. Undefined for families whose wallets build their own. */
  readonly payerTransactions?: PayerTransactions;
  /** For families with contract signatures: true if the contract at the address accepts the signature. @throws Unavailable */
  acceptsMessage?(contract: string, message: SignedMessage): Promise<boolean>;
}

/** Notification of a node: a reason to read, which proves nothing. */
export type Push = { readonly kind: 'head' } | { readonly kind: 'transfer'; readonly to: string };

/** Text signatures of a family's wallets. */
export interface MessageScheme {
  /** Canonical spelling of an address with a key; null for any other text. */
  signer(text: string): string | null;
  /** @param address a canonical one of this family */
  isSignedBy(address: string, message: SignedMessage): Promise<boolean>;
}

export interface OpenFamily {
  readonly family: ChainFamily;
  readonly chains: readonly OpenChain[];
  readonly deposits: DepositScheme;
  /** Null if every receiver can receive every token. */
  readonly canReceive: CanReceive | null;
  /**
   * Returns why the configuration does not match the chain, so nothing must be offered; undefined if it does.
   * @throws ChainUnavailable if no node can answer
   */
  readonly misfit: ((signal: AbortSignal) => Promise<string | undefined>) | null;
}

/** A deposit address whose key the signer can derive from the salt. */
export interface DepositOwner {
  readonly address: string;
  readonly scheme: string;
  readonly salt: string;
}

/** State of the service that a family may need. */
export interface FamilyNeeds {
  /** Known state of nodes, by address. */
  readonly lines: NodeLines;
  /** Takes addresses from the stock, each for one payment. Returns fewer than requested if the stock is low. */
  readonly takeOwners: (max: number) => Promise<readonly DepositOwner[]>;
  /** As in `RelaySignerNeeds`. Default: null. */
  readonly depositOwner?: RelaySignerNeeds['depositOwner'];
  readonly watch: (chainId: ChainId) => Watch;
}

/**
 * Deposits to check on a chain that cannot be read block by block, one page at a time: there may be very many. Each page is queried with
 * the current time, in a stable order, so a reader of all pages finds every deposit that stayed in the list.
 */
export interface Watch {
  /** Deposits of payments that wait for money, youngest first. */
  open(page: AskedPage, signal: AbortSignal): Promise<readonly WatchedDeposit[]>;
  /** Deposits of ended payments that are still watched for late money, latest end first. */
  late(page: AskedPage, signal: AbortSignal): Promise<readonly WatchedDeposit[]>;
}

export interface AskedPage {
  /** Last deposit of the previous page; null for the first page. */
  readonly after: WatchedDeposit | null;
  readonly max: number;
}

/** A watched address, ordered by time and key. */
export interface WatchedDeposit {
  readonly address: string;
  readonly at: Instant;
  readonly key: string;
}

export interface SignerDeps {
  /** Settings of every served chain. */
  readonly settings: readonly ChainSettings[];
  readonly clock: Pick<Clock, 'now'>;
  /** Common limits of all families. */
  readonly spending: CheckSpending;
  /** The treasury's account on another family's chains, by this instance's own configuration; undefined without one. */
  readonly accountOf: (family: ChainFamily) => string | undefined;
}

export interface RelaySignerNeeds extends Omit<SignerDeps, 'accountOf'> {
  /** Derives a deposit's address from its salt at the separate signer, which has the seed; null without one. @throws Unavailable */
  readonly depositOwner: ((salt: string) => Promise<DepositOwner>) | null;
}

// Forms of transfers that a chain's rail builds and its signer signs.

/** @throws PayoutBlocked for an order of a form other than a plain token transfer or the given ones */
export function checkForm({ chainId, form }: TransferOrder, ...known: readonly Form['kind'][]): void {
  if (form === undefined || known.includes(form.kind)) return;
  throw new PayoutBlocked('formUnknown', `nothing of the kind ${form.kind} is done on ${chainOf(chainId).name}`);
}

// The account that pays out on the chains of a family: with its key, or its address alone.

export interface Treasury {
  /** In the chains' spelling. */
  readonly address: string;
  /** Null on an instance that does not sign. */
  readonly key: string | null;
}

export interface StatedAccount {
  readonly stated: string | null;
  readonly key: string | null;
  /** Undefined if the key is outside the curve's range. */
  readonly accountOf: (key: string) => string | undefined;
}

/** If both are set, the key decides, and the address must be its account's. @param names of the variables */
export function readTreasuryAccount(
  read: Reader,
  names: { readonly address: string; readonly key: string },
  { stated, key, accountOf }: StatedAccount,
): Treasury | null {
  if (key === null) {
    const given = read.given(names.address) || read.given(names.key);
    read.check(stated !== null || given, `${names.address} or ${names.key} is required`);
    return { address: stated ?? '', key: null };
  }
  const address = accountOf(key);
  if (!read.check(address !== undefined, `${names.key} is not a valid key`)) return null;
  read.check(
    stated === null || stated === address,
    `${names.address} is not the account of ${names.key}: set the address of the key, or unset one of the two`,
  );
  return { address: address ?? '', key };
}
