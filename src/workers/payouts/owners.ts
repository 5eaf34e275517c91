/** Payments own their payouts and their refunds. */

import { currentState, type Handle, type Loaded } from '../../../commands/handle.ts';
import { nothingToProve, type Outgoing, type StillFunded, type TransferOwner } from '../../../commands/outgoing.ts';
import type { Clock } from '../../../commands/ports.ts';
import { payoutBatch } from '../../../domain/batch/batch.ts';
import type { Decision } from '../../../domain/decider.ts';
import { copyBatch } from '../../../domain/payment/batched.ts';
import type { PaymentEvent } from '../../../domain/payment/events.ts';
import { owedBy } from '../../../domain/payment/owed.ts';
import { concludePayout, orphanPayout, requestPayout, signPayout } from '../../../domain/payment/payout.ts';
import { concludeRefund, orphanRefund, signRefund } from '../../../domain/payment/refunding.ts';
import { type Payment, type PaymentState, paymentDecider } from '../../../domain/payment/state.ts';
import { referenceOf, type TransferKey } from '../../../domain/transfer/key.ts';
import { failedAttempts } from '../../../domain/transfer/leg.ts';
import type { Owed } from '../../../domain/transfer/owed.ts';

interface Deps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  /** Looks once more whether the money is there that a transfer of the payment is made from. @throws PayoutBlocked */
  readonly proveFunding: (payment: Payment, owed: Owed, signal: AbortSignal) => Promise<StillFunded>;
}

export function payoutOwner(deps: Deps): TransferOwner {
  const { clock, handle } = deps;
  const { load, record, proveFunding } = ofPayments(deps, 'payout');
  return {
    load,
    proveFunding,
    order: (key) => record(key, '', (p) => requestPayout(p, clock.now())),
    sign: (key, attempt) => record(key, '', (p) => signPayout(p, attempt)),
    conclude: (key, outcome) => record(key, ` ${outcome.kind}`, (p) => concludePayout(p, outcome, clock.now())),
    orphan: (key, seen) => record(key, ` orphaned ${seen.blockHash}`, (p) => orphanPayout(p, seen)),
    /** Usually its batch tells it; who joined a batch that was closed without it, or was passed over by a crash, looks for himself. */
    async tell(key) {
      const payment = await currentState(handle, paymentDecider, key.id);
      const id = payment?.batch?.id;
      const batch = id === undefined ? null : await currentState(handle, payoutBatch, id);
      if (id === undefined || !batch) return { appended: 0 };
      return record(key, ` batch ${id}`, (p) => copyBatch(p, id, batch, clock.now()));
    },
  };
}

export function refundOwner(deps: Deps): TransferOwner {
  const { clock } = deps;
  const { load, record, proveFunding } = ofPayments(deps, 'refund');
  return {
    load,
    proveFunding,
    sign: (key, attempt) => record(key, '', (p) => signRefund(p, key.part, attempt)),
    conclude: (key, outcome) =>
      record(key, ` ${outcome.kind}`, (p) => concludeRefund(p, key.part, outcome, clock.now())),
    orphan: (key, seen) => record(key, ` orphaned ${seen.blockHash}`, (p) => orphanRefund(p, key.part, seen)),
  };
}

function ofPayments({ handle, proveFunding }: Deps, kind: 'payout' | 'refund') {
  const find = async (key: TransferKey, how: Loaded) => {
    const payment = await currentState(handle, paymentDecider, key.id, how);
    const owed = payment ? owedBy(payment).find(({ purpose }) => purpose.reference === referenceOf(key)) : undefined;
    return payment && owed && { payment, owed };
  };

  return {
    async load(key: TransferKey, how: Loaded = {}): Promise<Outgoing | undefined> {
      const found = await find(key, how);
      return found ? outgoing(found.payment, found.owed) : undefined;
    },

    async proveFunding(key: TransferKey, signal: AbortSignal): Promise<StillFunded> {
      // It was just loaded.
      const found = await find(key, { asKnown: true });
      return found ? proveFunding(found.payment, found.owed, signal) : nothingToProve;
    },

    /** @param about what the chain said, for whoever reads the event's cause */
    async record(key: TransferKey, about: string, decide: (p: PaymentState) => Decision<PaymentEvent>) {
      // Whose payment it is never changes.
      const payment = await currentState(handle, paymentDecider, key.id, { asKnown: true });
      const facts = { cause: `worker:${kind}s${about}`, appId: payment?.terms.appId ?? null } as const;
      return handle(paymentDecider, key.id, decide, facts);
    },
  };
}

function outgoing(payment: Payment, owed: Owed): Outgoing {
  const { terms, funded, payoutHeld, refunds } = payment;
  const isPayout = owed.key.kind === 'payout';
  const refund = isPayout ? undefined : refunds.find((each) => each.refund === owed.key.part);
  const { opensAccount } = isPayout ? terms : (refund?.request ?? {});
  // Refunds are younger than secret references.
  const isSecret = !isPayout || terms.payoutReference === 'secret';
  return {
    ...owed,
    order: {
      ...owed.leg.order,
      reference: owed.purpose.reference,
      ...(isSecret && { referenceOrdinal: failedAttempts(owed.leg) + 1 }),
      ...(opensAccount !== undefined && { opensAccount }),
    },
    mayOutbid: !isPayout || payoutHeld === null,
    owedSince: refund?.requestedAt ?? funded?.fundedAt ?? terms.createdAt,
  };
}
