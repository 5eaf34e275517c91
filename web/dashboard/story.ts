/** A payment's history in words. next.ts has the next steps. */
import type { Money } from '../../queries/paymentFact.ts';
import type { StoryEntry } from '../../queries/paymentStory.ts';
import type { StoryStep } from '../parts/boxes.ts';
import {
  amountText,
  chainName,
  countWords,
  grouped,
  lengthText,
  newsOf,
  shortAddress,
  silences,
  transactionLink,
  when,
} from '../parts/cells.ts';
import type { Mode } from '../parts/frame.ts';
import { bdi, type Content, cut, html } from '../parts/html.ts';
import { appPaths } from '../parts/paths.ts';

/** @param appId app of the linked pages */
export function storySteps(entries: readonly StoryEntry[], mode: Mode, appId: string): readonly StoryStep[] {
  return entries.map((entry, place) => {
    const [title, detail, problem] = told(entry, entries.slice(0, place), { mode, appId });
    return { stage: problem ? 'problem' : 'done', title, detail, at: entry.at };
  });
}

type Told = readonly [title: string, detail: Content, problem?: boolean];
type Entry<T extends StoryEntry['type']> = Extract<StoryEntry, { readonly type: T }>;

interface Reader {
  readonly mode: Mode;
  readonly appId: string;
}

/** @param before what happened until then */
function told(entry: StoryEntry, before: readonly StoryEntry[], { mode, appId }: Reader): Told {
  switch (entry.type) {
    case 'created':
      return ['Created', createdText(entry)];
    case 'sourceChosen':
      return [`The payer chose ${entry.tokenSymbol} on ${chainName(entry.chainId)}`, chosenText(entry)];
    case 'payinRegistered':
      return ['The payer named the transaction', html`<span>from ${shortAddress(entry.senderAddress)}</span>`];
    case 'payinDetected':
    case 'payinConfirmed':
    case 'payinOrphaned':
    case 'payinLost':
      return payinTold(entry, mode);
    case 'funded':
      return ['Money counted', fundedText(entry)];
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
        'Cancelled by the app',
        html`<span>The time to pay ended at ${when(entry.expiresAt)}. A transfer that its chain holds by then still counts.</span>`,
      ];
    case 'annotated':
      return ['Note and tags changed', annotatedText(entry)];
    case 'expired':
      return ['Expired', expiredText(before)];
    case 'bounced':
      return [
        'Money held',
        html`<span>${money(entry.received)}: ${bounces[entry.code]}. It can be refunded.</span>`,
        true,
      ];
    case 'refundAddressSet':
      return ['Address for refunds set', shortAddress(entry.address)];
    case 'webhook':
      return webhookTold(entry, appId);
    case 'other':
      return [entry.name, 'An event of a newer version of this service.'];
  }
}

/** Money that does not count may have arrived nevertheless: the text states this. */
function expiredText(before: readonly StoryEntry[]): string {
  const came = before.filter((entry) => entry.type === 'payinDetected' || entry.type === 'payinConfirmed');
  const cancelled = before.some(({ type }) => type === 'cancelled');
  const over = cancelled ? 'The app had ended the time to pay.' : 'The time to pay is over.';
  if (came.length > 0) return `${over} Nothing that counts had come; what came is held for you.`;
  return `${over} Nothing had come. Money that comes later is held for you.`;
}

