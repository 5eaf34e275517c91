/** A payment's history in words. next.ts has the next steps. */
import type { VNode } from 'preact';
import type { Money, StoryEntry } from '../../queries/paymentStory.ts';
import type { StoryStep } from '../parts/boxes.ts';
import {
  amountText,
  chainName,
  grouped,
  lengthText,
  newsOf,
  shortAddress,
  silenceOf,
  transactionLink,
  when,
} from '../parts/cells.ts';
import type { Mode } from '../parts/frame.ts';
import { bdi, type Content, cut, html } from '../parts/html.ts';
import { appPaths } from '../parts/paths.ts';
import { type PlainName, sayContent, sayCount, sayText } from '../parts/say.ts';

/** @param appId app of the linked pages */
export function storySteps(entries: readonly StoryEntry[], mode: Mode, appId: string): readonly StoryStep[] {
  return entries.map((entry, place) => {
    const [title, detail, problem] = told(entry, entries.slice(0, place), { mode, appId });
    return { stage: problem ? 'problem' : 'done', title, detail, at: entry.at };
  });
}

type Told = readonly [title: Content, detail: Content, problem?: boolean];
type Entry<T extends StoryEntry['type']> = Extract<StoryEntry, { readonly type: T }>;

interface Reader {
  readonly mode: Mode;
  readonly appId: string;
}

/** @param before what happened until then */
function told(entry: StoryEntry, before: readonly StoryEntry[], { mode, appId }: Reader): Told {
  switch (entry.type) {
    case 'created':
      return [sayText('createdStep'), createdText(entry)];
    case 'sourceChosen':
      return [
        sayText('payerChose', { token: entry.tokenSymbol, chain: chainName(entry.chainId) }),
        html`<span>${sayContent('amountTo', { amount: entry.pays ? money(entry.pays) : sayText('anyAmountTo'), address: shortAddress(entry.depositAddress) })}</span>`,
      ];
    case 'payinRegistered':
      return [
        sayText('payerNamedTransaction'),
        html`<span>${sayContent('from', { address: shortAddress(entry.senderAddress) })}</span>`,
      ];
    case 'payinDetected':
    case 'payinConfirmed':
    case 'payinOrphaned':
    case 'payinLost':
      return payinTold(entry, mode);
    case 'funded':
      return [sayText('moneyCounted'), fundedText(entry)];
    case 'policyApplied':
      return policyTold(entry);
    case 'ordered':
    case 'signed':
    case 'died':
    case 'left':
    case 'short':
    case 'settled':
      return legTold(entry, mode);
    case 'cancelled':
      return [
        sayText('cancelledByApp'),
        html`<span>${sayContent('cancelledByAppText', { time: when(entry.expiresAt) })}</span>`,
      ];
    case 'annotated':
      return [sayText('noteChanged'), annotatedText(entry)];
    case 'expired':
      return [sayText('expired'), expiredText(before)];
    case 'bounced':
      return [
        sayText('moneyHeld'),
        html`<span>${sayContent('bouncedText', { amount: money(entry.received), reason: sayText(bounces[entry.code]) })}</span>`,
        true,
      ];
    case 'refundAddressSet':
      return [sayText('refundAddressSet'), shortAddress(entry.address)];
    case 'refundAddressConfirmed':
      return [
        sayText('refundAddressConfirmed'),
        html`<span>${sayContent('refundAddressFrom', { address: shortAddress(entry.address), time: when(entry.effectiveAt) })}</span>`,
      ];
    case 'refundAddressWithdrawn':
      return [sayText('confirmedWithdrawn'), sayText('noMoreRefundTo')];
    case 'fundedRefundOrdered':
      return [
        sayContent('refundWaitsForYou', { amount: money(entry.money) }),
        html`<span>${sayContent('refundFromOwnPayment', {
          address: shortAddress(entry.receiverAddress),
          chain: chainName(entry.chainId),
          link: html`<a href=${appPaths(appId).payment(entry.fundingPaymentId)}>${sayContent('itsOwnPayment')}</a>`,
        })}</span>`,
      ];
    case 'fundedRefundEnded':
      return entry.outcome === 'paid'
        ? [sayText('refundPaid'), sayContent('refundPaidText', { number: entry.refund })]
        : [sayText('refundNotFunded'), sayContent('refundNotFundedText', { number: entry.refund })];
    case 'webhook':
      return webhookTold(entry, appId);
    case 'other':
      return [entry.name, sayText('newerEvent')];
  }
}

/** Money that does not count may have arrived nevertheless: the text states this. */
function expiredText(before: readonly StoryEntry[]): string {
  const came = before.some(({ type }) => type === 'payinDetected' || type === 'payinConfirmed');
  if (before.some(({ type }) => type === 'cancelled')) return sayText(came ? 'endedUncounted' : 'endedNothing');
  return sayText(came ? 'expiredUncounted' : 'expiredNothing');
}

