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
import { sayContent, sayText } from '../parts/say.ts';

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
    {
      title: sayText('proof'),
      controls: linkButton(to.evidence(payment.paymentId), sayContent('downloadEvidence')),
    },
    inside(html`<div class="stack">
      <p>${sayContent('evidenceText')}</p>
      <form class="filters" method="get" action=${to.payment(payment.paymentId)}>
        ${textField({ form, name: 'asOf', label: sayText('asItWas'), type: 'datetime-local', optional: true })}
        <div class="controls">${submit(sayContent('show'), 'plain')}</div>
      </form>
    </div>`),
  );
};

/** Prevents mistaking a past state for the current one. */
export const pastNotice = ({ app, payment }: ProofModel, at: Instant): VNode =>
  notice(
    'wait',
    html`<div class="stack"><p>${sayContent('pastText', { time: when(at) })}</p>
      <p>${linkButton(appPaths(app.appId).payment(payment.paymentId), sayContent('showAsNow'))}</p></div>`,
  );
