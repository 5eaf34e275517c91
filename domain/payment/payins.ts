/** Payins: where they are made to, what transfers seen on the chains do to a payment, and whether they fund it. */
import type { ChainId } from '../chains.ts';
import { type Decision, refuse } from '../decider.ts';
import type { Instant } from '../time.ts';
import { bounced, closeHeld, divide, fundedBy } from './close.ts';
import { type Deposit, type PaymentEvent, type TokenRef, type Transfer, transferId } from './events.ts';
import { bouncedBy, heldBy } from './policy.ts';
import {
  type Deposits,
  familyOf,
  fundersOf,
  leastOf,
  mayPay,
  type Payin,
  paidFrom,
  payableFrom,
  sourceOf,
  sumOf,
} from './sources.ts';
import { evolve, type Payment, type PaymentState } from './state.ts';
import { statusOf } from './view.ts';

export interface Sighting {
  readonly transfer: Transfer;
  /** Deep enough on its chain that it cannot leave it any more. */
  readonly final: boolean;
  /** Whether an operator gave the unmatched transfer to this payment. The payment records such a payin even if it has `payinsMax` others. */
  readonly assigned?: boolean;
  readonly now: Instant;
}

/**
 * A payment records so many transfers, half of them small ones: whoever floods it leaves room for the money that it waits for, for half
 * of it in parts that are not small is the whole. What comes beyond is kept outside its stream (domain/unmatched.ts), which stays short.
 */
export const payinsMax = 100;
const smallMax = payinsMax / 2;

/** A transfer that moves from block to block is recorded so often before it is final: forks must not fill the stream either. */
export const movesMax = 20;

/** A stream takes this many hints: each has the chain's nodes asked. */
export const registrationsMax = 20;

/** A hint where to look. Verified facts replace it; until one of its transaction is recorded, another hint may. */
export function registerPayin(
  p: PaymentState,
  hint: { txHash: string; senderAddress: string; now: Instant },
): Decision<PaymentEvent> {
  if (!p) return refuse('paymentNotFound', 'no payment has this id: check it against the create response');
  const { registered } = p;
  if (registered?.txHash === hint.txHash && registered.senderAddress === hint.senderAddress) return [];
  const why = whyNoOther(p);
  if (why)
    return refuse('paymentNotUpdatable', `${why}: no other payin can be registered, read the payment instead`, '/id');
  const { txHash, senderAddress, now } = hint;
  return [{ type: 'PayinRegistered', data: { txHash, senderAddress, registeredAt: now } }];
}

/** The registered transaction succeeded and transfers no accepted token to the payment. Changes nothing where a payin of it is known. */
export function findRegisteredEmpty(p: PaymentState, txHash: string, now: Instant): Decision<PaymentEvent> {
  if (!p) return refuse('paymentNotFound', 'no payment has this id: check it against the create response');
  const { registered, payins } = p;
  if (registered?.txHash !== txHash || registered.isEmpty) return [];
  if (payins.some(({ transfer }) => transfer.txHash === txHash)) return [];
  return [{ type: 'RegisteredPayinEmpty', data: { txHash, foundAt: now } }];
}

/** Chains that the payment can be paid from at an address that its payer knows, its own first. */
export function payableChainsOf({ terms, sources, deposits }: Payment): readonly [ChainId, ...ChainId[]] {
  const own = terms.source.chainId;
  const others = sources.filter((source) => source.chainId !== own && deposits[familyOf(source)] !== undefined);
  return [own, ...new Set(others.map(({ chainId }) => chainId))];
}

function whyNoOther(p: Payment): string | undefined {
  const status = statusOf(p);
  if (status !== 'payment_unpaid' && status !== 'payment_started') return `the payment is ${status}`;
  if (p.payins.some((payin) => onChain(payin) && payin.transfer.txHash === p.registered?.txHash))
    return 'the registered payin was found on its chain';
  return p.registrations >= registrationsMax ? `${registrationsMax} payins were registered` : undefined;
}

/**
 * A transfer to this payment's deposit address. Seen again it changes nothing; final, it may fund or bounce the payment.
 * Anybody can make a token log a transfer of nothing from anywhere: it is no payin.
 */
export function recordPayin(p: PaymentState, { transfer, final, assigned, now }: Sighting): Decision<PaymentEvent> {
  if (!p) return refuse('paymentNotFound', 'the deposit belongs to a payment that is not in the log');
  if (BigInt(transfer.amount) === 0n) return [];
  const known = p.payins.find((payin) => payin.id === transferId(transfer));
  if (known?.phase === 'confirmed') return [];
  if (!assigned && !takesUp(p, transfer)) return [];
  if (known && known.moves >= 2 * movesMax) return movesTooOften;
  const events: PaymentEvent[] = [];
  const moved = known?.phase === 'detected' && known.transfer.blockHash !== transfer.blockHash;
  if (moved)
    events.push({ type: 'PayinOrphaned', data: { transferId: known.id, blockHash: known.transfer.blockHash } });
  if (!final && known && known.moves >= movesMax) return events;
  if (!known || moved || known.phase === 'orphaned' || known.phase === 'lost') {
    events.push({ type: 'PayinDetected', data: { transfer } });
  }
  if (!final) return events;
  events.push({ type: 'PayinConfirmed', data: { transfer, confirmedAt: now } });
  const after = events.reduce<PaymentState>(evolve, p) as Payment;
  return [...events, ...consequences(after, transferId(transfer), now)];
}

