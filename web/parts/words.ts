/** Words that several pages use for the same thing. */
import { type ChainId, chainOf } from '../../domain/chains.ts';
import type { PaymentView } from '../../domain/payment/view.ts';
import { cut } from './html.ts';

export const chainName = (id: number): string => chainOf(id as ChainId).name;

/** What people call a payment: its order, its title, or its id's beginning. */
export const nameOf = ({ orderId, title, paymentId }: PaymentView): string =>
  cut(orderId ?? title ?? paymentId.slice(0, 8), 80);

/** Where the money comes from and goes to. */
export const wayOf = ({ sourceChainId, destinationChainId }: PaymentView): string =>
  `${chainName(sourceChainId)} → ${chainName(destinationChainId)}`;
