/** Everything that the HTTP edge uses, in one place: commands and queries with their own needs already filled in. */
import type { Logger } from 'pino';
import type { AppSettings, CreatedPayment, NewPayment } from '../../commands/createPayment.ts';
import type { Clock, Ids } from '../../commands/ports.ts';
import type { Refusal } from '../../domain/decider.ts';
import type { KeyScope } from '../../domain/merchant.ts';
import type { PaymentTransaction, PaymentView } from '../../domain/payment/view.ts';

export interface HttpDeps extends Commands, Queries {
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Pick<Ids, 'eventId'>;
  readonly logger: Logger;
  readonly limits: HttpLimits;
  /** Prometheus text. */
  readonly metrics: () => Promise<string>;
  readonly readiness: () => Promise<Readiness>;
  /** Told once per request, for metrics; `route` is the path's pattern. */
  readonly observe?: (seen: RequestSeen) => void;
  /** Address of the hosted payment page, where there is one. */
  readonly paymentLink?: (paymentId: string) => string | null;
}

export interface Commands {
  readonly createPayment: (
    request: NewPayment,
    app: AppSettings,
    caller: { readonly keyless: boolean; readonly cause: string },
  ) => Promise<CreatedPayment | Refusal>;
  readonly registerPayin: (
    paymentId: string,
    payin: { readonly txHash: string; readonly fromAddress: string },
    cause: string,
  ) => Promise<{ readonly payment: PaymentView } | Refusal>;
}

export interface Queries {
  readonly getPayment: (paymentId: string) => Promise<PaymentView | null>;
  readonly getPaymentByOrder: (appId: string, orderId: string) => Promise<PaymentView | null>;
  /** A refusal when the cursor is none of ours. */
  readonly listPayments: (filter: PaymentFilter) => Promise<PaymentPage | Refusal>;
  readonly listTransactions: (paymentId: string) => Promise<readonly PaymentTransaction[]>;
  readonly getStats: (appId: string, period: StatsPeriod) => Promise<Stats>;
  readonly listDeliveries: (appId: string, limit: number) => Promise<readonly Delivery[]>;
  /** @param hash SHA-256 of the key as hex; null for a key that is unknown or revoked */
  readonly findApiKey: (hash: string) => Promise<Caller | null>;
  readonly findApp: (appId: string) => Promise<App | null>;
}

export type StatsPeriod = 'today' | '7d' | '30d';

/** Who calls: a key acts for its app and no other. */
export interface Caller {
  readonly keyId: string;
  readonly appId: string;
  readonly scope: KeyScope;
}

export type App = AppSettings & { readonly keylessAllowed: boolean };

export interface PaymentFilter {
  readonly appId: string;
  readonly limit: number;
  readonly cursor?: string;
  readonly status?: string;
  readonly orderId?: string;
  readonly createdAfter?: string;
  readonly createdBefore?: string;
  readonly updatedAfter?: string;
}

export interface PaymentPage {
  readonly payments: readonly PaymentView[];
  /** Null when there is no further page. */
  readonly nextCursor: string | null;
}

export interface Stats {
  readonly period: StatsPeriod;
  readonly volumeUsdc: string;
  readonly paymentCount: number;
  readonly avgOrderUsdc: string;
  readonly netToWalletUsdc: string;
  readonly chart: readonly { readonly date: string; readonly volumeUsdc: string; readonly paymentCount: number }[];
}

export interface Delivery {
  readonly deliveryId: string;
  readonly paymentId: string;
  readonly eventType: string;
  readonly statusCode: number | null;
  readonly responsePreview: string | null;
  readonly deliveredAt: string | null;
  readonly status: 'delivered' | 'exhausted';
  readonly attemptNumber: number;
}

export interface Readiness {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, { readonly ok: boolean }>>;
}

export interface RequestSeen {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly duration_s: number;
}

export interface HttpLimits {
  /** Requests in progress at most; further ones are answered 503 at once. */
  readonly concurrentMax: number;
}

export const defaultLimits: HttpLimits = { concurrentMax: 500 };
