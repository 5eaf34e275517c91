/** What an operator decides about a refund that does not go on by itself: of a payment, or of money that no payment takes up. */
import type { Command } from 'commander';
import { currentState } from '../commands/handle.ts';
import { isRefusal } from '../domain/decider.ts';
import { referenceOf } from '../domain/transfer/key.ts';
import { unmatched } from '../domain/unmatched.ts';
import { unmatchedRefundsOwed } from '../domain/unmatchedRefund.ts';
import { paymentIdIn } from '../queries/paymentId.ts';
import type { Core } from '../src/core.ts';
import { createFailures } from '../src/postgres/failures.ts';
import {
  acceptRefund,
  buryRefund,
  callOffRefund,
  type RefundByHand,
  type RefundDecided,
  type RefundKey,
  refundLeg,
  retryRefund,
} from '../src/workers/payouts/refundsByHand.ts';
import { transfersWorkerName } from '../src/workers/payouts/worker.ts';
import { withCore } from './core.ts';
import { operator } from './operator.ts';
import { reasonOf, refusalError, tell } from './program.ts';

const answer_ms = 30_000;

type Decide = (core: Core, byHand: RefundByHand) => RefundDecided;

const verbs: Readonly<Record<string, { readonly about: string; readonly decide: Decide }>> = {
  'call-off': {
    about: 'give it up, for it cannot be sent, such as to a frozen address: what it took is held again',
    decide: (core, byHand) => callOffRefund(core, byHand, operator()),
  },
  retry: { about: 'go on with it after a hundred attempts, or a transfer that brought nothing', decide: retry },
  accept: {
    about:
      'count it as settled although less than was ordered arrived: you have sent the rest by hand, or the receiver does without',
    decide: (core, byHand) => acceptRefund(core, byHand, operator()),
  },
  bury: {
    about:
      'declare its attempts dead: they can land no more, and you have found out on several explorers that none has; it is signed anew',
    decide: (core, byHand) => {
      const railOf = (chainId: Parameters<Core['chains']['get']>[0]) => core.chains.get(chainId)?.rail;
      return buryRefund({ ...core, railOf }, byHand, operator(), AbortSignal.timeout(answer_ms));
    },
  },
};

/** What was parked on the way is due again. */
async function retry(core: Core, byHand: RefundByHand): RefundDecided {
  const decided = await retryRefund(core, byHand, operator());
  const leg = await refundLeg(core.handle, byHand.key);
  if (isRefusal(decided) || isRefusal(leg)) return decided;
  const worker = transfersWorkerName(leg.order.chainId);
  await createFailures(core.database).unpark(worker, referenceOf(byHand.key), core.clock.now());
  return decided;
}

export function addDecisions(program: Command): void {
  for (const [name, { about, decide }] of Object.entries(verbs))
    program
      .command(`${name} <money> [refund]`)
      .description(`${about}. Of a payment: its id and the refund’s number; of money that no payment takes up: its id`)
      .requiredOption('--reason <reason>', 'why, for whoever asks later', reasonOf)
      .action((money: string, number: string | undefined, { reason }: { reason: string }) =>
        withCore(async (core) =>
          tell(await decide(core, { key: await keyFor(core, money, number), reason }), 'There was nothing to decide.'),
        ),
      );
}

/** @param money a payment, or unmatched money as the lists name it. @param number left out of unmatched money: its latest refund */
async function keyFor(core: Core, money: string, number: string | undefined): Promise<RefundKey> {
  const paymentId = paymentIdIn(money);
  if (paymentId !== undefined) return { kind: 'refund', id: paymentId, part: numberOf(number) };
  const ordered = unmatchedRefundsOwed(await currentState(core.handle, unmatched, money)).length;
  if (ordered === 0)
    throw refusalError({ refused: 'notFound', message: `${money} is no payment, and no money that is to go back` });
  return { kind: 'unmatchedRefund', id: money, part: number === undefined ? ordered : numberOf(number) };
}

function numberOf(text = ''): number {
  if (!/^[1-9]\d{0,3}$/.test(text))
    throw new Error(`${text || 'nothing'} is no number of a refund: npm run refunds -- list <paymentId>`);
  return Number(text);
}
