import { viewOf } from '../domain/payment/view.ts';
import { rowOfView } from './paymentRow.ts';
import { ofPayments, upsert } from './projection.ts';

/** Today's row of every payment: its public view. */
export const payments = ofPayments('payments', ({ after, stored }) => [
  upsert('payments', rowOfView(viewOf(after, stored.metadata.at), stored.revision)),
]);
