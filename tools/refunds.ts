/** `npm run refunds -- …`: held money of payments: amounts, refund addresses, and the operator's order of a refund. */

import { Command, InvalidArgumentError } from 'commander';
import { currentState } from '../commands/handle.ts';
import type { AskedRefund, Refunds } from '../commands/refunds.ts';
import { chainOf, findToken } from '../domain/chains.ts';
import { isRefusal, type Refusal } from '../domain/decider.ts';
import { formatAmount, parseAmount } from '../domain/money.ts';
import { type RefundView, refundView, refundViews } from '../domain/payment/view.ts';
import { referenceOf } from '../domain/transfer/shapes.ts';
import { unmatched, unmatchedRefundsOwed } from '../domain/unmatched.ts';
import { paymentIdIn } from '../queries/payments.ts';
import { heldPayments, openRefunds, openUnmatchedRefunds } from '../queries/payouts.ts';
import type { Core } from '../src/core.ts';
import { createFailures } from '../src/postgres/failures.ts';
import {
  acceptRefund,
  buryRefund,
  callOffRefund,
  loadRefundLeg,
  type RefundByHand,
  type RefundDecided,
  type RefundKey,
  retryRefund,
} from '../src/workers/payouts/byHand.ts';
import { transfersWorkerName } from '../src/workers/payouts/worker.ts';
import { refundsOf } from '../src/workers/refunds/index.ts';
import { withCore } from './connections.ts';
import { print } from './print.ts';
import {
  addExamples,
  chainNames,
  namedChain,
  operator,
  printOutcome,
  readReason,
  refusalError,
  runProgram,
} from './program.ts';

const answer_ms = 30_000;

type Decide = (core: Core, byHand: RefundByHand) => RefundDecided;

const verbs: Readonly<Record<string, { readonly about: string; readonly decide: Decide }>> = {
  'call-off': {
    about: 'Give up a refund that cannot be sent, for example to a frozen address. Its money is held again.',
    decide: (core, byHand) => callOffRefund(core, byHand, operator()),
  },
  retry: { about: 'Retry a refund after 100 failed attempts, or after a transfer that moved no money.', decide: retry },
  accept: {
    about: 'Count a refund as settled although less than the ordered amount arrived.',
    decide: (core, byHand) => acceptRefund(core, byHand, operator()),
  },
  bury: {
    about: 'Mark all attempts as dead so that the refund is signed again. Check several explorers first.',
    decide: (core, byHand) => {
      const railOf = (chainId: Parameters<Core['chains']['get']>[0]) => core.chains.get(chainId)?.rail;
      return buryRefund({ ...core, railOf }, byHand, operator(), AbortSignal.timeout(answer_ms));
    },
  },
};

/** Parked work of it is due again. */
async function retry(core: Core, byHand: RefundByHand): RefundDecided {
  const decided = await retryRefund(core, byHand, operator());
  const leg = await loadRefundLeg(core.handle, byHand.key);
  if (isRefusal(decided) || isRefusal(leg)) return decided;
  const worker = transfersWorkerName(leg.order.chainId);
  await createFailures(core.database).unpark(worker, referenceOf(byHand.key), core.clock.now());
  return decided;
}

/** Adds the decisions about a refund that needs an operator: of a payment, or of unmatched funds. */
export function addDecisions(program: Command): void {
  for (const [name, { about, decide }] of Object.entries(verbs))
    program
      .command(`${name} <money> [refund]`)
      .description(`${about} Names a payment and the number of its refund, or the id of unmatched funds.`)
      .requiredOption('--reason <reason>', 'Reason, kept in the log', readReason)
      .action((money: string, number: string | undefined, { reason }: { reason: string }) =>
        withCore(async (core) =>
          printOutcome(
            await decide(core, { key: await keyFor(core, money, number), reason }),
            'Nothing to do: already done.',
          ),
        ),
      );
}

/** @param money a payment, or unmatched money as the lists name it. @param number omitted for unmatched money: its latest refund */
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
    throw new Error(
      `${text || 'nothing'} is not the number of a refund: list them with npm run refunds -- list <paymentId>`,
    );
  return Number(text);
}

