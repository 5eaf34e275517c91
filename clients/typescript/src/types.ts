/** Short names of the service's types. api.ts has all of them, generated from its OpenAPI document. */
import type { components, operations } from './api.ts';

type Schemas = components['schemas'];

export type Payment = Schemas['PaymentResponse'];
export type NewPayment = Schemas['CreatePaymentRequest'];
export type PaymentStatus = Schemas['PaymentStatus'];
export type PaymentPage = Schemas['PaymentListResponse'];
/** One event of the feed. */
export type FeedEvent = Schemas['FeedEvent'];
export type EventPage = Schemas['EventsResponse'];
export type WebhookEvent = Schemas['WebhookEvent'];
export type FieldError = Schemas['FieldError'];
/** Answer of a refusal or failure. */
export type Problem = Schemas['ErrorResponse'];
/** Filters of listed payments, and the page size. */
export type ListFilters = Omit<NonNullable<operations['listPayments']['parameters']['query']>, 'cursor'>;

/** The statuses that mean: fulfil the order, once. */
export const paidStatuses = [
  'payment_payout_completed',
  'payment_completed',
] as const satisfies readonly PaymentStatus[];

/** The statuses at which waiting ends. */
export const endStatuses = [
  ...paidStatuses,
  'payment_bounced',
  'payment_expired',
  'payment_refunded',
] as const satisfies readonly PaymentStatus[];
