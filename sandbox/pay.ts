/** `npm run pay -- <paymentId> [--amount N]`: pays as the customer on the payment's chain and follows the status until it is terminal. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { chainOf, findChain } from '../domain/chains.ts';
import { type PaymentStatus, terminalStatuses } from '../domain/payment/view.ts';
import { fetchPayment, payAsCustomer, wayToPayout } from './customer.ts';
import { keepKeys } from './keys.ts';
import { readSandboxFile, type SandboxFile } from './sandboxFile.ts';

const poll_ms = 200;
const follow_ms = 10 * 60_000;

const program = new Command('npm run pay --')
  .description('Pays a payment as the customer of the sandbox and follows it.')
  .argument('<paymentId>', 'Id that the create call returned')
  .option('--amount <decimal>', 'Amount to pay; default: the amount due')
  .option('--no-follow', 'Return when the transfer is mined')
  .action(main);

program.addHelpText('after', '\nExample: npm run pay -- 9c2d4c1e-51e6-4a53-9a57-0d2f6d3b8a11');
await program.parseAsync().catch((error: Error) => fail(error.message));

async function main(paymentId: string, options: { amount?: string; follow: boolean }): Promise<void> {
  const dataDir = process.env['DATA_DIR'] ?? './data';
  const sandbox = readSandboxFile(dataDir);
  if (!sandbox) fail(`no sandbox runs on ${dataDir}: start one with npm start`);
  const payment = await fetchPayment(sandbox, paymentId);
  const { amount } = options;
  const { says, hash } = await payAsCustomer(
    sandbox,
    keepKeys(dataDir),
    payment,
    amount === undefined ? {} : { amount },
  );
  console.log(`\n  ${says}`);
  console.log(`  paid in transaction ${await hash()}\n`);
  if (options.follow) await follow(sandbox, paymentId);
}

async function follow(sandbox: SandboxFile, paymentId: string): Promise<void> {
  const began_ms = performance.now();
  let shown: string | undefined;
  for (;;) {
    const payment = await fetchPayment(sandbox, paymentId);
    if (payment.status !== shown) {
      shown = payment.status;
      const seconds = ((performance.now() - began_ms) / 1000).toFixed(1).padStart(6);
      console.log(`  ${bar(payment.status)} ${seconds} s  ${payment.status}`);
    }
    if (terminalStatuses.includes(payment.status)) {
      const { destination } = payment;
      const chain = findChain(destination.chainId);
      if (destination.txHash) {
        const name = chain ? chainOf(chain.id).name : destination.chainId;
        console.log(`\n  ${destination.amount} ${destination.tokenSymbol} on ${name} → ${destination.receiverAddress}`);
        console.log(`  paid out in transaction ${destination.txHash}\n`);
      }
      return;
    }
    if (performance.now() - began_ms > follow_ms) fail(`still ${payment.status} after ${follow_ms / 60_000} minutes`);
    await sleep(poll_ms);
  }
}

function bar(status: PaymentStatus): string {
  const last = wayToPayout.length - 1;
  const reached = status === 'payment_completed' ? last : wayToPayout.indexOf(status);
  return reached < 0 ? '✗'.padEnd(last + 1) : '█'.repeat(reached + 1).padEnd(last + 1, '░');
}

function fail(message: string): never {
  console.error(`\n  ${message}\n`);
  process.exit(1);
}