type Paying = Pick<Transfer, 'chainId' | 'txHash' | 'index' | 'from' | 'amount'> & {
  readonly token: Pick<TokenRef, 'address'>;
};

const movesTooOften = refuse(
  'illegalStep',
  `the transfer has left its chain ${2 * movesMax} times: compare the chain's nodes with an explorer before anything else`,
);

/** Whether the payment's stream records this transfer, or has done so. */
export function takesUp(p: Payment, transfer: Paying): boolean {
  if (p.payins.some(({ id }) => id === transferId(transfer))) return true;
  if (p.payins.length >= payinsMax) return false;
  return !isSmall(p, transfer) || p.payins.filter((payin) => isSmall(p, payin.transfer)).length < smallMax;
}

/** Under a fiftieth of what the payment is about, or nothing that pays it: cheap enough to flood it with. */
function isSmall(p: Payment, transfer: Paying): boolean {
  const source = sourceOf(p, transfer);
  return !source || !mayPay(p, transfer) || BigInt(transfer.amount) * BigInt(smallMax) < leastOf(source);
}

/** @param p once the payin is final */
function consequences(p: Payment, id: string, now: Instant): readonly PaymentEvent[] {
  const funding = fund(p, now);
  if (funding.length > 0) return funding;
  const payin = p.payins.find((each) => each.id === id);
  const said = payin ? heldBy(p, payin, now) : [];
  return p.closed?.kind === 'expired' ? [...said, ...closeHeld(p, now)] : said;
}

/** The block that held a transfer has left the chain. After funding it is a loss: the payout stands. */
export function orphanPayin(p: PaymentState, seen: { transferId: string; blockHash: string }): Decision<PaymentEvent> {
  const known = p?.payins.find((payin) => payin.id === seen.transferId);
  if (!p || !known || known.transfer.blockHash !== seen.blockHash || !onChain(known)) return [];
  const { blockHash } = known.transfer;
  const orphaned: PaymentEvent = { type: 'PayinOrphaned', data: { transferId: known.id, blockHash } };
  const paidOut = p.funded?.transferIds.includes(known.id) ?? false;
  if (!paidOut) return [orphaned];
  return [orphaned, { type: 'PayinLost', data: { transferId: known.id, amount: known.amount.toString() } }];
}

const onChain = (payin: Payin): boolean => payin.phase === 'detected' || payin.phase === 'confirmed';

/** Where a payin is made to, which tells whose it is: an address of the payment's own, or a shared one with the payment's memo. */
export interface PayinAddress {
  /** EVM addresses in lower case: the same on every EVM chain. */
  readonly address: string;
  /** Empty where the address alone tells the payment. */
  readonly memo: string;
}

/** @param address as its chain spells it */
export const payinAddress = (address: string, memo: string | null): PayinAddress => ({
  address: address.startsWith('0x') ? address.toLowerCase() : address,
  memo: memo ?? '',
});

/**
 * Where a deposit can be paid to. A contract's deposit is paid by calling the contract with its memo, or by a plain transfer to the
 * treasury with the same memo. Older ones have no memo for the treasury: whoever paid one to it found no memo in the answer.
 */
export function payinAddressesOf({ address, memo, contract, contractMemo }: Deposit): readonly PayinAddress[] {
  if (contract === null) return [payinAddress(address, memo)];
  const called = payinAddress(contract, contractMemo);
  return memo === null ? [called] : [called, payinAddress(address, memo)];
}

export const payinAddressKey = ({ address, memo }: PayinAddress): string => `${address} ${memo}`;

/** Whether a transfer was made to one of these deposits. */
export const paysInto = (deposits: Deposits, { to, memo }: Pick<Transfer, 'to' | 'memo'>): boolean =>
  Object.values(deposits)
    .flatMap(payinAddressesOf)
    .map(payinAddressKey)
    .includes(payinAddressKey(payinAddress(to, memo ?? null)));

/**
 * PaymentFunded with all its inputs, PaymentBounced when anyAmount is outside its bounds, or nothing yet. Each source adds up by itself:
 * the first that reaches what is due funds the payment. Late money does where the app's policy takes it, and nothing has gone back: what
 * was ordered back would be given away twice.
 */
export function fund(p: Payment, now: Instant): readonly PaymentEvent[] {
  if (p.funded || (p.closed && !mayReopen(p))) return [];
  for (const source of payableFrom(p)) {
    const events = fundFrom(paidFrom(p, source), now);
    if (events.length > 0) return events;
  }
  return [];
}

const mayReopen = ({ closed, refunds, terms: { policy } }: Payment): boolean =>
  policy?.late === 'accept' &&
  refunds.length === 0 &&
  (closed?.kind === 'expired' || closed?.code === 'latePayin' || closed?.code === 'amountTooLow');

/** @param p as it is when it is paid from the source */
function fundFrom(p: Payment, now: Instant): readonly PaymentEvent[] {
  const payins = fundersOf(p).filter(({ standing }) => standing === 'counted' || p.refunds.length === 0);
  if (payins.length === 0) return [];
  const outcome = divide(p.terms, sumOf(payins));
  if (outcome === 'notYet') return [];
  if (typeof outcome !== 'string') return fundedBy(p, payins, { divided: outcome, short: 'tolerance' }, now);
  if (p.closed) return [];
  return [
    ...bouncedBy(p, outcome === 'amountTooHigh' ? 'over' : 'under', payins, now),
    bounced(p, outcome, payins, now),
  ];
}
