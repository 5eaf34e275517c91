/** Everything that the HTTP edge uses: commands and queries whose own needs are filled in already. */
import type { Logger } from 'pino';
import type { ChosenSource } from '../../commands/chooseSource.ts';
import type { AppSettings, CreatedPayment, Creator, NewPayment } from '../../commands/createPayment.ts';
import type { By } from '../../commands/handle.ts';
import type { FindEvidence } from '../../commands/heads/evidence.ts';
import type { HeadKeySince } from '../../commands/heads/sign.ts';
import type { ManageLinks } from '../../commands/links.ts';
import type { Changed, ManageMerchant } from '../../commands/manageMerchant.ts';
import type { PayByCredit } from '../../commands/payByCredit.ts';
import type { Clock, Ids, Logo } from '../../commands/ports.ts';
import type { PayinHint, PaymentRef, RegisteredPayin } from '../../commands/recordPayin.ts';
import type { RefundAddresses } from '../../commands/refundAddress.ts';
import type { Refunds } from '../../commands/refunds.ts';
import type { WithdrawCashback } from '../../commands/withdrawCashback.ts';
import type { AsOf } from '../../domain/asOf.ts';
import type { Chain } from '../../domain/chains.ts';
import type { Refusal } from '../../domain/decider.ts';
import type { HeadsEvent } from '../../domain/heads/events.ts';
import type { Link } from '../../domain/link.ts';
import type { Profile } from '../../domain/merchant/profile.ts';
import type { Quote } from '../../domain/payment/create.ts';
import type { Payment } from '../../domain/payment/state.ts';
import type { PaymentTransaction } from '../../domain/payment/transactions.ts';
import type { PaymentView } from '../../domain/payment/view.ts';
import type { ChangesPage } from '../../queries/appHistory.ts';
import type { App, Caller } from '../../queries/apps.ts';
import type { Cashback, CashbackMovement } from '../../queries/cashback.ts';
import type { DeliveryFilter, DeliveryPage, DeliveryRecord } from '../../queries/deliveries.ts';
import type { PaymentAsOf } from '../../queries/getPayment.ts';
import type { LinkPage } from '../../queries/links.ts';
import type { PaymentFilter, PaymentPage } from '../../queries/listPayments.ts';
import type { Overview } from '../../queries/overview.ts';
import type { PayerFacts } from '../../queries/payerFacts.ts';
import type { PaymentStory } from '../../queries/paymentStory.ts';
import type { Stats, StatsPeriod } from '../../queries/reports.ts';
import type { OwnApp, Settings, UsedKey } from '../../queries/settings.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { RequestSeen } from '../process/reports.ts';
import type { PaymentSecrets } from '../security/paymentSecrets.ts';
import type { SignedIn } from './callers.ts';
import type { ExportPayments } from './exports.ts';
import type { Feed, PaymentNews } from './news.ts';
import type { Clients, Rates } from './rateLimits.ts';

export type { App, Caller, DeliveryFilter, PaymentFilter };

export interface HttpDeps extends Commands, Queries, Webhooks, Owners {
  readonly feed: Feed;
  readonly cashback: CashbackDeps;
  readonly refunds: Refunds;
  readonly refundAddresses: RefundAddresses;
  readonly links: LinkDeps;
  readonly proof: ProofDeps;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Pick<Ids, 'eventId'>;
  readonly logger: Logger;
  readonly clients: Pick<Clients, 'of'>;
  readonly rates: Rates;
  /** People: registration, sign-in, sessions. */
  readonly accounts: Accounts;
  readonly limits: HttpLimits;
  /** Where callers reach the service, without a slash at the end. Asked when it listens. */
  readonly publicUrl: () => string;
  readonly readiness: () => Promise<Readiness>;
  readonly site: Site;
  /** Told once per request, for metrics; `route` is the path's pattern. */
  readonly observe?: (seen: RequestSeen) => void;
  /** Receives the reason of each 503 that has one. */
  readonly reportUnavailable?: (cause: unknown) => void;
  /** The secrets of links to pay. */
  readonly paymentSecrets: PaymentSecrets;
  /** What opens a wallet to pay an amount, in whole tokens; null for a payment that has no such link. */
  readonly walletLink: (payment: PaymentView, amount: string | null) => string | null;
  readonly paymentNews: PaymentNews;
}

