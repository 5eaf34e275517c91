/** Amount that the payer chooses for a payment of any amount. */
import { chainOf, tokenAt } from '../chains.ts';
import { convert, formatAmount, parseAmount, usCent } from '../money.ts';
import type { Situation } from './situation.ts';
import { anyAmountLimits } from './sources.ts';
import type { PaymentView } from './view.ts';

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
