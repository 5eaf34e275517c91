import { viewOf } from '../domain/payment/view.ts';
import { rowOfView } from './paymentRow.ts';
import { ofStates, upsert } from './projection.ts';

/** One row per payment: its public view. */
export const payments = ofStates('payments', 'payment', ({ after, stored }) => [
  upsert('payments', rowOfView(viewOf(after, stored.metadata.at), stored.revision)),
]);
