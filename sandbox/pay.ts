/** `npm run pay -- <paymentId> [--amount N]`: pays as the customer on the payment's chain and follows the status until it is terminal. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { chainOf, findChain, findToken } from '../domain/chains.ts';
import { parseAmount } from '../domain/money.ts';
import { type PaymentStatus, terminalStatuses } from '../domain/payment/view.ts';
import { keepKeys, type SandboxKeys } from './keys.ts';
import { payOnEvm } from './payOnEvm.ts';
import { payOnSolana } from './payOnSolana.ts';
import { payOnStellar } from './payOnStellar.ts';
import { readSandboxFile, type SandboxFile } from './sandboxFile.ts';
import { walletLinkAt } from './walletLink.ts';

interface PublicPayment {
  readonly id: string;
  readonly status: PaymentStatus;
  readonly source: {
    readonly chainId: string;
    readonly tokenSymbol: string;
    readonly amount: string | null;
    readonly receiverAddress: string;
    readonly receiverMemo: string | null;
    readonly receiverAddressContract: string | null;
    readonly receiverMemoContract: string | null;
    readonly txHash: string | null;
  };
  readonly destination: {
    readonly chainId: string;
    readonly tokenSymbol: string;
    readonly amount: string | null;
    readonly receiverAddress: string;
    readonly txHash: string | null;
  };
}

const poll_ms = 200;
const follow_ms = 10 * 60_000;

const path: readonly PaymentStatus[] = [
  'payment_unpaid',
  'payment_started',
  'payment_payin_completed',
  'payment_bridging',
  'payment_payout_started',
  'payment_payout_completed',
];

const program = new Command('npm run pay --')
  .description('pay a payment as the sandbox’s customer and follow it')
  .argument('<paymentId>', 'the id that the create call answered')
  .option('--amount <decimal>', 'pay this much instead of what the payment asks for')
  .option('--no-follow', 'return as soon as the transfer is mined')
  .action(main);

await program.parseAsync();

async function main(paymentId: string, options: { amount?: string; follow: boolean }): Promise<void> {
  const dataDir = process.env['DATA_DIR'] ?? './data';
  const sandbox = readSandboxFile(dataDir);
  if (!sandbox) fail(`no sandbox runs on ${dataDir}: start one with npm start`);
  const payment = await fetchPayment(sandbox, paymentId);
  const hash = await pay(sandbox, keepKeys(dataDir), payment, options.amount).catch((error: Error) =>
    fail(error.message),
  );
  console.log(`  paid in transaction ${hash}\n`);
  if (options.follow) await follow(sandbox, paymentId);
}

async function pay(
  sandbox: SandboxFile,
  keys: SandboxKeys,
  { id, source }: PublicPayment,
  stated?: string,
): Promise<string> {
  const chain = findChain(source.chainId);
  const token = chain && findToken(chain, source.tokenSymbol);
  const rpcUrl = sandbox.chains[source.chainId]?.rpcUrl;
  if (!chain || !token || !rpcUrl) fail(`the sandbox has no customer on chain ${source.chainId}`);
  const text = stated ?? source.amount;
  if (text === null) fail('this payment takes any amount: say how much with --amount 12.50');
  const amount = parseAmount(text, token.decimals);
  if (typeof amount === 'string') fail(`${text} is no amount of ${token.symbol} (${token.decimals} decimals)`);
  const customer = sandbox.customer[source.chainId]?.address;
  console.log(`\n  ${text} ${token.symbol} on ${chain.name}: ${customer} → ${payeeOf(source)}`);
  const order = { ...source, token: token.address, amount };
  switch (chain.family) {
    case 'evm':
      return payOnEvm(rpcUrl, keys.customer, order);
    case 'stellar':
      return payOnStellar(rpcUrl, keys.stellar.customer, order);
    case 'solana':
      return payOnSolana(rpcUrl, keys.solana.customer, {
        ...order,
        decimals: token.decimals,
        walletLink: await walletLinkAt(await paymentLinkOf(sandbox, id), 'solana'),
      });
  }
}

function payeeOf(source: PublicPayment['source']): string {
  const { receiverAddress, receiverMemo, receiverAddressContract, receiverMemoContract } = source;
  if (receiverAddressContract !== null) return `pay() of ${receiverAddressContract}, memo ${receiverMemoContract}`;
  return receiverMemo === null ? receiverAddress : `${receiverAddress}, memo ${receiverMemo}`;
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
  const last = path.length - 1;
  const reached = status === 'payment_completed' ? last : path.indexOf(status);
  return reached < 0 ? '✗'.padEnd(last + 1) : '█'.repeat(reached + 1).padEnd(last + 1, '░');
}

function urlOf({ baseUrl }: SandboxFile, paymentId: string): string {
  return `${baseUrl}/payment-api/payments/${encodeURIComponent(paymentId)}`;
}

/** What its merchant would show the customer: it takes the key of the app that the payment belongs to. */
async function paymentLinkOf(sandbox: SandboxFile, paymentId: string): Promise<string | null> {
  for (const { ordersKey } of [sandbox.wallet, sandbox.merchant]) {
    const response = await fetch(urlOf(sandbox, paymentId), { headers: { 'X-API-Key': ordersKey } });
    const { paymentLink } = (await response.json()) as { readonly paymentLink?: string | null };
    if (response.ok && paymentLink) return paymentLink;
  }
  return null;
}

async function fetchPayment(sandbox: SandboxFile, paymentId: string): Promise<PublicPayment> {
  const response = await fetch(urlOf(sandbox, paymentId));
  const body = (await response.json()) as PublicPayment & { message?: string };
  if (!response.ok) fail(`${response.status}: ${body.message ?? 'no such payment'}`);
  return body;
}

function fail(message: string): never {
  console.error(`\n  ${message}\n`);
  process.exit(1);
}
