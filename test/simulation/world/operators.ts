/** Operators who refund held money, also two concurrently, and who hold payouts for a while. */

import { isRefusal } from '../../../domain/decider.ts';
import type { Payment } from '../../../domain/payment/state.ts';
import { refundable } from '../../../domain/payment/state.ts';
import type { RefundKey } from '../../../src/workers/payouts/byHand.ts';
import type { Random, SimulatedChain } from '../kernel/ports.ts';
import { theRun } from '../kernel/run.ts';
import { askUntilAnswered } from './ask.ts';
import type { Order } from './customers.ts';
import type { Habits } from './habits.ts';
import type { Watched } from './invariants.ts';
import type { RefundRequest } from './refundRequest.ts';
import type { Instance } from './service.ts';

export interface Operators {
  readonly refundRequests: readonly RefundRequest[];
  /** True if they have finished. */
  done(): boolean;
}

/** Tasks of a world's operators. */
export interface Duties {
  readonly refund: boolean;
  readonly hold: boolean;
  /** Call off some of the refunds that they ordered. */
  readonly callOff: boolean;
}

const refundingWorlds = 6;
const holdingWorlds = 8;
const look_ms = 2_000;
/** Refund orders per payment. */
const rounds = 2;
/** Orders for the same money, by people who do not know of each other. */
type Scope = 'all' | 'half';
const together: readonly [readonly Scope[], ...(readonly Scope[])[]] = [
  ['all'],
  ['all', 'all'],
  ['half', 'all'],
  ['half', 'half'],
];
const calledOffWithin_ms = 6_000;
const heldWithin_ms = 30_000;

/** After a restored log the refunds are unknown in this world: such worlds have none. */
export function dutiesOf(random: Random, isLogRestored: boolean, habits: Habits): Duties {
  const [refund, hold] = [random.below(refundingWorlds) === 0, random.below(holdingWorlds) === 0];
  const callOff = habits.has('callOffs');
  return { refund: (refund || callOff) && !isLogRestored, hold: hold && !isLogRestored, callOff };
}

interface World {
  readonly duties: Duties;
  readonly chains: readonly SimulatedChain[];
  readonly orders: readonly Order[];
  readonly instances: readonly Instance[];
  readonly watched: Pick<Watched, 'payments'>;
}

export function startOperators(random: Random, world: World): Operators {
  const { duties, chains, orders, instances, watched } = world;
  const { agenda, note } = theRun();
  const requests: RefundRequest[] = [];
  const left = new Map(orders.map((order) => [order, duties.refund ? rounds : 0]));
  const holding = new Set(duties.hold ? orders.filter(() => random.below(2) === 0) : []);
  let held = 0;
  let calling = 0;

  const paymentOf = ({ payment }: Order): Payment | null =>
    (payment && watched.payments.get(payment.terms.paymentId)) ?? null;
  const canGoBack = (order: Order): boolean => {
    const payment = paymentOf(order);
    return (left.get(order) ?? 0) > 0 && payment !== null && refundable(payment).length > 0;
  };

  function request(order: Order, { terms }: Payment, scope: Scope): void {
    const { paymentId } = terms;
    const [entry, ...others] = refundable(paymentOf(order) as Payment);
    if (!entry) throw new Error('there is something to order back');
    const source = chains.find(({ chainId }) => chainId === entry.chainId) ?? order.source;
    const own: RefundRequest = {
      ...{ paymentId, key: `back-${requests.length}` },
      ...{ receiver: source.receiver(), outcome: 'open' },
    };
    requests.push(own);
    const amount = scope === 'all' ? entry.amount : entry.amount / 2n;
    const part = { chainId: entry.chainId, tokenAddress: entry.token.address, amount };
    // No address is one of two chains.
    const isWhole = scope === 'all' && others.length === 0;
    const asked = {
      ...{ scope: isWhole ? ('all' as const) : part, to: { address: own.receiver, memo: null } },
      ...({ by: 'operator', note: null, key: own.key } as const),
    };
    askUntilAnswered(
      instances,
      own.key,
      (api) => api.refund(paymentId, asked),
      (answer) => {
        if (isRefusal(answer) && answer.refused === 'unavailable') return false;
        own.outcome = isRefusal(answer) ? 'refused' : 'ordered';
        note(`${own.key} of ${paymentId}: ${isRefusal(answer) ? answer.refused : 'ordered'}`);
        if (!isRefusal(answer) && duties.callOff && random.below(2) === 0)
          for (const { refund } of answer.refunds)
            agenda.after(random.below(calledOffWithin_ms), () =>
              callOff({ kind: 'refund', id: paymentId, part: refund }),
            );
        return true;
      },
    );
  }

  /** A signed refund is not called off. */
  function callOff(key: RefundKey): void {
    calling += 1;
    askUntilAnswered(
      instances,
      'call off',
      (api) => api.callOffRefund(key),
      (answer) => {
        const refused = isRefusal(answer as object) ? (answer as { refused: string }).refused : null;
        if (refused === 'unavailable' || refused === 'conflict') return false;
        calling -= 1;
        note(`refund ${key.part} of ${key.id} is called off: ${refused ?? 'done'}`);
        return true;
      },
    );
  }

  function look(): void {
    for (const order of orders.filter(canGoBack)) {
      left.set(order, (left.get(order) ?? 0) - 1);
      const payment = paymentOf(order);
      for (const scope of random.pick(together)) if (payment) request(order, payment, scope);
    }
    for (const order of holding) {
      const payment = paymentOf(order);
      if (!payment?.funded) continue;
      holding.delete(order);
      hold(payment.terms.paymentId);
    }
    agenda.after(look_ms, look);
  }

  /** Holds the payout until the operator has checked it. */
  function hold(paymentId: string): void {
    held += 1;
    const after_ms = random.below(heldWithin_ms);
    askUntilAnswered(
      instances,
      'hold',
      (api) => api.hold(paymentId),
      () => {
        note(`the payout of ${paymentId} is held`);
        agenda.after(after_ms, () =>
          askUntilAnswered(
            instances,
            'retry',
            (api) => api.retry(paymentId),
            () => {
              held -= 1;
              note(`the payout of ${paymentId} may go on`);
              return true;
            },
          ),
        );
        return true;
      },
    );
  }

  if (duties.refund || duties.hold) agenda.after(look_ms, look);
  return {
    refundRequests: requests,
    done: () =>
      held === 0 && calling === 0 && requests.every(({ outcome }) => outcome !== 'open') && !orders.some(canGoBack),
  };
}
