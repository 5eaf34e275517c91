/** Next step of a payment, its time, and an operator's options. */

import { type ChainId, chainOf } from '../../domain/chains.ts';
import { formatAmount, microUsdDecimals } from '../../domain/money.ts';
import type { PolicyRule, PolicyTerms, Verdict } from '../../domain/payment/amountPolicy.ts';
import { nextStep, owedBy } from '../../domain/payment/backing.ts';
import { type BounceCode, type PaymentEventData, transferId } from '../../domain/payment/events.ts';
import type { HeldMoney, Situation } from '../../domain/payment/situation.ts';
import { lostFunding, type Standing } from '../../domain/payment/sources.ts';
import type { Payment } from '../../domain/payment/state.ts';
import { refundable } from '../../domain/payment/state.ts';
import { addressesIn } from '../../domain/payment/view.ts';
import type { Instant } from '../../domain/time.ts';
import type { Owed, TransferStep } from '../../domain/transfer/leg.ts';
import { fallenShort } from '../../domain/transfer/record.ts';
import { referenceOf, type WaitReason, waitReasons } from '../../domain/transfer/shapes.ts';

/** Reasons why a transfer waits, each with an operator's options. */
export interface WaitAnswer {
  readonly why: string;
  /** Null if it continues automatically and nobody can speed it up. */
  readonly operator: string | null;
}

const byItself = 'it goes on by itself';

export const waitAnswers: Readonly<Record<WaitReason, WaitAnswer>> = {
  float: {
    why: 'The treasury holds too little of the token, beside what other transfers under way take.',
    operator: `Add tokens to the treasury's account: ${byItself} (npm run treasury).`,
  },
  gas: {
    why: "The treasury holds too little of the chain's coin for the fee, or the network asks for more than the configured maximum.",
    operator: `Add coin to the treasury's account, or wait until fees fall: ${byItself}.`,
  },
  refusedByToken: {
    why: 'The token, or the receiver, would refuse the transfer: it would fail on the chain, so it is not signed.',
    operator:
      'Find out why (a frozen or missing account, a paused token, no allowance for a burn: npm run treasury -- allow-burns); npm run payouts -- bounce gives up a payout that can never be made, npm run refunds -- call-off a refund.',
  },
  treasuryBehindChain: {
    why: 'The chain shows transactions of the account that the log does not know: until they are explained nothing is signed, for it may have been paid already.',
    operator:
      'npm run treasury -- adopt <chain> lists them; find out who made them, for the key may be used elsewhere.',
  },
  fundingUnproven: {
    why: 'Right before it was to be signed, too few nodes showed the money that it is paid from.',
    operator: "Name nodes that know the payin's block; where none shows the money, find out how it came into the log.",
  },
  historyUnproven: {
    why: "Nodes do not show the treasury's whole history, so that it could have been paid already.",
    operator: 'Where it lasts, name another provider of nodes for the chain.',
  },
  formUnknown: {
    why: 'A transfer of this form is not made on this chain by this version.',
    operator: 'Call it off, or upgrade.',
  },
  owed: {
    why: 'It would take what payouts are owed.',
    operator: 'Top the treasury up, or call the withdrawal off.',
  },
  addressNotInBook: {
    why: 'Its receiver was taken out of the address book.',
    operator: 'Add the address again, or call the withdrawal off.',
  },
  chain: {
    why: 'The signer does not sign for this chain, or not for this contract.',
    operator: "Compare the signer's settings with the service's.",
  },
  account: {
    why: "The signer has another account than the transfer's.",
    operator: "Compare the signer's key with the service's TREASURY_ADDRESS settings.",
  },
  fee: {
    why: 'The fee of the transaction is above what the signer lets pass.',
    operator: `Wait until fees fall: ${byItself}; or raise the chain's maximum.`,
  },
  mismatch: {
    why: 'What was to be signed is not what was ordered: nothing was signed.',
    operator: 'Tell the developers: it is a fault of the program, or somebody tampers with it.',
  },
  perTransfer: {
    why: 'It is larger than one transfer may be (SIGNER_MAX_TRANSFER_USD).',
    operator: 'Raise the limit for a while, or pay it by hand (npm run payouts -- hold first).',
  },
  perHour: {
    why: 'All transfers of this hour together have reached their limit (SIGNER_MAX_HOUR_USD).',
    operator: `Nothing: ${byItself} when the hour has moved on. A limit that is reached often is too low, or somebody drains it.`,
  },
  appPerHour: {
    why: "The app's payouts of this hour have reached its share of the limit.",
    operator: `Nothing: ${byItself} when the hour has moved on.`,
  },
  coinPerHour: {
    why: "Fees of this hour have reached what may be spent of the chain's coin.",
    operator: `Nothing: ${byItself} when the hour has moved on; find out why so much coin is spent.`,
  },
  notOrdered: {
    why: 'The log, as the signer reads it, orders no such transfer.',
    operator: 'Find out whether the signer reads the same log; if it does, somebody asked for what was not ordered.',
  },
  signedBefore: {
    why: 'What the signer signed before for the same money could still land besides.',
    operator: 'Find that signature out (docs/operate/signer.md): the log may have been set back.',
  },
  treasuryBusy: {
    why: 'The account has as many transactions under way as it may have.',
    operator: null,
  },
  treasuryPaused: {
    why: 'An operator has paused the treasury.',
    operator: 'npm run treasury -- resume.',
  },
  attemptsSpent: {
    why: 'A hundred attempts were signed, and none settled it.',
    operator: 'Find out why they died, then npm run payouts -- retry (or refunds -- retry) allows more.',
  },
};

