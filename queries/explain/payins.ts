/** Sentences about received money: counted by which rule, or held. */
import { type ChainId, chainOf } from '../../domain/chains.ts';
import { formatAmount, microUsdDecimals } from '../../domain/money.ts';
import type { PolicyRule, PolicyTerms, Verdict } from '../../domain/payment/amountPolicy.ts';
import { type BounceCode, type PaymentEventData, transferId } from '../../domain/payment/events.ts';
import type { HeldMoney } from '../../domain/payment/situation.ts';
import type { Standing } from '../../domain/payment/sources.ts';
import type { Payment } from '../../domain/payment/state.ts';
import { addressesIn } from '../../domain/payment/view.ts';

// Helpers of the sentences about payments.

export const nameOfChain = (id: ChainId): string => chainOf(id).name;

interface Unit {
  readonly symbol: string;
  readonly decimals: number;
}

/** Smallest units as `10.01 USDC`. */
export const tokenText = (units: bigint | string, { symbol, decimals }: Unit): string =>
  `${formatAmount(BigInt(units), decimals)} ${symbol}`;

const standings: Readonly<Record<Standing, string>> = {
  counted: 'It counts.',
  late: 'It came after the end, by the clock of its chain: it does not count.',
  surplus: 'Nothing was due any more: it does not count.',
  wrongToken: 'It is another token than agreed: it does not count.',
  wrongChain: 'It came on another chain than agreed: it does not count.',
  otherSender: 'It came from another sender than the announced one, who alone may pay: it does not count.',
};

const fundings: Readonly<Record<PaymentEventData<'PaymentFunded'>['rule'], string>> = {
  agreed: 'what was agreed came',
  overpaid: 'more than agreed came: what is over is held',
  anyAmount: 'any amount is accepted, and the fee is taken off what came',
  short: "less than agreed came, and the app's policy takes it: the receiver gets that much less",
  cashback: 'the treasury holds the money already: a merchant withdraws what buyers paid by credit',
};

const bounces: Readonly<Record<BounceCode, string>> = {
  amountTooLow: 'less than agreed, or than the least that is accepted, came in time',
  amountTooHigh: 'more than the accepted limit came',
  latePayin: 'the money came after the payment had expired',
  wrongToken: 'another token than agreed came',
  wrongChain: 'it came on another chain than agreed',
  otherSender: 'it came from another sender than the announced one',
  payoutImpossible: 'the destination cannot be paid',
};

const rules: Readonly<Record<PolicyRule, string>> = {
  tolerance: 'a little too little came',
  under: 'too little had come when the time was over',
  over: 'too much came',
  late: 'it came too late',
  wrongToken: 'another token than agreed came',
  wrongChain: 'it came on another chain than agreed',
};

const verdicts: Readonly<Record<Verdict, string>> = {
  accept: 'it pays all the same',
  hold: 'it is held until somebody decides',
  refund: 'it goes back as soon as its sender has proven an address',
};

export const heldReasons: Readonly<Record<HeldMoney['reason'], string>> = {
  excess: 'it is more than agreed',
  elsewhere: 'it came from another source than the payment is paid from, and what comes from two does not add up',
  late: 'it came too late',
  surplus: 'nothing was due any more',
  wrongToken: 'it is another token than agreed',
  wrongChain: 'it came on another chain than agreed',
  otherSender: 'it came from another sender than the announced one',
};

const placed = ({ chainId, txHash, blockNumber }: PaymentEventData<'PayinDetected'>['transfer']): string =>
  `transaction ${txHash} in block ${blockNumber} of ${nameOfChain(chainId)}`;

const standing = (p: Payment, transfer: PaymentEventData<'PayinDetected'>['transfer']): string => {
  const known = p.payins.find(({ id }) => id === transferId(transfer));
  return known ? standings[known.standing] : '';
};

const hashOf = (p: Payment, id: string): string => p.payins.find((payin) => payin.id === id)?.transfer.txHash ?? id;