const shownMax = 100;

async function showAll({ database }: Core): Promise<void> {
  const [open, held] = [await openRefunds(database, shownMax), await heldPayments(database, shownMax)];
  const unmatched = await openUnmatchedRefunds(database, shownMax);
  if (open.length + unmatched.length > 0) print('On their way back:');
  for (const { paymentId, refund } of open) print(`${paymentId}  ${told(refund)}`);
  for (const { id, standing, amount, tokenSymbol, chainId, receiver, txHash } of unmatched)
    print(
      `${id}  of no payment, ${standing}: ${amount} ${tokenSymbol} on ${chainOf(chainId).name} to ${receiver}${txHash === null ? '' : `, ${txHash}`}`,
    );
  if (held.length > 0) print('Payments that ended with money which is held, npm run refunds -- list <paymentId>:');
  for (const { paymentId, appId, errorCode, amountReceived } of held)
    print(`${paymentId}  ${appId}  ${errorCode}  ${amountReceived ?? ''}`);
  if (open.length + unmatched.length + held.length === 0)
    print('Nothing is held of payments that ended, and nothing is on its way back.');
  if ([open, unmatched, held].some(({ length }) => length === shownMax))
    print(`The oldest ${shownMax} of each are listed.`);
}

async function showOne(core: Core, text: string): Promise<void> {
  const refunds = refundsOf(core);
  const payment = await refunds.payment({ paymentId: known(text), appId: null });
  if (!payment) throw new Error(`paymentNotFound: no payment has the id ${text}`);
  for (const refund of refundViews(payment)) print(told(refund));
  for (const { chainId, token, amount, reason, networkFee, owners } of await refunds.held(payment)) {
    const fee = networkFee === null ? 'an unknown cost' : formatAmount(networkFee, token.decimals);
    print(
      `held: ${formatAmount(amount, token.decimals)} ${token.symbol} on ${chainOf(chainId).name} (${reason}); sending it costs ${fee}`,
    );
    for (const { sender, receiver, amount: own } of owners)
      print(
        `  ${formatAmount(own, token.decimals)} of ${sender}: ${receiver ? `goes to ${receiver.address}` : 'no address is proven, it may be an exchange'}`,
      );
  }
}

const told = ({
  refund,
  status,
  amount,
  networkFee,
  tokenSymbol,
  chainId,
  receiverAddress,
  txHash,
}: RefundView): string =>
  `refund ${refund}, ${status}: ${amount} ${tokenSymbol} on ${chainOf(chainId).name} to ${receiverAddress}, less ${networkFee} for sending it${txHash === null ? '' : `, ${txHash}`}`;

const known = (text: string): string => {
  const paymentId = paymentIdIn(text);
  if (paymentId === undefined) throw new Error(`paymentNotFound: ${text} is not a payment id`);
  return paymentId;
};

interface Asked {
  readonly all?: true;
  readonly excess?: true;
  readonly asset?: string;
  readonly amount?: string;
  readonly to?: string;
  readonly memo?: string;
  readonly reason: string;
  readonly key?: string;
  readonly dryRun?: true;
}

/** Either a scope, or an amount of one token. */
function scopeOf({ all, excess, asset, amount }: Asked): AskedRefund['scope'] {
  const stated = [all, excess, asset].filter((each) => each !== undefined);
  if (stated.length !== 1) throw new Error('State the amount: --all, --excess, or --asset with --amount');
  if (asset === undefined) {
    if (amount !== undefined) throw new Error('--amount needs --asset, such as --asset base/USDC');
    return all ? 'all' : 'excess';
  }
  const [chainText = '', symbol = ''] = asset.split('/');
  const chain = namedChain(chainText);
  if (!chain) throw new Error(`--asset must be <chain>/<token>, of ${chainNames()}`);
  const token = findToken(chain, symbol.toUpperCase());
  if (!token) throw new Error(`--asset: ${chain.name} has ${chain.tokens.map((each) => each.symbol).join(' and ')}`);
  const units = parseAmount(amount ?? '', token.decimals);
  if (typeof units === 'string' || units <= 0n)
    throw new Error(`--amount must be a decimal above 0 with at most ${token.decimals} places, such as 1.50`);
  return { chainId: chain.id, tokenAddress: token.address, amount: units };
}

