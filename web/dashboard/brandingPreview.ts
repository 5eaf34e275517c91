/** The payment page of an example order with branding that is not saved yet, for a frame on the page of branding. */

import type { VNode } from 'preact';
import Type from 'typebox';
import type { Clock } from '../../commands/ports.ts';
import { chainOf, findToken } from '../../domain/chains.ts';
import { assert, isRefusal } from '../../domain/decider.ts';
import { isChoiceOpen } from '../../domain/payment/choose.ts';
import { createPayment, type Terms } from '../../domain/payment/create.ts';
import { ownersOf } from '../../domain/payment/refundOrder.ts';
import { situationOf } from '../../domain/payment/situation.ts';
import { type PaymentState, paymentDecider } from '../../domain/payment/state.ts';
import { viewOf } from '../../domain/payment/view.ts';
import { type Instant, minute_ms, plus } from '../../domain/time.ts';
import type { PayerFacts } from '../../queries/payerFacts.ts';
import { contentSecurityPolicy } from '../../src/api/middleware.ts';
import { readColour } from '../parts/colour.ts';
import type { Mode, Site } from '../parts/frame.ts';
import { languageOf } from '../pay/language.ts';
import { sayIn } from '../pay/messages/index.ts';
import type { Shop } from '../pay/model.ts';
import { payPage } from '../pay/page.ts';
import { entry, fields } from './forms.ts';
import type { Frames } from './frames.ts';
import { type AnyPage, page } from './page.ts';

/** An order that nobody can pay by mistake: tokens cannot be sent to the zero address. */
function exampleFacts(now: Instant): PayerFacts {
  const [chain, token] = [chainOf(8453), findToken(chainOf(8453), 'USDC')];
  assert(token !== undefined, 'the catalogue has USDC on Base');
  const nobody = `0x${'0'.repeat(40)}`;
  const feePolicy = { fixed: 0n, basisPoints: 0 };
  const terms: Terms = {
    ...{ paymentId: '00000000-0000-8000-8000-000000000000', appId: 'merchant_example', orderId: 'A-1042' },
    ...{ keyless: false, type: 'exactIn', intent: null, metadata: null, webhookUrl: null },
    display: { title: 'Ethiopia Yirgacheffe, 250 g', description: null, currency: 'USD' },
    source: { chain, token, amount: 18_500_000n, senderAddress: null },
    destination: { chain, token, amount: null, receiverAddress: nobody, receiverMemo: null },
    ...{ feePolicy, alternatives: [], tolerable: [], now },
    deposit: { scheme: 'example', address: nobody, memo: null, contract: null, contractMemo: null, salt: '0x00' },
  };
  const created = createPayment(null, terms);
  assert(!isRefusal(created), 'the example order has valid terms');
  const payment = created.reduce<PaymentState>(paymentDecider.evolve, paymentDecider.initial);
  assert(payment !== null, 'the example order was created');
  return {
    payment: viewOf(payment, now),
    situation: situationOf(payment, plus(now, minute_ms), { head: null, needed: null }),
    choiceOpen: isChoiceOpen(payment, now),
    owners: ownersOf(payment),
    ...{ transactions: [], version: 'example', now },
  };
}

export interface BrandingPreviewModel {
  readonly mode: Mode;
  readonly shop: Shop;
  readonly now: Instant;
}

export const brandingPreview = ({ mode, shop, now }: BrandingPreviewModel): VNode =>
  payPage({
    ...{ mode, shop, path: '#', say: sayIn(languageOf('en', null)), facts: exampleFacts(now) },
    ...{ sites: [], walletLink: '#', refused: false, madeWith: null },
  });

// Example of the payment page in a frame.

/** Needs of the preview of the branding. */
export interface BrandingPreviewDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly site: Site;
}

/** Only our own pages may frame it. The frame itself allows neither scripts nor forms. */
const headers = {
  'Content-Security-Policy': contentSecurityPolicy({ scriptSrc: ["'none'"], frameAncestors: ["'self'"] }),
  'X-Frame-Options': null,
};

export const brandingPreviewPages = ({ clock, site }: BrandingPreviewDeps, frames: Frames): readonly AnyPage[] => [
  page({
    path: '/dashboard/apps/{appId}/branding/preview',
    audience: 'owner',
    query: fields({
      name: Type.Optional(entry(200)),
      supportContact: Type.Optional(entry(500)),
      colour: Type.Optional(entry(32)),
    }),
    async show(visit) {
      const { name = null, supportContact = null, colour = '' } = visit.query;
      const { logoUrl } = await frames.ofApp(visit);
      const shop = { name, supportContact, logoUrl, colour: readColour(colour) && colour, returnUrl: null };
      return { page: brandingPreview({ mode: site.mode, shop, now: clock.now() }), headers };
    },
  }),
];
