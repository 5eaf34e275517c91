/** What a payment waits for, and what is to come. */
import type { PaymentView } from '../../domain/payment/view.ts';
import type { StoryEntry } from '../../queries/paymentStory.ts';
import { shortAddress } from '../parts/address.ts';
import { amountText, counted } from '../parts/cells.ts';
import { html } from '../parts/html.ts';
import type { Step } from '../parts/steps.ts';
import { when } from '../parts/time.ts';
import { chainName } from '../parts/words.ts';

export function nextSteps(payment: PaymentView, story: readonly StoryEntry[]): readonly Step[] {
  const source = chainName(payment.sourceChainId);
  const destination = chainName(payment.destinationChainId);
  const payout: Step = {
    stage: 'next',
    title: `Payout on ${destination}`,
    detail: html`<span>${amountText(payment.destinationAmount, payment.destinationTokenSymbol)} to ${shortAddress(payment.receiverAddress)}</span>`,
  };
  switch (payment.status) {
    case 'payment_unpaid':
      return [
        {
          stage: 'now',
          title: `Waiting for ${amountText(payment.sourceAmount, payment.sourceTokenSymbol)} on ${source}`,
          detail: html`<span>until ${when(payment.expiresAt)}</span>`,
        },
        payout,
      ];
    case 'payment_started':
      return [{ stage: 'now', title: `Confirming on ${source}`, detail: confirming(story) }, payout];
    case 'payment_payin_completed':
    case 'payment_bridging':
      return [{ ...payout, stage: 'now', title: `Payout on ${destination} is about to be sent` }];
    case 'payment_payout_started':
      return [{ stage: 'now', title: `Waiting until the payout is final on ${destination}` }];
    default:
      return [];
  }
}

function confirming(story: readonly StoryEntry[]): string {
  const seen = story.findLast((entry) => entry.type === 'payinDetected');
  const depth = seen?.type === 'payinDetected' ? seen.confirmations : null;
  return depth === null
    ? 'Nothing is paid out before it is final.'
    : `${counted(depth, 'confirmation')} so far. Nothing is paid out before it is final.`;
}