/** Signed heads of the log. */
export interface ProofDeps {
  /** Null before the first. @throws Unavailable */
  readonly newest: () => Promise<HeadsEvent | null>;
  /** Oldest first, from a number on. @throws Unavailable */
  readonly entries: (from: number, max: number) => Promise<readonly HeadsEvent[]>;
  readonly keys: () => Promise<readonly HeadKeySince[]>;
  readonly evidence: FindEvidence;
}

/** Buyers' credit. */
export interface CashbackDeps {
  /** Where paying by it is, below the public URL: empty, or a path like `/cashback`. */
  readonly path: string;
  readonly pay: PayByCredit;
  /** What a merchant was paid by it, with so many of the newest payments. */
  readonly of: (appId: string, limit: number) => Promise<Cashback>;
  /** What came and what was withdrawn, so many of the newest. */
  readonly movements: (appId: string, limit: number) => Promise<readonly CashbackMovement[]>;
}

/** Reusable payment links. */
export interface LinkDeps extends ManageLinks {
  /** From the log: a link that was closed a moment ago is. Null when there is none. */
  readonly find: (linkId: string) => Promise<Link | null>;
  /** An app's, newest first. */
  readonly list: (
    appId: string,
    page: { readonly limit: number; readonly cursor?: string | undefined },
  ) => Promise<LinkPage | Refusal>;
}

/** What pages say of the installation. */
export interface Site {
  /** Whether money is at stake. */
  readonly mode: 'sandbox' | 'test' | 'live';
  /** Those that it serves. */
  readonly chains: readonly Chain[];
  /** How long an owner's change of the settlement wallet waits. */
  readonly settlementCoolDown_hours: number;
  /** Whether strangers may register. */
  readonly registrationOpen: boolean;
  /** Where mails can be read instead of being sent; null where they are sent. */
  readonly mailboxUrl: string | null;
  /** Whom a newcomer may sign in as, to look around; null where there is nobody for that. */
  readonly demoEmail: string | null;
}

/** What the operations port answers from. */
export interface OperationsDeps
  extends Pick<
    HttpDeps,
    'clock' | 'ids' | 'logger' | 'limits' | 'clients' | 'rates' | 'observe' | 'reportUnavailable' | 'readiness'
  > {
  /** Prometheus text. */
  readonly metrics: () => Promise<string>;
  /** Names with dots that the operations port has in the network of its operator. Default: none. */
  readonly names?: readonly string[];
}

export interface Commands {
  readonly createPayment: (request: NewPayment, app: AppSettings, caller: Creator) => Promise<CreatedPayment | Refusal>;
  readonly quotePayment: (
    request: NewPayment,
    app: AppSettings,
    caller: Pick<Creator, 'keyless'>,
  ) => Promise<Quote | Refusal>;
  readonly withdrawCashback: WithdrawCashback;
  /** The payer's choice; whoever asks has the payment's link. */
  readonly chooseSource: (paymentId: string, source: ChosenSource, by: By) => Promise<Payment | Refusal>;
  readonly registerPayin: (own: PaymentRef, hint: PayinHint, by: By) => Promise<RegisteredPayin | Refusal>;
}

/** What somebody who has signed in may see and change of an app of theirs. */
export interface Owners {
  readonly merchants: OwnersCommands;
  /** Waits at most 5 s until every instance reads the change. @throws ApiError unavailable after that: the change is recorded all the same */
  readonly shown: (change: Changed) => Promise<void>;
  /** Ids of the apps that somebody owns. */
  readonly appsOf: (developerId: string) => Promise<readonly string[]>;
  /** The same with what they are called, for people. */
  readonly listApps: (developerId: string) => Promise<readonly OwnApp[]>;
  readonly getSettings: (appId: string) => Promise<Settings | null>;
  /** All that the app ever had, oldest first. */
  readonly listKeys: (appId: string) => Promise<readonly UsedKey[]>;
  /** Who changed what of the app and its links, newest first. A refusal when the cursor is none of ours. */
  readonly listChanges: (
    appId: string,
    page: { readonly limit: number; readonly cursor?: string | undefined },
  ) => Promise<ChangesPage | Refusal>;
  readonly findLogo: (digest: string) => Promise<Logo | null>;
}