const annotatedText = ({ note, tags }: Entry<'annotated'>): Content =>
  html`<span>${tags.length > 0 && bdi(tags.map((tag) => `#${tag}`).join(' '))} ${
    note === null ? tags.length === 0 && sayContent('bothEmpty') : html`<bdi>${cut(note, 120)}</bdi>`
  }</span>`;

const money = ({ amount, tokenSymbol }: Money): string => amountText(amount, tokenSymbol);

function createdText({ pays, gets, sourceChainId, destinationChainId, expiresAt }: Entry<'created'>): Content {
  const facts = {
    pays: pays ? money(pays) : sayText('anyAmountWord'),
    source: chainName(sourceChainId),
    destination: chainName(destinationChainId),
    time: when(expiresAt),
  };
  return html`<span>${gets ? sayContent('createdPart', { ...facts, gets: money(gets) }) : sayContent('createdWhole', facts)}</span>`;
}

const standings: Readonly<Record<Entry<'payinDetected'>['standing'], PlainName | null>> = {
  counted: null,
  late: 'heldLate',
  surplus: 'heldSurplus',
  wrongToken: 'heldWrongToken',
  wrongChain: 'heldWrongChain',
  otherSender: 'heldOtherSender',
};

const bounces: Readonly<Record<Entry<'bounced'>['code'], PlainName>> = {
  amountTooLow: 'bounceTooLow',
  amountTooHigh: 'bounceTooHigh',
  latePayin: 'bounceLate',
  wrongToken: 'bounceWrongToken',
  wrongChain: 'bounceWrongChain',
  otherSender: 'bounceOtherSender',
  payoutImpossible: 'bounceImpossible',
};

function payinTold(entry: Entry<'payinDetected' | 'payinConfirmed' | 'payinOrphaned' | 'payinLost'>, mode: Mode): Told {
  const chain = chainName(entry.chainId);
  const transaction = transactionLink(mode, entry.chainId, entry.txHash);
  const text = (more: string) =>
    html`<span>${sayContent('payinText', { amount: money(entry), address: shortAddress(entry.from), transaction })}${more}</span>`;
  const held = (standing: Entry<'payinDetected'>['standing']): string => {
    const name = standings[standing];
    return name === null ? '' : sayText(name);
  };
  switch (entry.type) {
    case 'payinDetected': {
      const { confirmations } = entry;
      const depth = confirmations === null ? '' : sayCount('confirmationsByNow', confirmations);
      return [sayText('payinSeen', { chain }), text(depth + held(entry.standing)), entry.standing !== 'counted'];
    }
    case 'payinConfirmed':
      return [
        sayText('payinFinal', { chain }),
        [
          sayContent('amountInBlock', { amount: money(entry), number: grouped(entry.blockNumber) }),
          held(entry.standing),
        ],
      ];
    case 'payinOrphaned':
      return [sayText('payinBlockLeft'), text(sayText('payinBlockLeftText')), true];
    case 'payinLost':
      return [sayText('payinVanished'), text(sayText('operatorKnows')), true];
  }
}

function fundedText({ received, payout, fee, excess, dust }: Entry<'funded'>): Content {
  const parts = [
    sayContent('fundedPayout', { amount: money(payout) }),
    sayContent('fundedFee', { amount: money(fee) }),
    isNone(excess) ? null : sayContent('fundedExcess', { amount: money(excess) }),
    isNone(dust) ? null : sayContent('fundedDust', { amount: money(dust) }),
  ].filter((part) => part !== null);
  const list = parts.flatMap((part, place) => (place === 0 ? [part] : [sayText('listComma'), part]));
  return sayContent('fundedText', { amount: money(received), parts: list });
}

const rules: Readonly<Record<Entry<'policyApplied'>['rule'], PlainName>> = {
  tolerance: 'ruleTolerance',
  under: 'ruleUnder',
  over: 'ruleOver',
  late: 'ruleLate',
  wrongToken: 'ruleWrongToken',
  wrongChain: 'ruleWrongChain',
};

/** By the owner's policy for wrong amounts. */
function policyTold({ rule, verdict, money: about, chainId }: Entry<'policyApplied'>): Told {
  const [amount, chain] = [money(about), chainName(chainId)];
  const accepted = () =>
    rule === 'tolerance' || rule === 'under'
      ? sayContent('acceptedLess', { amount })
      : sayContent('acceptedOn', { amount, chain });
  const text = {
    accept: accepted,
    hold: () => sayContent('heldOn', { amount, chain }),
    refund: () => sayContent('refundOn', { amount, chain }),
  }[verdict]();
  return [sayText(rules[rule]), text, verdict !== 'accept'];
}

const isNone = ({ amount }: Money): boolean => /^[0.]*$/.test(amount);

const proofs: Readonly<Record<Entry<'died'>['proof'], PlainName>> = {
  nonceUsed: 'proofNonceUsed',
  reverted: 'proofReverted',
  validityPassed: 'proofTooLate',
  declared: 'proofTooLate',
};

const askers: Readonly<Record<NonNullable<Entry<'ordered'>['requestedBy']>, PlainName>> = {
  operator: 'askedByOperator',
  owner: 'askedByOwner',
  key: 'askedByKey',
  policy: 'askedByPolicy',
};

/** Titles of the steps of a payout and of a refund. */
const legs = {
  payout: {
    ordered: 'payoutOrdered',
    orderedBy: 'payoutOrderedBy',
    signed: 'payoutSigned',
    died: 'payoutAnew',
    left: 'payoutBlockLeft',
    short: 'payoutShort',
    settled: 'payoutFinal',
  },
  refund: {
    ordered: 'refundOrdered',
    orderedBy: 'refundOrderedBy',
    signed: 'refundSigned',
    died: 'refundAnew',
    left: 'refundBlockLeft',
    short: 'refundShort',
    settled: 'refundFinal',
  },
} as const;

function legTold(entry: Entry<'ordered' | 'signed' | 'died' | 'left' | 'short' | 'settled'>, mode: Mode): Told {
  const titles = legs[entry.leg === 'payout' ? 'payout' : 'refund'];
  if (entry.type === 'ordered') {
    const { requestedBy, networkFee } = entry;
    const order = {
      amount: money(entry.money),
      address: shortAddress(entry.receiverAddress),
      chain: chainName(entry.chainId),
    };
    return [
      requestedBy === null ? sayText(titles.ordered) : sayText(titles.orderedBy, { who: sayText(askers[requestedBy]) }),
      html`<span>${networkFee === null ? sayContent('orderedText', order) : sayContent('orderedLess', { ...order, fee: grouped(networkFee) })}</span>`,
    ];
  }
  const transaction = transactionLink(mode, entry.chainId, entry.txHash);
  switch (entry.type) {
    case 'signed':
      return [
        sayText(titles.signed),
        html`<span>${entry.attempt > 1 && sayContent('attempt', { number: entry.attempt })}${
          entry.nonce !== null && sayContent('nonce', { number: grouped(entry.nonce) })
        }${sayContent('transactionNamed', { transaction })}</span>`,
      ];
    case 'died':
      return [
        sayText(titles.died),
        html`<span>${sayContent('diedText', { reason: sayText(proofs[entry.proof]), transaction })}</span>`,
      ];
    case 'left':
      return [sayText(titles.left), html`<span>${sayContent('leftText', { transaction })}</span>`, true];
    case 'short': {
      const [arrived, ordered] = [money(entry.arrived), money(entry.ordered)];
      return [
        sayText(titles.short),
        html`<span>${sayContent('shortText', { arrived, ordered, transaction })}</span>`,
        true,
      ];
    }
    case 'settled':
      return [
        sayText(titles.settled, { chain: chainName(entry.chainId) }),
        html`<span>${sayContent('blockAndTransaction', { number: grouped(entry.blockNumber), transaction })}</span>`,
      ];
  }
}

function webhookTold({ deliveryId, eventType, delivery, ...answer }: Entry<'webhook'>, appId: string): Told {
  const { statusCode, error, duration_ms } = answer;
  const event = html`<a href=${appPaths(appId).delivery(deliveryId)}>${sayText('quoted', { text: newsOf(eventType) })}</a>`;
  const time = duration_ms === null ? null : lengthText(duration_ms);
  if (delivery === 'delivered') {
    const code = String(statusCode);
    const told =
      time === null ? sayContent('answered', { event, code }) : sayContent('answeredIn', { event, code, time });
    return [sayText('serverTold'), html`<span>${told}</span>`];
  }
  if (error === 'unknown')
    return [sayText('serverBeingTold'), html`<span>${sayContent('noAnswerRecorded', { event })}</span>`];
  return [sayText('serverRefused'), html`<span>${refusal(event, answer, time)}</span>`, true];
}

function refusal(
  event: VNode,
  { statusCode, error }: Pick<Entry<'webhook'>, 'statusCode' | 'error'>,
  time: string | null,
): Content {
  if (statusCode === null) {
    const reason = silenceOf(error ?? 'unknown');
    return time === null
      ? sayContent('refusedSilent', { event, reason })
      : sayContent('refusedSilentIn', { event, reason, time });
  }
  const code = String(statusCode);
  return time === null
    ? sayContent('refusedAnswer', { event, code })
    : sayContent('refusedAnswerIn', { event, code, time });
}
