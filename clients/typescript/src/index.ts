export type { components, operations, paths } from './api.ts';
export { type Client, type ClientOptions, createClient, type Signalled, type WaitOptions } from './client.ts';
export { type ClientFault, type ErrorCode, PaymentsError } from './errors.ts';
export type { EventPageOptions, EventsOptions } from './feed.ts';
export * from './types.ts';
export { type ReceivedWebhook, verifyWebhook, type WebhookRefusal, type WebhookVerdict } from './webhook.ts';