/** Each but cancelSettlement and revokeKey, which protect an app, @throws ApiError rateLimited */
export type OwnersCommands = Pick<
  ManageMerchant,
  | 'setProfile'
  | 'setLogo'
  | 'requestSettlement'
  | 'cancelSettlement'
  | 'setWebhookUrl'
  | 'setEmbeddingSites'
  | 'setPayFrom'
  | 'setPolicy'
  | 'rotateSecret'
  | 'issueKey'
  | 'renameKey'
  | 'revokeKey'
>;

export interface Queries {
  /** This and `getPaymentByOrder` find a payment from the moment that it was created. */
  readonly getPayment: (paymentId: string) => Promise<PaymentView | null>;
  /** As it was at a moment; null when there is none by now. */
  readonly getPaymentAsOf: (paymentId: string, asOf: AsOf) => Promise<PaymentAsOf | null>;
  readonly getPaymentByOrder: (appId: string, orderId: string) => Promise<PaymentView | null>;
  readonly listPayments: (filter: PaymentFilter) => Promise<PaymentPage | Refusal>;
  /** What its payer sees of a payment; null when there is none. */
  readonly payerFacts: (paymentId: string) => Promise<PayerFacts | null>;
  /** What an app shows of itself to those who pay. */
  readonly findProfile: (appId: string) => Promise<Profile>;
  /** Origins that may show the app's payment pages in a frame. */
  readonly embeddingSites: (appId: string) => Promise<readonly string[]>;
  readonly listTransactions: (paymentId: string) => Promise<readonly PaymentTransaction[]>;
  /** What happened to a payment of the app, step by step; null when it has none of this id. */
  readonly paymentStory: (appId: string, paymentId: string) => Promise<PaymentStory | null>;
  readonly exportPayments: ExportPayments;
  readonly getOverview: (appId: string, period: StatsPeriod) => Promise<Overview>;
  readonly getStats: (appId: string, period: StatsPeriod) => Promise<Stats>;
  readonly findApiKey: (hash: string) => Promise<Caller | null>;
  /** From memory, for every request with a key. @throws Unavailable when it cannot be known */
  readonly isRevoked: (keyId: string) => boolean;
  /** Told of every request that a key was accepted for. */
  readonly keyUsed: (keyId: string) => void;
  readonly findApp: (appId: string) => Promise<App | null>;
  /** Whose session a token is of; null for a token that is forged, too old, or of a session that has ended. */
  readonly findSession: (token: string) => Promise<SignedIn | null>;
}

export interface Redelivered {
  readonly delivery: DeliveryRecord;
  /** False when it had been asked for before: nothing was sent now. */
  readonly sentNow: boolean;
}

/** Ids of deliveries may be any text. Both that send answer when the receiver has, after ten seconds at most. */
export interface Webhooks {
  readonly listDeliveries: (appId: string, filter: DeliveryFilter) => Promise<DeliveryPage | Refusal>;
  /** Null for a delivery that is not the app's. */
  readonly getDelivery: (appId: string, deliveryId: string) => Promise<DeliveryRecord | null>;
  /** After the owner was warned that the receiver may get it a second time. @throws ApiError rateLimited, Unavailable */
  readonly redeliver: (appId: string, deliveryId: string, by: By) => Promise<Redelivered | Refusal>;
  /** To the URL in force. @throws ApiError rateLimited, Unavailable */
  readonly sendTest: (appId: string, by: By) => Promise<DeliveryRecord | Refusal>;
}

export interface Readiness {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, { readonly ok: boolean; readonly detail?: string }>>;
}

export interface HttpLimits {
  /** Requests in progress at most; further ones are answered 503 at once. */
  readonly concurrentMax: number;
  /** How often an open page is told that we are still here, and whose it is is looked at. */
  readonly heartbeat_ms: number;
}

export const defaultLimits: HttpLimits = {
  concurrentMax: 500,
  heartbeat_ms: 15_000,
};
