/** What a chain family is: everything that the service asks of one. families.ts lists them. */

import type { Observable } from 'rxjs';
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
import type { Spending } from './money/spending.ts';
import type { NodeLines } from './node/lines.ts';
import {
  type AccountHistory,
  type CanReceive,
  type DepositScheme,
  type Ingester,
  PayoutBlocked,
  type PayoutRail,
  type Signer,
  type TransferOrder,
} from './ports.ts';
import type { ChainSettings } from './settings.ts';
import type { Treasury } from './treasury.ts';

/** Chains that work alike and share one treasury account. */
export interface Family<T extends Treasury = Treasury> {
  readonly name: ChainFamily;
  /** Decimals of the coin that fees are paid in. */
  readonly coinDecimals: number;
  /** Whether the operator chooses how deep is final; false where the chain itself says it. */
  readonly choosesDepth: boolean;
  /** Whether its nodes push what is new over WebSockets (WS_URLS_<chainId>). */
  readonly hasPushes?: boolean;
  /** Whether several of its payouts can be made in one transaction (PAYOUT_BATCH_<chainId>). */
  readonly hasBatches?: boolean;
  /** The canonical spelling of an address that can be paid; null when the text is none. */
  canonicalAddress(chain: Chain, text: string): string | null;
  /** A transaction's identity as its chain spells it; null when the text is none. */
  canonicalTxHash(text: string): string | null;
  /** Reads the treasury's variables and reports their problems to the reader. Null when it cannot be used. */
  readTreasury(read: Reader, production: boolean): T | null;
  /** @param settings of this family's chains */
  open(settings: readonly [ChainSettings, ...ChainSettings[]], treasury: T, needs: FamilyNeeds): OpenFamily;
  /** Null on an instance without the treasury's key. */
  openSigner(treasury: T, deps: SignerDeps): Signer | null;
  /**
   * What a wallet needs to pay, as a link of this family's own; null for a payment that has none.
   * @param amount in whole tokens; null leaves it to the payer
   * @param sandbox of a chain that is made up: where the link can, it keeps wallets from paying real money
   */
  walletLink?(payment: PaymentView, amount: string | null, sandbox: boolean): string | null;
  /** Makes deposit addresses whose keys the signer can derive; null on an instance without the seed. */
  depositOwners?(treasury: T): ((salt: string) => DepositOwner) | null;
  /**
   * Whether a payment's deposit is derived as this treasury's are, so that what is paid there is ours; false where this instance cannot tell,
   * and for schemes that are no longer made.
   */
  isOwnDeposit(treasury: T, paymentId: string, deposit: Deposit): Promise<boolean>;
  /** Whether `isOwnDeposit` is true for one payment alone; false where a salt derives the deposit, which two payments could name. */
  readonly derivesDepositFromPayment: boolean;
  /** For a family whose wallets sign texts. */
  readonly messages?: MessageScheme;
}

/** One configured chain: what watches it and what pays out on it share its nodes. */
export interface OpenChain {
  readonly ingester: Ingester;
  readonly rail: PayoutRail;
  /** What its transactions did to an account, for the treasury's books. */
  readonly history: AccountHistory;
  readonly health: ChainHealth;
  /** How often the chain is polled. */
  readonly poll_ms: number;
  /** What nodes push while it is subscribed to; left out where no WebSocket is configured. */
  readonly pushes?: Observable<Push>;
  /** Why nodes of the configuration cannot serve the chain, a sentence each; those that do not answer in time are left out. */
  unfitNodes?(signal: AbortSignal): Promise<readonly string[]>;
  /** Where CCTP mints for rebalances. */
  readonly mints?: MintReader;
  /** Where deposits hold money that has to be taken to the treasury. @param paymentOf throws Unavailable */
  openSweep?(paymentOf: (paymentId: string) => Promise<PaymentState>): DepositSweep;
  /** Where contracts sign: whether the one at the address takes the signature for its own. @throws Unavailable */
  acceptsMessage?(contract: string, message: SignedMessage): Promise<boolean>;
}

/** Something that a node has pushed of its own accord: a sign to look, which proves nothing. */
export type Push = { readonly kind: 'head' } | { readonly kind: 'transfer'; readonly to: string };

/** How a family's wallets sign texts. */
export interface MessageScheme {
  /** The canonical spelling of an address that has a key; null for any other text. */
  signer(text: string): string | null;
  /** @param address a canonical one of this family */
  isSignedBy(address: string, message: SignedMessage): Promise<boolean>;
}

export interface OpenFamily {
  readonly family: ChainFamily;
  readonly chains: readonly OpenChain[];
  readonly deposits: DepositScheme;
  /** Null where every receiver can take every token. */
  readonly canReceive: CanReceive | null;
  /**
   * Why the configuration does not fit what is on the chain, so that nothing must be offered; undefined when it does.
   * @throws ChainUnavailable when no node can tell
   */
  readonly misfit: ((signal: AbortSignal) => Promise<string | undefined>) | null;
}

/** A deposit address whose key the signer can derive from the salt. */
export interface DepositOwner {
  readonly address: string;
  readonly scheme: string;
  readonly salt: string;
}

/** What a family may need of the service's own memory. */
export interface FamilyNeeds {
  /** What the process knows of nodes, by their addresses. */
  readonly lines: NodeLines;
  /** Takes addresses out of the stock, so that each is given to one payment. Fewer than asked for when the stock is low. */
  readonly takeOwners: (max: number) => Promise<readonly DepositOwner[]>;
  readonly watch: (chainId: ChainId) => Watch;
}

/**
 * The deposits to ask about on a chain that cannot be read block by block, a page at a time: there may be very many. Each page is asked
 * with what was created before the call in place, and the order does not change: whoever goes through all pages finds what was there
 * when he began and still belongs to the list.
 */
export interface Watch {
  /** Deposits of payments that wait for their money, youngest first. */
  open(page: AskedPage, signal: AbortSignal): Promise<readonly WatchedDeposit[]>;
  /** Deposits of ended payments for which late money is still looked for, those that ended last first. */
  late(page: AskedPage, signal: AbortSignal): Promise<readonly WatchedDeposit[]>;
}

export interface AskedPage {
  /** The last one of the page before; null for the first page. */
  readonly after: WatchedDeposit | null;
  readonly max: number;
}

/** An address to watch; the time, and then the key, give its place in its list. */
export interface WatchedDeposit {
  readonly address: string;
  readonly at: Instant;
  readonly key: string;
}

export interface SignerDeps {
  /** Of every chain that is served. */
  readonly settings: readonly ChainSettings[];
  readonly clock: Pick<Clock, 'now'>;
  /** What all families may spend together. */
  readonly spending: Spending;
}

// Which forms of transfers a chain's rail builds and its signer signs.

/** @throws PayoutBlocked for an order of another form than a plain transfer of a token or those that are named */
export function checkForm({ chainId, form }: TransferOrder, ...known: readonly Form['kind'][]): void {
  if (form === undefined || known.includes(form.kind)) return;
  throw new PayoutBlocked('formUnknown', `nothing of the kind ${form.kind} is done on ${chainOf(chainId).name}`);
}