export const isWaitReason = (text: string): text is WaitReason => (waitReasons as readonly string[]).includes(text);

/** For a reason that another version recorded: its own text. */
export const waitAnswer = (reason: string): WaitAnswer =>
  isWaitReason(reason)
    ? waitAnswers[reason]
    : { why: `It waits for a reason that this version does not know: ${reason}.`, operator: null };

/** Notes of workers about a transfer, by its reference. */
export interface TransferNotes {
  /** Reason of the wait. */
  readonly wait?: { readonly reason: string; readonly message: string; readonly since: Instant };
  /** Failure of its last attempts. */
  readonly failure?: {
    readonly attempts: number;
    readonly error: string;
    readonly parked: boolean;
    readonly nextAttempt: Instant;
  };
}

export interface NextFacts {
  readonly now: Instant;
  readonly situation: Situation;
  readonly noted: (reference: string) => TransferNotes;
}

export interface NextStep {
  readonly next: readonly string[];
  readonly operator: readonly string[];
}

const both = (next: string, operator: string | null = null): NextStep => ({
  next: [next],
  operator: operator === null ? [] : [operator],
});

export function nextOf(p: Payment, facts: NextFacts): NextStep {
  const parts = [incoming(p, facts), ...owedBy(p).map((owed) => outgoing(p, owed, facts)), ...held(p, facts)];
  const all = { next: parts.flatMap(({ next }) => next), operator: parts.flatMap(({ operator }) => operator) };
  return all.next.length > 0 ? all : { ...all, next: ['Nothing is due: it has come to its end.'] };
}

function incoming(p: Payment, { now, situation }: NextFacts): NextStep {
  const step = nextStep(p, now);
  const { missing, depth } = situation;
  const counting = depth
    ? ` ${depth.confirmations} blocks are on top of the shallowest payin${depth.needed === null ? '; its chain says itself when it is final' : `, ${depth.needed} are wanted`}.`
    : '';
  const short = missing ? ` ${missing.amount} ${missing.tokenSymbol} are still to come.` : '';
  if (step.do === 'wait')
    return both(`Money counts until ${step.until}, by the clock of its chain.${short}${counting}`);
  if (step.do === 'expire')
    return both(
      `It ends once every chain that it could be paid on has been read past ${p.terms.expiresAt} to its final depth: what came in time is funded or bounced, else it expires.${short}${counting}`,
      'Where it lasts, see whether a chain stands (/readyz, npm run check-chain).',
    );
  return { next: [], operator: [] };
}

