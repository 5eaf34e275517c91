/** Actions on one payment from its page: cancel it, write a note and tags. */
import type { VNode } from 'preact';
import Type from 'typebox';
import type { TendPayment } from '../../commands/tendPayment.ts';
import { isRefusal } from '../../domain/decider.ts';
import { noteLimits } from '../../domain/payment/tending.ts';
import type { PaymentView } from '../../domain/payment/view.ts';
import type { PaymentReads } from '../../src/api/routes/payments.ts';
import { Uuid } from '../../src/api/schemas/base.ts';
import { card } from '../parts/boxes.ts';
import { paymentName } from '../parts/cells.ts';
import { type FormState, linesField, problems, submit, textField } from '../parts/field.ts';
import type { Frame } from '../parts/frame.ts';
import { html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths } from '../parts/paths.ts';
import { sayContent, sayText } from '../parts/say.ts';
import { confirmPage } from './confirm.ts';
import { entry, fields, lines, noFields } from './forms.ts';
import { type AnyForm, type AnyPage, type Frames, form, type PageResult, page, type Visit } from './page.ts';
import { noSuchPage } from './router.ts';

/** True while the app can still end the time to pay. */
export const canCancel = ({ status, missing, keyless, cancelledAt }: PaymentView): boolean =>
  !keyless &&
  cancelledAt === null &&
  (status === 'payment_unpaid' || (status === 'payment_started' && missing !== null));

/** A form on the payment's page. It is not updated live, so typed text remains. */
export const noteCard = (appId: string, payment: PaymentView, state: FormState = noteOf(payment)): VNode =>
  card(
    { title: sayText('noteAndTags'), note: sayContent('noteForPeople') },
    html`<form class="inside" method="post" action=${appPaths(appId).note(payment.paymentId)}>
      ${problems(state)}
      ${linesField({ form: state, name: 'note', label: sayText('note'), optional: true, rows: 3, maxlength: noteLimits.note_characters })}
      ${textField({
        form: state,
        name: 'tags',
        label: sayText('tags'),
        optional: true,
        maxlength: tagsMax,
        placeholder: sayText('tagsPlaceholder'),
        hint: sayContent('tagsHint', { max: noteLimits.tags }),
      })}
      ${submit(sayContent('save'), 'plain')}
    </form>`,
  );

const noteOf = ({ note, tags }: PaymentView): FormState => ({
  values: { ...(note !== null && { note }), ...(tags !== null && { tags: tags.join(' ') }) },
  errors: {},
});

const tagsMax = noteLimits.tags * (noteLimits.tag_characters + 2);

export interface NoteModel extends Frame {
  readonly payment: PaymentView;
  readonly form: FormState;
}

/** Only the form, after a refusal. */
export const notePage = ({ payment, form, ...frame }: NoteModel): VNode =>
  appPage(
    frame,
    {
      title: sayText('noteAndTags'),
      section: 'payments',
      up: { href: appPaths(frame.app.appId).payment(payment.paymentId), label: paymentName(payment) },
    },
    html`<div class="narrow">${noteCard(frame.app.appId, payment, form)}</div>`,
  );

/** Needs of the pages with actions on one payment. */
export interface TendPagesDeps extends Pick<PaymentReads, 'getPayment'> {
  readonly tend: TendPayment;
}

const path = '/dashboard/apps/{appId}/payments/{paymentId}';
const params = Type.Object({ paymentId: Uuid });
type Visitor = Visit<'owner', { readonly paymentId: string }>;

export function tendPages({ tend, getPayment }: TendPagesDeps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const paymentOf = async ({ visitor: { appId }, params: { paymentId } }: Visitor): Promise<PaymentView> => {
    const payment = await getPayment(paymentId);
    if (payment?.appId !== appId) throw noSuchPage();
    return payment;
  };
  const asking = async (visit: Visitor): Promise<PageResult> => {
    const payment = await paymentOf(visit);
    return { page: confirmPage({ ...(await frames.ofApp(visit)), danger: { kind: 'cancelPayment', payment } }) };
  };
  const toPayment = ({ visitor: { appId }, params: { paymentId } }: Visitor): string =>
    appPaths(appId).payment(paymentId);
  return [
    page({ path: `${path}/cancel`, audience: 'owner', params, show: asking }),
    form({
      path: `${path}/cancel`,
      audience: 'owner',
      params,
      fields: noFields,
      async act(visit) {
        const { appId } = visit.visitor;
        const cancelled = await tend.cancel(appId, visit.params.paymentId, visit.by);
        if (!isRefusal(cancelled)) return { to: toPayment(visit), told: 'paymentCancelled' };
        // The payer was faster: the payment's page shows the progress.
        return cancelled.refused === 'illegalStep' ? { to: toPayment(visit), told: 'notCancelled' } : cancelled;
      },
      again: asking,
    }),
    form({
      path: `${path}/note`,
      audience: 'owner',
      params,
      fields: fields({ note: Type.Optional(lines(noteLimits.note_characters)), tags: Type.Optional(entry(tagsMax)) }),
      async act(visit) {
        const { note = null, tags = '' } = visit.fields;
        const annotation = { note, tags: tags.split(/[\s,]+/).map((tag) => tag.replace(/^#/, '')) };
        const noted = await tend.annotate(visit.visitor.appId, visit.params.paymentId, annotation, visit.by);
        return isRefusal(noted) ? noted : { to: toPayment(visit), told: 'noteSaved' };
      },
      async again(visit, state) {
        return { page: notePage({ ...(await frames.ofApp(visit)), payment: await paymentOf(visit), form: state }) };
      },
    }),
  ];
}
