/** Merchants who order payments, and customers who pay them: mostly as they should. */
import type { NewPayment } from '../../../commands/createPayment.ts';
import type { Chain } from '../../../domain/chains.ts';
import { chainOf } from '../../../domain/chains.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { formatAmount } from '../../../domain/money.ts';
import type { Payment } from '../../../domain/payment/state.ts';
import type { Random, SimulatedChain } from '../kernel/ports.ts';
import { theRun } from '../kernel/run.ts';
import { askUntilAnswered } from './ask.ts';
import { appId, type Instance } from './service.ts';

/** One order of a merchant, with any outcome. */
export interface Order {
  readonly orderId: string;
  readonly source: SimulatedChain;
  readonly destination: SimulatedChain;
  readonly receiver: string;
  /** In smallest units of the source token. */
  readonly amount: bigint;
  /** When each part of it is paid, in percent. */
  readonly parts: readonly { readonly percent: number; readonly wait_ms: number }[];
  payment: Payment | null;
  /** Buyer who pays it. */
  readonly buyer: number;
  /** Another chain that the payment offers, and how its payer uses the offer; null where it offers none. */
  readonly other: { readonly chain: SimulatedChain; readonly use: Use } | null;
}

/** The payer ignores the other source, pays from it, chooses it and pays from the first one, or pays from both. */
type Use = 'ignored' | 'paid' | 'chosen' | 'both';
const uses: readonly [Use, ...Use[]] = ['ignored', 'paid', 'paid', 'paid', 'chosen', 'both'];

export interface Customers {
  readonly orders: readonly Order[];
  /** True if all orders are placed and paid. */
  done(): boolean;
}

const orderWithin_ms = 8_000;
const payWithin_ms = 8_000;

/** A customer's way of paying: parts of the requested amount. */
type Way = readonly number[];
const usual: readonly [Way, ...Way[]] = [[100], [100], [100], [100], [100], [100], [40, 60], [100, 100], [120]];
/** Underpaid or unpaid payments end after an hour: such worlds are few. */
const short: readonly [Way, ...Way[]] = [[100], [100], [60], []];
const shortWorlds = 100;
/** Overpayment, in time or late: refundable money. */
const over: readonly [Way, ...Way[]] = [[100], [120], [150], [100, 100], [40, 90], [100, 30, 40]];

interface Ordering {
  readonly chains: readonly SimulatedChain[];
  readonly instances: readonly Instance[];
  readonly count: number;
  /** True if most of them overpay. */
  readonly overpay: boolean;
  /** The chain that all of them are paid out on; null: each order has its own. */
  readonly together: SimulatedChain | null;
  /** Returns a buyer's account on a chain. Default: another account each time. */
  readonly payerOf?: ((source: SimulatedChain, buyer: number) => string) | undefined;
  /** Pays by an authorization, and reports when nothing more is sent; false if the payer pays by a transfer. */
  readonly signs?: ((order: Order, payment: Payment, ended: () => void) => boolean) | undefined;
  /** Decides what payers do with other sources. Default: payments have one source. */
  readonly choices?: Random | undefined;
}