async function order(core: Core, text: string, asked: Asked): Promise<void> {
  if (asked.memo !== undefined && asked.to === undefined) throw new Error('--memo needs --to');
  const refunds = refundsOf(core);
  const of = { paymentId: known(text), appId: null };
  const wanted: AskedRefund = {
    scope: scopeOf(asked),
    to: asked.to === undefined ? 'proven' : { address: asked.to, memo: asked.memo ?? null },
    by: 'operator',
    note: asked.reason,
    key: asked.key ?? null,
  };
  if (asked.dryRun) return preview(refunds, of, wanted);
  const ordered = taken(await refunds.order(of, wanted, operator()));
  for (const refund of ordered.refunds) print(told(refundView(refund)));
  print(ordered.orderedNow ? 'Ordered: the service sends it.' : 'It was ordered so already.');
}

async function preview(refunds: Refunds, of: Parameters<Refunds['preview']>[0], wanted: AskedRefund): Promise<void> {
  for (const { amount, networkFee, token, chainId, receiver } of taken(await refunds.preview(of, wanted, operator())))
    print(
      `would send ${formatAmount(amount - networkFee, token.decimals)} ${token.symbol} on ${chainOf(chainId).name} to ${receiver.address}, less ${formatAmount(networkFee, token.decimals)} for sending it`,
    );
}

function taken<T>(answer: T | Refusal): T {
  if (isRefusal(answer)) throw refusalError(answer);
  return answer;
}

const program = new Command('npm run refunds --').description('Lists, orders and repairs refunds.');

program
  .command('list [paymentId]', { isDefault: true })
  .description('List refunds and held money; for one payment, its senders and their proven addresses.')
  .action((paymentId?: string) =>
    withCore((core) => (paymentId === undefined ? showAll(core) : showOne(core, paymentId))),
  );

program
  .command('order <paymentId>')
  .description('Refund held money of a payment. The network cost is deducted.')
  .option('--all', 'Refund everything that is refundable')
  .option('--excess', 'Refund the excess over the amount due')
  .option('--asset <chain/token>', 'Token to refund, such as base/USDC')
  .option('--amount <amount>', 'Amount in whole tokens')
  .option('--to <address>', 'Receiver on the chain of the money; default: the address that the sender has proven')
  .option('--memo <memo>', 'Memo of the receiver')
  .requiredOption('--reason <reason>', 'Reason, kept in the log', readReason)
  .option('--key <key>', 'Idempotency key: repeated orders with this key have no effect', keyOf)
  .option('--dry-run', 'Print the refund without ordering it')
  .action((paymentId: string, asked: Asked) => withCore((core) => order(core, paymentId, asked)));

addDecisions(program);

function keyOf(text: string): string {
  if (text.length === 0 || text.length > 128) throw new InvalidArgumentError('Use 1 to 128 characters.');
  return text;
}

addExamples(program, {
  list: '9c2d4c1e-51e6-4a53-9a57-0d2f6d3b8a11',
  order: '9c2d4c1e-51e6-4a53-9a57-0d2f6d3b8a11 --all --reason "the buyer cancelled"',
  'call-off': '9c2d4c1e-51e6-4a53-9a57-0d2f6d3b8a11 1 --reason "the address is frozen"',
  retry: '9c2d4c1e-51e6-4a53-9a57-0d2f6d3b8a11 1 --reason "the node was repaired"',
  accept: '9c2d4c1e-51e6-4a53-9a57-0d2f6d3b8a11 1 --reason "the rest was sent by hand"',
  bury: '9c2d4c1e-51e6-4a53-9a57-0d2f6d3b8a11 1 --reason "three explorers find no transaction"',
});

await runProgram(() => program.parseAsync());