function outgoing(p: Payment, owed: Owed, { noted }: NextFacts): NextStep {
  const { leg, key, step } = owed;
  const name = key.kind === 'payout' ? 'The payout' : `Refund ${key.part}`;
  const tool = key.kind === 'payout' ? 'npm run payouts --' : 'npm run refunds --';
  const { wait, failure } = noted(deciding(p, owed));
  const failed = failure ? failedOf(name, failure) : { next: [], operator: [] };
  const steps: Readonly<Record<TransferStep['do'], () => NextStep>> = {
    order: () =>
      both(
        `${name} is ordered as soon as a worker of ${nameOfChain(leg.order.chainId)} gets to it, usually within seconds.`,
      ),
    tell: () => both(`${name} is told what was decided about it, usually within seconds.`),
    batched: () => {
      const together = `${name} is paid together with others, and goes the way of ${deciding(p, owed)}`;
      return wait ? waiting(`${together}, which`, wait) : both(`${together}.`);
    },
    sign: () => {
      if (!wait)
        return both(
          `${name} of ${tokenText(leg.order.amount, leg.order.token)} is signed next, usually within seconds.`,
        );
      return waiting(name, wait);
    },
    broadcast: () => {
      const hashes = step.do === 'broadcast' ? step.attempts.map(({ hash }) => hash) : [];
      return both(
        `${name}'s recorded bytes are sent until nodes agree on their fate: ${hashes.join(', ')}. Where it lasts, a higher fee is offered under the same nonce, so that one of them lands at most.`,
      );
    },
    hold: () => both(`${name} is on hold: ${whyHeld(p, owed)}`, `${tool} list; then ${tool} retry goes on with it.`),
    done: () => ({ next: [], operator: [] }),
  };
  const own = steps[step.do]();
  return { next: [...own.next, ...failed.next], operator: [...own.operator, ...failed.operator] };
}

/** Reference of the deciding transfer: a payout in a batch follows its batch. */
export const deciding = ({ batch }: Pick<Payment, 'batch'>, { purpose, step }: Owed): string =>
  step.do === 'batched' && batch ? referenceOf({ kind: 'batch', id: batch.id, part: 1 }) : purpose.reference;

function waiting(name: string, { since, reason, message }: NonNullable<TransferNotes['wait']>): NextStep {
  const { why, operator } = waitAnswer(reason);
  return both(`${name} waits since ${since} (${reason}). ${why} Noted: ${message}`, operator);
}

function whyHeld(p: Payment, { key, leg }: Owed): string {
  if (leg.short) return fallenShort(leg, leg.short).message;
  if (key.kind === 'payout' && p.payoutHeld !== null) return `an operator holds it: ${p.payoutHeld}`;
  if (key.kind === 'payout' && lostFunding(p))
    return 'money that funded the payment has left its chain; it goes on when as much is final there again.';
  return 'the money that it is made from is not all there any more; it goes on when it is.';
}

const failedOf = (
  name: string,
  { attempts, error, parked, nextAttempt }: NonNullable<TransferNotes['failure']>,
): NextStep =>
  parked
    ? both(
        `${name} failed ${attempts} times and is left to you: ${error}`,
        'Mend the cause, then npm run work -- retry.',
      )
    : both(`${name}'s last try failed (${attempts} counted), the next one is at ${nextAttempt}: ${error}`);

/** Money that does not count, and its refundable part. */
function held(p: Payment, { situation }: NextFacts): readonly NextStep[] {
  const kept = situation.held.map(({ amount, tokenSymbol, chainId, reason }) =>
    both(`${amount} ${tokenSymbol} on ${nameOfChain(chainId)} are held: ${heldReasons[reason]}.`),
  );
  const back = refundable(p);
  if (back.length === 0) return kept;
  const sums = back
    .map(({ amount, token, chainId }) => `${tokenText(amount, token)} on ${nameOfChain(chainId)}`)
    .join(', ');
  const proven = p.refundAddresses.some(({ proof }) => proof !== null);
  const way = both(
    `${sums} can go back${proven ? '; a sender has proven where to' : ': its sender proves on the payment page where to, or an operator decides'}.`,
    `npm run refunds -- list ${p.terms.paymentId} shows whose it is; npm run refunds -- order sends it back.`,
  );
  return [...kept, way];
}

// Sentences about received money: counted by which rule, or held.

/** Helpers of the sentences about payments. */
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

const heldReasons: Readonly<Record<HeldMoney['reason'], string>> = {
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