const annotatedText = ({ note, tags }: Entry<'annotated'>): Content =>
  html`<span>${tags.length > 0 && bdi(tags.map((tag) => `#${tag}`).join(' '))} ${
    note === null ? tags.length === 0 && 'Both are empty now.' : html`<bdi>${cut(note, 120)}</bdi>`
  }</span>`;

const money = ({ amount, tokenSymbol }: Money): string => amountText(amount, tokenSymbol);

const createdText = ({ pays, gets, sourceChainId, destinationChainId, expiresAt }: Entry<'created'>): Content =>
  html`<span>${pays ? money(pays) : 'Any amount'} on ${chainName(sourceChainId)}
    ${gets ? `, of which ${money(gets)} is paid out` : ' is paid out'} on ${chainName(destinationChainId)}; to be paid
    until ${when(expiresAt)}</span>`;

const chosenText = ({ pays, depositAddress }: Entry<'sourceChosen'>): Content =>
  html`<span>${pays ? money(pays) : 'any amount'} to ${shortAddress(depositAddress)}</span>`;

const standings = {
  counted: '',
  late: ' It came too late and is held.',
  surplus: ' It was not needed any more and is held.',
  wrongToken: ' It is another token than agreed and is held.',
  wrongChain: ' It came on another chain than agreed and is held.',
  otherSender: ' It came from another sender than announced and is held.',
} as const;

const bounces = {
  amountTooLow: 'less than agreed arrived',
  amountTooHigh: 'more than the limit arrived',
  latePayin: 'it arrived after the payment had expired',
  wrongToken: 'another token than agreed arrived',
  wrongChain: 'it arrived on another chain than agreed',
  otherSender: 'it came from another sender than announced',
  payoutImpossible: 'the wallet cannot be paid',
} as const;

function payinTold(entry: Entry<'payinDetected' | 'payinConfirmed' | 'payinOrphaned' | 'payinLost'>, mode: Mode): Told {
  const chain = chainName(entry.chainId);
  const transaction = transactionLink(mode, entry.chainId, entry.txHash);
  const text = (more: string) =>
    html`<span>${money(entry)} from ${shortAddress(entry.from)}, transaction ${transaction}.${more}</span>`;
  switch (entry.type) {
    case 'payinDetected': {
      const { confirmations } = entry;
      const depth = confirmations === null ? '' : ` ${countWords(confirmations, 'confirmation')} by now.`;
      return [`Payment seen on ${chain}`, text(depth + standings[entry.standing]), entry.standing !== 'counted'];
    }
    case 'payinConfirmed':
      return [
        `Payment final on ${chain}`,
        `${money(entry)}, in block ${grouped(entry.blockNumber)}.${standings[entry.standing]}`,
      ];
    case 'payinOrphaned':
      return [
        'The payment’s block left the chain',
        text(' It usually comes again in another block. Nothing was paid out for it.'),
        true,
      ];
    case 'payinLost':
      return ['A counted payment vanished from its chain', text(' The operator has been told.'), true];
  }
}

function fundedText({ received, payout, fee, excess, dust }: Entry<'funded'>): string {
  const parts = [
    `${money(payout)} to be paid out`,
    `${money(fee)} fee`,
    isNone(excess) ? null : `${money(excess)} too much, held`,
    isNone(dust) ? null : `${money(dust)} too small to be paid out`,
  ];
  return `${money(received)} received: ${parts.filter((part) => part !== null).join(', ')}`;
}

const rules: Readonly<Record<Entry<'policyApplied'>['rule'], string>> = {
  tolerance: 'A little too little',
  under: 'Too little when the time was over',
  over: 'Too much',
  late: 'Too late',
  wrongToken: 'Another token than agreed',
  wrongChain: 'Another chain than agreed',
};

/** By the owner's policy for wrong amounts. */
function policyTold({ rule, verdict, money: about, chainId }: Entry<'policyApplied'>): Told {
  const missing = rule === 'tolerance' || rule === 'under';
  const text = {
    accept: missing
      ? 'less was sent: taken, as you have set it'
      : `on ${chainName(chainId)}: taken, as you have set it`,
    hold: `on ${chainName(chainId)}: held until you decide`,
    refund: `on ${chainName(chainId)}: goes back as soon as the payer has proven an address`,
  }[verdict];
  return [rules[rule], `${money(about)} ${text}`, verdict !== 'accept'];
}

const isNone = ({ amount }: Money): boolean => /^[0.]*$/.test(amount);

const proofs = {
  nonceUsed: 'another transaction took its place',
  reverted: 'the chain refused it',
  validityPassed: 'the chain cannot take it any more',
  declared: 'the chain cannot take it any more',
} as const;

const askers = {
  operator: 'the operator',
  owner: 'the app’s owner',
  key: 'an API key',
  policy: 'the app’s policy',
} as const;

function legTold(entry: Entry<'ordered' | 'signed' | 'died' | 'left' | 'short' | 'settled'>, mode: Mode): Told {
  const name = entry.leg === 'payout' ? 'Payout' : 'Refund';
  if (entry.type === 'ordered') {
    return [
      entry.requestedBy === null ? `${name} ordered` : `${name} ordered by ${askers[entry.requestedBy]}`,
      html`<span>${money(entry.money)} to ${shortAddress(entry.receiverAddress)} on ${chainName(entry.chainId)}${entry.networkFee !== null && `, less ${entry.networkFee} for sending it`}</span>`,
    ];
  }
  const transaction = html`<span>transaction ${transactionLink(mode, entry.chainId, entry.txHash)}</span>`;
  switch (entry.type) {
    case 'signed':
      return [
        `${name} signed and sent`,
        html`<span>${entry.attempt > 1 && `attempt ${entry.attempt}, `}
          ${entry.nonce !== null && `nonce ${grouped(entry.nonce)}, `}${transaction}</span>`,
      ];
    case 'died':
      return [
        `${name} is sent anew`,
        html`<span>${proofs[entry.proof]}: proved, so nothing is paid twice; ${transaction}</span>`,
      ];
    case 'left':
      return [
        `The ${name.toLowerCase()}’s block left the chain`,
        html`<span>The same bytes are sent again; ${transaction}</span>`,
        true,
      ];
    case 'short':
      return [
        `The ${name.toLowerCase()} brought too little`,
        html`<span>${money(entry.arrived)} arrived of ${money(entry.ordered)}: the operator looks at it; ${transaction}</span>`,
        true,
      ];
    case 'settled':
      return [
        `${name} final on ${chainName(entry.chainId)}`,
        html`<span>block ${grouped(entry.blockNumber)}, ${transaction}</span>`,
      ];
  }
}

function webhookTold(
  { deliveryId, eventType, delivery, statusCode, error, duration_ms }: Entry<'webhook'>,
  appId: string,
): Told {
  const link = html`<a href=${appPaths(appId).delivery(deliveryId)}>“${newsOf[eventType]}”</a>`;
  const took = duration_ms === null ? '' : ` in ${lengthText(duration_ms)}`;
  if (delivery === 'delivered')
    return ['Your server was told', html`<span>${link}, answered ${statusCode}${took}</span>`];
  if (error === 'unknown') return ['Your server is being told', html`<span>${link}: no answer is recorded yet</span>`];
  const answer = statusCode === null ? `no answer: ${silences[error ?? 'unknown']}` : `answered ${statusCode}`;
  return [
    'Your server did not take the webhook',
    html`<span>${link}, ${answer}${took}. It is not sent again by itself.</span>`,
    true,
  ];
}
