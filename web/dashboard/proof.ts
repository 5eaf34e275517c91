/** Independent proof of a payment: evidence to check offline, and the payment at earlier times. */
import type { VNode } from 'preact';
import type { PaymentView } from '../../domain/payment/view.ts';
import type { Instant } from '../../domain/time.ts';
import { card, inside, notice } from '../parts/boxes.ts';
import { when } from '../parts/cells.ts';
import { type FormState, linkButton, submit, textField } from '../parts/field.ts';
import type { Frame } from '../parts/frame.ts';
import { html } from '../parts/html.ts';
import { appPaths } from '../parts/paths.ts';

/** Time of the displayed state. Its form has the field `asOf`. */
export interface Moment {
  /** Null: now. */
  readonly at: Instant | null;
  readonly form: FormState;
}

interface ProofModel extends Pick<Frame, 'app'> {
  readonly payment: PaymentView;
  readonly moment: Moment;
}

export const proofCard = ({ app, payment, moment: { form } }: ProofModel): VNode => {
  const to = appPaths(app.appId);
  return card(
    { title: 'Proof', controls: linkButton(to.evidence(payment.paymentId), 'Download evidence') },
    inside(html`<div class="stack">
      <p>The evidence has every event of this payment up to the newest signed head of the log. Whoever gets it checks it offline, with one
        file and without trusting anybody. It also holds the payment’s metadata, its note and its tags.</p>
      <form class="filters" method="get" action=${to.payment(payment.paymentId)}>
        ${textField({ form, name: 'asOf', label: 'The payment as it was at (UTC)', type: 'datetime-local', optional: true })}
        <div class="controls">${submit('Show', 'plain')}</div>
      </form>
    </div>`),
  );
};

/** Prevents mistaking a past state for the current one. */
export const pastNotice = ({ app, payment }: ProofModel, at: Instant): VNode =>
  notice(
    'wait',
    html`<div class="stack"><p>This is the payment as it was at ${when(at)}, made from its events. Later events are omitted.</p>
      <p>${linkButton(appPaths(app.appId).payment(payment.paymentId), 'Show it as it is now')}</p></div>`,
  );
