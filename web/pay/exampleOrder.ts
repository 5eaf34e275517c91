/** The payment page of an example order, with a shop's branding. */

import type { VNode } from 'preact';
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
import type { ExamplePage } from '../dashboard/branding.ts';
import { emptyForm } from '../parts/field.ts';
import { pageLanguage } from '../parts/say.ts';
import { sayIn } from './messages/index.ts';
import { payPage } from './page.ts';

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

export const exampleOrderPage = ({ mode, shop, now }: ExamplePage): VNode =>
  payPage({
    ...{ mode, shop, path: '#', say: sayIn(pageLanguage()), facts: exampleFacts(now) },
    ...{ sites: [], walletLink: '#', walletOffer: null, gasFree: false, url: '#', refused: false, madeWith: null },
    networkOf: () => ({ final_ms: 15_000, cost_microUsd: null }),
    wanted: emptyForm,
  });
