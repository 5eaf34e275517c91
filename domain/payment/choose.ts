/** The payer's choice of a source, if the payment has several. */
import { type ChainId, chainOf, tokenAt } from '../chains.ts';
import { type Decision, refuse } from '../decider.ts';
import { convert, formatAmount, parseAmount, usCent } from '../money.ts';
import type { Instant } from '../time.ts';
import type { Deposit, PaymentEvent } from './events.ts';
import type { Situation } from './situation.ts';
import { anyAmountLimits, familyOf, isSameAsset, seenWhole } from './sources.ts';
import type { Payment, PaymentState } from './state.ts';
import type { PaymentView } from './view.ts';

/** Maximum choices per payment: anyone with the payment's link can choose. */
export const choicesMax = 20;

export interface Choice {
  readonly chainId: ChainId;
  readonly tokenAddress: string;
  /** Deposit of the chain's family; used only if the payment has disclosed none of that family, so it never has two. */
  readonly deposit: Deposit | null;
  readonly now: Instant;
}

/** Money from other disclosed sources still counts after a choice. */
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

/** True if the payer may choose now. */
export const isChoiceOpen = (p: Payment, now: Instant): boolean => p.sources.length > 1 && !whyNoChoice(p, now);

// Amount that the payer chooses for a payment of any amount.

/** A payment and its situation, as its payer sees them. */
export interface Payable {
  readonly payment: Pick<PaymentView, 'sourceAmount' | 'sourceChainId' | 'sourceTokenAddress'>;
  readonly situation: Pick<Situation, 'missing' | 'received' | 'open'>;
}

/** Minimum of a payment that was created before limits were recorded, in whole tokens. */
const oldMinimum = '0.02';

/** True if money is due now. */
export const isDue = ({ open, missing, received }: Payable['situation']): boolean =>
  open && (missing !== null || received === null);

/** In whole tokens of the payment's present source. */
export function limitsOf({ payment, situation }: Payable) {
  const { max } = anyAmountLimits;
  return {
    min: situation.missing?.amount ?? oldMinimum,
    max: formatAmount(convert(max.value, max, usCent), usCent.decimals),
    decimals: tokenAt(chainOf(payment.sourceChainId), payment.sourceTokenAddress)?.decimals ?? 0,
  };
}

/** Reads a chosen amount. Returns smallest units, or null for a text that is no amount within the limits. */
export function readChosen(payable: Payable, text: string): bigint | null {
  const { min, max, decimals } = limitsOf(payable);
  const [units, least, most] = [text, min, max].map((each) => parseAmount(each, decimals));
  const isAmount = typeof units === 'bigint' && typeof least === 'bigint' && typeof most === 'bigint';
  return isAmount && units >= least && units <= most ? units : null;
}
