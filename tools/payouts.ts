/** `npm run payouts -- …`: unsettled payouts, and an operator's decision about a stuck one. */
import { Command } from 'commander';
import { currentState } from '../commands/handle.ts';
import { chainOf } from '../domain/chains.ts';
import { formatAmount } from '../domain/money.ts';
import { nextStep } from '../domain/payment/backing.ts';
import { type Payment, paymentDecider } from '../domain/payment/state.ts';
import { isSpent } from '../domain/transfer/leg.ts';
import { fallenShort } from '../domain/transfer/record.ts';
import { openPayouts } from '../queries/payouts.ts';
import type { Core } from '../src/core.ts';
import { createFailures } from '../src/postgres/failures.ts';
import { payoutWaits } from '../src/postgres/payoutWaits.ts';
import {
  acceptPayout,
  type ByHand,
  bouncePayout,
  buryPayout,
  holdPayout,
  retryPayout,
} from '../src/workers/payouts/byHand.ts';
import { transfersWorkerName } from '../src/workers/payouts/worker.ts';
import { withCore } from './connections.ts';
import { print, printTable } from './print.ts';
import { addExamples, operator, printOutcome, readReason, runProgram } from './program.ts';

const shownMax = 100;
const answer_ms = 30_000;

async function show(core: Core): Promise<void> {
  const open = await openPayouts(core.database, shownMax);
  const payments = await Promise.all(open.map(({ paymentId }) => currentState(core.handle, paymentDecider, paymentId)));
  const waits = await payoutWaits(
    core.database,
    open.map(({ paymentId }) => paymentId),
  );
  const whyOf = new Map(waits.map(({ paymentId, reason, message }) => [paymentId, `${reason}: ${message}`]));
  const lines = payments.flatMap((payment) =>
    payment ? [[payment.terms.paymentId, line(core, payment, whyOf.get(payment.terms.paymentId))]] : [],
  );
  if (lines.length === 0) return print('Every payout is settled.');
  printTable(Object.fromEntries(lines));
  if (open.length === shownMax) print(`The oldest ${shownMax} are listed.`);
}

function line({ clock }: Core, payment: Payment, waitsFor = ''): Readonly<Record<string, string | number>> {
  const { destination } = payment.terms;
  const { payout, funded } = payment;
  const last = payout?.attempts.at(-1);
  return {
    chain: chainOf(destination.chainId).name,
    amount: `${formatAmount(funded?.payout ?? 0n, destination.token.decimals)} ${destination.token.symbol}`,
    funded: funded?.fundedAt ?? '',
    step: nextStep(payment, clock.now()).do,
    attempts: payout?.attempts.length ?? 0,
    'last one': last ? `${last.fate} ${last.signed.hash}` : '',
    why: whyHeld(payment) ?? waitsFor,
  };
}

function whyHeld({ payoutHeld, payout }: Payment): string | undefined {
  if (payout?.short) return fallenShort(payout, payout.short).message;
  if (payoutHeld !== null) return `an operator holds it: ${payoutHeld}`;
  return payout && isSpent(payout) ? 'all its attempts failed: retry allows more' : undefined;
}

/** Parked work of it is due again. */
async function retry(core: Core, byHand: ByHand): Promise<void> {
  printOutcome(await retryPayout(core, byHand, operator()));
  const payment = await currentState(core.handle, paymentDecider, byHand.paymentId);
  if (!payment) return;
  const worker = transfersWorkerName(payment.terms.destination.chainId);
  await createFailures(core.database).unpark(worker, byHand.paymentId, core.clock.now());
}

async function bury(core: Core, byHand: ByHand): Promise<void> {
  const payment = await currentState(core.handle, paymentDecider, byHand.paymentId);
  const chain = payment && core.chains.get(payment.terms.destination.chainId);
  if (!chain) throw new Error(`${byHand.paymentId} is not a payment on a configured chain`);
  const deps = { handle: core.handle, rail: chain.rail };
  printOutcome(await buryPayout(deps, byHand, operator(), AbortSignal.timeout(answer_ms)));
}

const program = new Command('npm run payouts --').description('Lists and repairs payouts that are not settled.');

program
  .command('list', { isDefault: true })
  .description('List pending and waiting payouts, the oldest first.')
  .action(() => withCore(show));

const decision = (name: string, about: string, decide: (core: Core, byHand: ByHand) => Promise<void>) =>
  program
    .command(`${name} <paymentId>`)
    .description(about)
    .requiredOption('--reason <reason>', 'Reason, kept in the log', readReason)
    .action((paymentId: string, { reason }: { reason: string }) =>
      withCore((core) => decide(core, { paymentId, reason })),
    );

decision(
  'hold',
  'Stop signing for a payout, for example because it was paid by hand. A signed transaction can still land.',
  async (core, byHand) => printOutcome(await holdPayout(core, byHand, operator())),
);
decision(
  'retry',
  'Retry a payout after a hold, after 100 failed attempts, or after a transfer that moved no money.',
  retry,
);
decision('accept', 'Count a payout as settled although less than the ordered amount arrived.', async (core, byHand) =>
  printOutcome(await acceptPayout(core, byHand, operator())),
);
decision('bury', 'Mark all attempts as dead so that the payout is signed again. Check several explorers first.', bury);
decision(
  'bounce',
  'Give up a payout whose receiver cannot be paid. The payin becomes refundable.',
  async (core, byHand) => printOutcome(await bouncePayout(core, byHand, operator())),
);

addExamples(program, {
  list: '',
  hold: '9c2d4c1e-51e6-4a53-9a57-0d2f6d3b8a11 --reason "paid by hand"',
  retry: '9c2d4c1e-51e6-4a53-9a57-0d2f6d3b8a11 --reason "the node was repaired"',
  accept: '9c2d4c1e-51e6-4a53-9a57-0d2f6d3b8a11 --reason "the rest was paid by hand"',
  bury: '9c2d4c1e-51e6-4a53-9a57-0d2f6d3b8a11 --reason "three explorers find no transaction"',
  bounce: '9c2d4c1e-51e6-4a53-9a57-0d2f6d3b8a11 --reason "the receiver is frozen"',
});

await runProgram(() => program.parseAsync());
