/** What happens next with a payment, when, and what an operator can do about it. */

import { lostFunding } from '../../domain/payment/counting.ts';
import { nextStep } from '../../domain/payment/next.ts';
import { owedBy } from '../../domain/payment/owed.ts';
import { refundable } from '../../domain/payment/refund.ts';
import type { Situation } from '../../domain/payment/situation.ts';
import type { Payment } from '../../domain/payment/state.ts';
import type { Instant } from '../../domain/time.ts';
import { referenceOf } from '../../domain/transfer/key.ts';
import type { Owed } from '../../domain/transfer/owed.ts';
import { fallenShort } from '../../domain/transfer/rules.ts';
import type { TransferStep } from '../../domain/transfer/step.ts';
import { heldReasons } from './payins.ts';
import { waitAnswer } from './waits.ts';
import { chainName, sum } from './words.ts';

/** What workers have noted of a transfer, by its reference. */
export interface Noted {
  /** Why it waits. */
  readonly wait?: { readonly reason: string; readonly message: string; readonly since: Instant };
  /** Its last tries failed. */
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
  readonly noted: (reference: string) => Noted;
}

export interface Next {
  readonly next: readonly string[];
  readonly operator: readonly string[];
}

const both = (next: string, operator: string | null = null): Next => ({
  next: [next],
  operator: operator === null ? [] : [operator],
});

export function nextOf(p: Payment, facts: NextFacts): Next {
  const parts = [incoming(p, facts), ...owedBy(p).map((owed) => outgoing(p, owed, facts)), ...held(p, facts)];
  const all = { next: parts.flatMap(({ next }) => next), operator: parts.flatMap(({ operator }) => operator) };
  return all.next.length > 0 ? all : { ...all, next: ['Nothing is due: it has come to its end.'] };
}

function incoming(p: Payment, { now, situation }: NextFacts): Next {
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

function outgoing(p: Payment, owed: Owed, { noted }: NextFacts): Next {
  const { leg, key, step } = owed;
  const name = key.kind === 'payout' ? 'The payout' : `Refund ${key.part}`;
  const tool = key.kind === 'payout' ? 'npm run payouts --' : 'npm run refunds --';
  const { wait, failure } = noted(deciding(p, owed));
  const failed = failure ? failedOf(name, failure) : { next: [], operator: [] };
  const steps: Readonly<Record<TransferStep['do'], () => Next>> = {
    order: () =>
      both(
        `${name} is ordered as soon as a worker of ${chainName(leg.order.chainId)} gets to it, usually within seconds.`,
      ),
    tell: () => both(`${name} is told what was decided about it, usually within seconds.`),
    batched: () => {
      const together = `${name} is paid together with others, and goes the way of ${deciding(p, owed)}`;
      return wait ? waiting(`${together}, which`, wait) : both(`${together}.`);
    },
    sign: () => {
      if (!wait)
        return both(`${name} of ${sum(leg.order.amount, leg.order.token)} is signed next, usually within seconds.`);
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

/** The reference of the transfer that decides: a payout that is paid with others follows its batch. */
export const deciding = ({ batch }: Pick<Payment, 'batch'>, { purpose, step }: Owed): string =>
  step.do === 'batched' && batch ? referenceOf({ kind: 'batch', id: batch.id, part: 1 }) : purpose.reference;

function waiting(name: string, { since, reason, message }: NonNullable<Noted['wait']>): Next {
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

const failedOf = (name: string, { attempts, error, parked, nextAttempt }: NonNullable<Noted['failure']>): Next =>
  parked
    ? both(
        `${name} failed ${attempts} times and is left to you: ${error}`,
        'Mend the cause, then npm run work -- retry.',
      )
    : both(`${name}'s last try failed (${attempts} counted), the next one is at ${nextAttempt}: ${error}`);

/** What does not pay for anything, and what of it can go back. */
function held(p: Payment, { situation }: NextFacts): readonly Next[] {
  const kept = situation.held.map(({ amount, tokenSymbol, chainId, reason }) =>
    both(`${amount} ${tokenSymbol} on ${chainName(chainId)} are held: ${heldReasons[reason]}.`),
  );
  const back = refundable(p);
  if (back.length === 0) return kept;
  const sums = back.map(({ amount, token, chainId }) => `${sum(amount, token)} on ${chainName(chainId)}`).join(', ');
  const proven = p.refundAddresses.some(({ proof }) => proof !== null);
  const way = both(
    `${sums} can go back${proven ? '; a sender has proven where to' : ': its sender proves on the payment page where to, or an operator decides'}.`,
    `npm run refunds -- list ${p.terms.paymentId} shows whose it is; npm run refunds -- order sends it back.`,
  );
  return [...kept, way];
}
