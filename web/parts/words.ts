/** Words that several pages use for the same thing. */
import { type ChainId, chainOf } from '../../domain/chains.ts';
import type { PaymentView } from '../../domain/payment/view.ts';
import type { Delivery } from '../../queries/deliveries.ts';
import { cut } from './html.ts';

export const chainName = (id: number): string => chainOf(id as ChainId).name;

/** What a webhook tells of. */
export const newsOf: Readonly<Record<Delivery['eventType'], string>> = {
  payment_payin_completed: 'Payment arrived',
  payment_payout_completed: 'Paid out',
  webhook_test: 'Test',
};

/** Why a webhook had no answer. */
export const silences: Readonly<Record<NonNullable<Delivery['error']>, string>> = {
  badUrl: 'the URL is none that a webhook can go to',
  blockedAddress: 'the server’s address is a private one, where nothing is sent',
  dns: 'the server’s name has no address',
  connection: 'the connection failed',
  tls: 'the server’s certificate is not good',
  protocol: 'the server did not answer in HTTP',
  timeout: 'the server took too long',
  unknown: 'nobody knows whether it arrived',
};

/** What people call a payment: its order, its title, or its id's beginning. */
export const nameOf = ({ orderId, title, paymentId }: PaymentView): string =>
  cut(orderId ?? title ?? paymentId.slice(0, 8), 80);

/** Where the money comes from and goes to. */
export const wayOf = ({ sourceChainId, destinationChainId }: PaymentView): string =>
  `${chainName(sourceChainId)} → ${chainName(destinationChainId)}`;
