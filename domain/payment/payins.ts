/** Payins: their addresses, the effect of observed transfers on a payment, and funding. */
import type { ChainId } from '../chains.ts';
import { type Decision, refuse } from '../decider.ts';
import type { Instant } from '../time.ts';
import { bounced, closeHeld, divideReceived, fundedBy } from './close.ts';
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
  /** Deep enough that the transfer cannot leave its chain. */
  readonly final: boolean;
  /** True if an operator assigned the unmatched transfer to this payment. Such a payin is recorded even beyond `payinsMax`. */
  readonly assigned?: boolean;
  readonly now: Instant;
}

/**
 * Maximum recorded transfers of a payment. Small transfers may use only half of them, so flooding leaves room for the real money. Transfers
 * beyond the limit are unmatched (domain/unmatched.ts), so the stream stays short.
 */
export const payinsMax = 100;
const smallMax = payinsMax / 2;

/** Maximum recorded moves of a transfer between blocks before it is final, so forks cannot fill the stream. */
export const movesMax = 20;

/** Maximum hints per payment: each one queries the chain's nodes. */
export const registrationsMax = 20;

/** Records a hint where to look. Verified facts replace it; until then another hint may replace it. */
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

/** The registered transaction succeeded and transfers no accepted token to the payment. Changes nothing if a payin of it is known. */
export function findRegisteredEmpty(p: PaymentState, txHash: string, now: Instant): Decision<PaymentEvent> {
  if (!p) return refuse('paymentNotFound', 'no payment has this id: check it against the create response');
  const { registered, payins } = p;
  if (registered?.txHash !== txHash || registered.isEmpty) return [];
  if (payins.some(({ transfer }) => transfer.txHash === txHash)) return [];
  return [{ type: 'RegisteredPayinEmpty', data: { txHash, foundAt: now } }];
}

/** Chains on which the payment has a disclosed address, its own chain first. */
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
 * Records a transfer to the payment's deposit address. A repeated record changes nothing; a final one may fund or bounce the payment. A
 * transfer of zero is no payin: anyone can make a token log one.
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

/** True if the payment's stream records this transfer, or has recorded it. */
export function takesUp(p: Payment, transfer: Paying): boolean {
  if (p.payins.some(({ id }) => id === transferId(transfer))) return true;
  if (p.payins.length >= payinsMax) return false;
  return !isSmall(p, transfer) || p.payins.filter((payin) => isSmall(p, payin.transfer)).length < smallMax;
}

/** Less than a fiftieth of the payment's amount, or a token that does not pay it: cheap enough for flooding. */
function isSmall(p: Payment, transfer: Paying): boolean {
  const source = sourceOf(p, transfer);
  return !source || !mayPay(p, transfer) || BigInt(transfer.amount) * BigInt(smallMax) < leastOf(source);
}

/** @param p after the payin is final */
function consequences(p: Payment, id: string, now: Instant): readonly PaymentEvent[] {
  const funding = fund(p, now);
  if (funding.length > 0) return funding;
  const payin = p.payins.find((each) => each.id === id);
  const said = payin ? heldBy(p, payin, now) : [];
  return p.closed?.kind === 'expired' ? [...said, ...closeHeld(p, now)] : said;
}

/** The transfer's block left the chain. After funding this is a loss: the payout remains owed. */
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

/** Address that identifies a payin's payment: the payment's own address, or a shared address with the payment's memo. */
export interface PayinAddress {
  /** EVM addresses in lower case: the same on every EVM chain. */
  readonly address: string;
  /** Empty if the address alone identifies the payment. */
  readonly memo: string;
}

/** @param address in its chain's spelling */
export const payinAddress = (address: string, memo: string | null): PayinAddress => ({
  address: address.startsWith('0x') ? address.toLowerCase() : address,
  memo: memo ?? '',
});

/**
 * Addresses of a deposit. A contract's deposit is paid by a call with its memo, or by a plain transfer to the treasury with the same memo.
 * Older deposits have no treasury memo because their API answers contained none.
 */
export function payinAddressesOf({ address, memo, contract, contractMemo }: Deposit): readonly PayinAddress[] {
  if (contract === null) return [payinAddress(address, memo)];
  const called = payinAddress(contract, contractMemo);
  return memo === null ? [called] : [called, payinAddress(address, memo)];
}

export const payinAddressKey = ({ address, memo }: PayinAddress): string => `${address} ${memo}`;

/** True if a transfer went to one of these deposits. */
export const paysInto = (deposits: Deposits, { to, memo }: Pick<Transfer, 'to' | 'memo'>): boolean =>
  Object.values(deposits)
    .flatMap(payinAddressesOf)
    .map(payinAddressKey)
    .includes(payinAddressKey(payinAddress(to, memo ?? null)));

/**
 * PaymentFunded with all its inputs, PaymentBounced if anyAmount is out of bounds, or nothing yet. Each source adds up alone: the first one
 * that reaches the amount due funds the payment. Late money counts if the app's policy accepts it and no refund was ordered, which would
 * spend it twice.
 */
export function fund(p: Payment, now: Instant): readonly PaymentEvent[] {
  if (p.funded || (p.closed && !mayReopen(p))) return [];
  for (const source of payableFrom(p)) {
    const events = fundFrom(paidFrom(p, source), now);
    if (events.length > 0) return events;
  }
  return [];
}

const mayReopen = ({ closed, cancelledAt, refunds, terms: { policy } }: Payment): boolean =>
  policy?.late === 'accept' &&
  cancelledAt === null &&
  refunds.length === 0 &&
  (closed?.kind === 'expired' || closed?.code === 'latePayin' || closed?.code === 'amountTooLow');

/** @param p with this source in force */
function fundFrom(p: Payment, now: Instant): readonly PaymentEvent[] {
  const payins = fundersOf(p).filter(({ standing }) => standing === 'counted' || p.refunds.length === 0);
  if (payins.length === 0) return [];
  const outcome = divideReceived(p.terms, sumOf(payins));
  if (outcome === 'notYet') return [];
  if (typeof outcome !== 'string') return fundedBy(p, payins, { divided: outcome, short: 'tolerance' }, now);
  if (p.closed) return [];
  return [
    ...bouncedBy(p, outcome === 'amountTooHigh' ? 'over' : 'under', payins, now),
    bounced(p, outcome, payins, now),
  ];
}