export function startCustomers(
  random: Random,
  { chains, instances, count, overpay, together, payerOf, signs, choices }: Ordering,
): Customers {
  const { agenda, note } = theRun();
  let open = 0;
  const paid = random.below(shortWorlds) === 0 ? short : usual;
  const ways = overpay ? over : paid;
  const orders = Array.from({ length: count }, (_, at): Order => {
    const [source, drawn] = [random, random].map((chance) => chance.pick(chains as [SimulatedChain]));
    const destination = together ?? drawn;
    return {
      orderId: `order-${at}`,
      source: source as SimulatedChain,
      destination: destination as SimulatedChain,
      receiver: (destination as SimulatedChain).receiver(),
      amount: cents(chainOf((source as SimulatedChain).chainId), 500 + random.below(2_000)),
      parts: random.pick(ways).map((percent) => ({ percent, wait_ms: 500 + random.below(payWithin_ms) })),
      payment: null,
      buyer: at,
      other: choices ? otherOf(choices, chains, source as SimulatedChain) : null,
    };
  });

  const ended = (): void => {
    open -= 1;
  };

  const order = (each: Order): void =>
    askUntilAnswered(
      instances,
      each.orderId,
      (api) => api.create(requestOf(each)),
      (created) => {
        if (isRefusal(created)) {
          note(`${each.orderId} is refused: ${created.refused} ${created.message}`);
          return false;
        }
        each.payment = created.payment;
        note(`${each.orderId} is payment ${created.payment.terms.paymentId}`);
        if (signs?.(each, created.payment, ended)) return true;
        if (each.other && each.other.use !== 'ignored') choose(each, created.payment, each.other.chain);
        else pay(each, created.payment, each.source, each.amount);
        return true;
      },
    );

  /** The payer gets the address on the other chain, and the amount there. */
  function choose(each: Order, payment: Payment, chain: SimulatedChain): void {
    const { paymentId } = payment.terms;
    askUntilAnswered(
      instances,
      `choice of ${paymentId}`,
      (api) => api.choose(paymentId, { chainId: chain.chainId, tokenSymbol: 'USDC' }),
      (answer) => {
        if (isRefusal(answer)) {
          note(`chain ${chain.chainId} for ${paymentId} is refused: ${answer.refused} ${answer.message}`);
          if (answer.refused === 'unavailable' || answer.refused === 'conflict') return false;
          pay(each, payment, each.source, each.amount);
          return true;
        }
        note(`${paymentId} is to be paid from chain ${chain.chainId}`);
        const costs = answer.sources.find(({ chainId }) => chainId === chain.chainId)?.amount ?? null;
        const [isFirst, isOther] = [each.other?.use !== 'paid', each.other?.use !== 'chosen'];
        if (isFirst && isOther) open += 1;
        if (isFirst) pay(each, payment, each.source, each.amount);
        if (isOther) pay(each, answer, chain, BigInt(costs ?? 0));
        return true;
      },
    );
  }

  function pay({ parts, buyer }: Order, payment: Payment, source: SimulatedChain, amount: bigint): void {
    const deposit = payment.deposits[source.family] ?? payment.terms.deposit;
    const token = chainOf(source.chainId).tokens[0];
    const from = payerOf?.(source, buyer);
    if (!token) throw new Error(`chain ${source.chainId} has no token`);
    for (const { percent, wait_ms } of parts) {
      agenda.after(wait_ms, () => {
        note(`${percent} % of ${payment.terms.paymentId} is paid`);
        source.pay({
          address: deposit.address,
          memo: deposit.memo,
          tokenAddress: token.address,
          amount: (amount * BigInt(percent)) / 100n,
          ...(from !== undefined && { from }),
        });
      });
    }
    agenda.after(Math.max(0, ...parts.map(({ wait_ms }) => wait_ms)) + 1, () => {
      open -= 1;
    });
  }

  for (const each of orders) {
    open += 1;
    agenda.after(random.below(orderWithin_ms), () => order(each));
  }
  return { orders, done: () => open === 0 };
}

function otherOf(random: Random, chains: readonly SimulatedChain[], source: SimulatedChain): Order['other'] {
  const others = chains.filter((chain) => chain !== source);
  return { chain: random.pick(others as [SimulatedChain]), use: random.pick(uses) };
}

function requestOf({ orderId, source, destination, receiver, amount, other }: Order): NewPayment {
  const [from, to] = [chainOf(source.chainId), chainOf(destination.chainId)];
  return {
    appId,
    orderId,
    type: 'exactIn',
    intent: null,
    display: { title: null, description: null, currency: 'USD' },
    metadata: null,
    source: { chainId: from.id, tokenSymbol: 'USDC', amount: formatAmount(amount, decimalsOf(from)) },
    destination: { chainId: to.id, tokenSymbol: 'USDC', receiverAddress: receiver },
    ...(other && { payFrom: [{ chainId: other.chain.chainId, tokenSymbol: 'USDC' }] }),
  };
}

const decimalsOf = ({ tokens }: Chain): number => tokens[0]?.decimals ?? 6;
const cents = (chain: Chain, count: number): bigint => BigInt(count) * 10n ** BigInt(decimalsOf(chain) - 2);
