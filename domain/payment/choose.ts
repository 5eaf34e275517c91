/** The payer's choice of what to pay from, where the payment has more than one source. */
import { type ChainId, chainOf } from '../chains.ts';
import { type Decision, refuse } from '../decider.ts';
import type { Instant } from '../time.ts';
import type { Deposit, PaymentEvent } from './events.ts';
import { familyOf, isSameAsset, seenWhole } from './sources.ts';
import type { Payment, PaymentState } from './state.ts';

/** A stream takes this many choices: whoever has the payment's link can make them. */
export const choicesMax = 20;

export interface Choice {
  readonly chainId: ChainId;
  readonly tokenAddress: string;
  /** Of the chain's family; taken only when the payment has disclosed none of it, so that it never has two. */
  readonly deposit: Deposit | null;
  readonly now: Instant;
}

/** Whatever is chosen, money that comes from the other sources whose deposits were disclosed still counts. */
export function chooseSource(p: PaymentState, { chainId, tokenAddress, deposit, now }: Choice): Decision<PaymentEvent> {
  if (!p) return refuse('paymentNotFound', 'there is no such payment');
  const source = p.sources.find((each) => isSameAsset(each, { chainId, token: { address: tokenAddress } }));
  if (!source)
    return refuse('invalidRequest', 'this payment cannot be paid from there: choose another source', '/source');
  if (isSameAsset(p.chosen, source)) return [];
  const why = whyNoChoice(p, now);
  if (why) return refuse('paymentNotUpdatable', `${why}: look at the payment as it is now`);
  const own = p.deposits[familyOf(source)] ?? deposit;
  if (!own) return refuse('unavailable', `no deposit on ${chainOf(chainId).name} is ready: try again in a moment`);
  return [{ type: 'SourceChosen', data: { chainId, tokenAddress, deposit: own, chosenAt: now } }];
}

function whyNoChoice(p: Payment, now: Instant): string | undefined {
  if (p.funded || p.closed) return 'the payment is paid or over';
  if (now > p.terms.expiresAt) return 'the time to pay is over';
  const whole = seenWhole(p);
  if (whole) return `all of the money was seen on ${chainOf(whole.chainId).name}`;
  return p.choices >= choicesMax ? `${choicesMax} choices were made` : undefined;
}

/** Whether its payer may choose now. */
export const isChoiceOpen = (p: Payment, now: Instant): boolean => p.sources.length > 1 && !whyNoChoice(p, now);
