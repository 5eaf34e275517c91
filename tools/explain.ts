/** `npm run explain -- <paymentId>`: explains a payment's state, the next step, and an operator's options. */
import { Command } from 'commander';
import { eventCodec, linkOf } from '../commands/codec.ts';
import { currentState, readStream } from '../commands/handle.ts';
import { owedBy } from '../domain/payment/backing.ts';
import { type Payment, paymentDecider } from '../domain/payment/state.ts';
import { viewOf } from '../domain/payment/view.ts';
import { type Explanation, explainPayment } from '../queries/explain/explain.ts';
import { deciding, type TransferNotes } from '../queries/explain/next.ts';
import { failedTries, headsOf } from '../queries/operations.ts';
import { paymentIdIn } from '../queries/payments.ts';
import { confirmationsNeeded } from '../src/api/reads.ts';
import type { Core } from '../src/core.ts';
import { payoutWaits } from '../src/postgres/payoutWaits.ts';
import { transfersWorkerName } from '../src/workers/payouts/worker.ts';
import { withCore } from './connections.ts';
import { print, printJson } from './print.ts';
import { runProgram } from './program.ts';

async function explain(core: Core, text: string): Promise<Explanation> {
  const paymentId = paymentIdIn(text);
  const payment = paymentId === undefined ? null : await currentState(core.handle, paymentDecider, paymentId);
  if (!payment) throw new Error(`no payment has the id ${text}: use the id of the create response or of the dashboard`);
  const { database, store, clock, chains } = core;
  const [events, noted, heads] = await Promise.all([
    readStream(store, `payment-${paymentId}`),
    notedOf(core, payment),
    headsOf(database),
  ]);
  const explained = explainPayment(events, {
    read: eventCodec.read,
    linkOf,
    now: clock.now(),
    noted: (reference) => noted.get(reference) ?? {},
    chainOf(now) {
      const { sourceChainId, sourceAmount, amountReceived } = viewOf(now, now.terms.createdAt);
      const needed = confirmationsNeeded(chains)(sourceChainId, sourceAmount ?? amountReceived);
      return { head: heads.get(sourceChainId) ?? null, needed };
    },
  });
  if (!explained) throw new Error(`the stream of ${text} does not exist`);
  return explained;
}

/** Workers' notes about its transfers, by reference. */
async function notedOf({ database }: Core, payment: Payment): Promise<ReadonlyMap<string, TransferNotes>> {
  const owed = owedBy(payment).map((each) => ({ reference: deciding(payment, each), chainId: each.leg.order.chainId }));
  const waits = await payoutWaits(
    database,
    owed.map(({ reference }) => reference),
  );
  const noted = owed.map(async ({ reference, chainId }): Promise<[string, TransferNotes]> => {
    const [failure] = await failedTries(database, transfersWorkerName(chainId), [reference]);
    const wait = waits.find(({ paymentId }) => paymentId === reference);
    return [reference, { ...(wait && { wait }), ...(failure && { failure }) }];
  });
  return new Map(await Promise.all(noted));
}

function show({ paymentId, appId, orderId, status, summary, because, next, operator }: Explanation): void {
  print(`Payment ${paymentId} of ${appId}${orderId === null ? '' : `, order ${orderId}`}: ${status}`, summary);
  print('', 'Why it is here:');
  for (const { revision, position, type, at, sentence, link, cause } of because)
    print(`  #${revision} ${at} ${type}`, `     ${sentence}`, `     position ${position}, link ${link}, by ${cause}`);
  print('', 'What is next:');
  for (const sentence of next) print(`  - ${sentence}`);
  if (operator.length > 0) print('', 'What you can do:');
  for (const sentence of operator) print(`  - ${sentence}`);
}

const program = new Command('npm run explain --')
  .description(
    'Explains the state of a payment: the rule, amounts and event that led to it, the next step, and your options.',
  )
  .argument('<paymentId>')
  .option('--json', 'Print JSON', false)
  .action((paymentId: string, { json }: { json: boolean }) =>
    withCore(async (core) => {
      const explained = await explain(core, paymentId);
      if (json) printJson(explained);
      else show(explained);
    }),
  );

program.addHelpText('after', '\nExample: npm run explain -- 9c2d4c1e-51e6-4a53-9a57-0d2f6d3b8a11');
await runProgram(() => program.parseAsync());