/** An app's policy, as the payment's terms hold it. */
export const policySentence = ({ tolerance, lateWithin_minutes, ...rest }: PolicyTerms): string =>
  `The app's policy when it was created: up to ${tolerance.basisPoints} hundredths of a percent and ${formatAmount(BigInt(tolerance.most_microUsd), microUsdDecimals)} USD may be missing; too little at the end: ${rest.under}, too much: ${rest.over}, too late: ${rest.late}${rest.late === 'accept' ? ` within ${lateWithin_minutes} minutes` : ''}, another token: ${rest.wrongToken}, another chain: ${rest.wrongChain}.`;

export const payinSentences = {
  SourceChosen: ({ chainId }: PaymentEventData<'SourceChosen'>, { chosen }: Payment) =>
    `Its payer chose to pay ${chosen.amount === null ? chosen.token.symbol : tokenText(chosen.amount, chosen.token)} on ${nameOfChain(chainId)}.`,
  PayinRegistered: ({ txHash }: PaymentEventData<'PayinRegistered'>) =>
    `Somebody named transaction ${txHash} as the payin: it is looked for at once; that it was named proves nothing.`,
  RegisteredPayinEmpty: ({ txHash }: PaymentEventData<'RegisteredPayinEmpty'>, { deposits }: Payment) =>
    `Transaction ${txHash} contains no accepted token for ${addressesIn(deposits)}: another token, a token account that the service does not read, or another receiver. Another token in the deposit can be recovered: docs/operate/sweeps.md, "Other tokens".`,
  PayinDetected: ({ transfer }: PaymentEventData<'PayinDetected'>, p: Payment) =>
    `${tokenText(transfer.amount, transfer.token)} were seen: ${placed(transfer)}. ${standing(p, transfer)}`,
  PayinOrphaned: ({ transferId: id }: PaymentEventData<'PayinOrphaned'>, p: Payment) =>
    `The block of ${hashOf(p, id)} left its chain: the money counts again when the chain has it again.`,
  PayinLost: ({ transferId: id }: PaymentEventData<'PayinLost'>, p: Payment) =>
    `${hashOf(p, id)} vanished from its chain after the payment was funded by it: nothing more is signed until as much is there for good.`,
  PayinConfirmed: ({ transfer }: PaymentEventData<'PayinConfirmed'>, p: Payment) =>
    `${tokenText(transfer.amount, transfer.token)} are final: ${placed(transfer)}. ${standing(p, transfer)}`,
  PaymentFunded: (data: PaymentEventData<'PaymentFunded'>, { terms }: Payment) => {
    const { source, destination } = terms;
    const [received, fee, excess, dust] = [data.received, data.fee, data.excess, data.dust].map((units) =>
      tokenText(units, source.token),
    );
    return `It is funded by the rule "${data.rule}": ${fundings[data.rule]}. Received ${received} = ${tokenText(data.payout, destination.token)} to be paid out + ${fee} fee + ${excess} excess + ${dust} dust.`;
  },
  PolicyApplied: ({ rule, verdict, expected, received, amount, token }: PaymentEventData<'PolicyApplied'>) =>
    `The app's policy on "${rule}" says ${verdict}: ${rules[rule]}, and ${verdicts[verdict]}. Due: ${expected === null ? 'any amount' : tokenText(expected, token)}; came: ${tokenText(received, token)}; this is about ${tokenText(amount, token)}.`,
  PaymentExpired: ({ chainTime }: PaymentEventData<'PaymentExpired'>, { terms }: Payment) =>
    `It expired: its chains were read up to ${chainTime} by their own clocks, past its end at ${terms.expiresAt}, and no money that counts was there.`,
  PaymentBounced: (
    { code, received, asset, note }: PaymentEventData<'PaymentBounced'>,
    { sources: [first] }: Payment,
  ) =>
    `It bounced (${code}): ${bounces[code]}. ${tokenText(received, (asset ?? first).token)} are held.${note === undefined ? '' : ` ${note}`}`,
};
