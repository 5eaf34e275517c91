/** Buyers who spend the credit that their payments earned, and the merchant who withdraws what buyers paid. */
import { createHash } from 'node:crypto';
import type { CashbackRequest } from '../../../commands/payByCredit.ts';
import type { ChainFamily } from '../../../domain/chains.ts';
import { messageText } from '../../../domain/credit.ts';
import { isRefusal } from '../../../domain/decider.ts';
import type { Random, SimulatedChain } from '../kernel/ports.ts';
import { theRun } from '../kernel/run.ts';
import { askUntilAnswered } from './ask.ts';
import { type Buyer, buyerOf } from './buyers.ts';
import type { Watched } from './invariants.ts';
import { appId, cashbackUrl, type Instance } from './service.ts';

/** One message that a buyer signed. */
export interface Spending {
  readonly account: string;
  readonly digest: string;
  readonly cents: bigint;
  outcome: 'open' | 'spent' | 'refused';
}

/** One withdrawal that the merchant wants. */
export interface WantedCashback {
  readonly withdrawalId: string;
  readonly cents: bigint;
  paymentId: string | null;
  outcome: 'open' | 'ordered' | 'refused';
}

export interface Credit {
  readonly spendings: readonly Spending[];
  readonly withdrawals: readonly WantedCashback[];
  /** Returns the account of a buyer on a chain. */
  payerOf(source: SimulatedChain, buyer: number): string;
  /** Starts spending and withdrawing. */
  start(instances: readonly Instance[], watched: Pick<Watched, 'credits' | 'cashbacks'>): void;
  /** True once all credit is spent that will be, and withdrawn. */
  done(): boolean;
}

const buyersPerFamily = 2;
const poll_ms = 2_000;
/** Times that a buyer spends, and that the merchant withdraws. */
const spendRounds = 3;
const withdrawRounds = 3;
const leastSpent_cents = 50n;
/** Less is not worth the fee of its payout. */
const leastWithdrawn_cents = 200n;

/** A buyer's way of spending: in one message, half of it, all of it by two concurrent messages, or more than the balance. */
type Way = readonly bigint[];
const ways: readonly [Way, ...Way[]] = [[100n], [50n], [30n], [100n, 100n], [60n, 60n], [150n]];

export function createCredit(random: Random): Credit {
  const { agenda, note } = theRun();
  const buyers = new Map<ChainFamily, readonly Buyer[]>();
  const rounds = new Map<string, number>();
  const spendings: Spending[] = [];
  const withdrawals: WantedCashback[] = [];
  let withdrawn = 0;
  let world: { instances: readonly Instance[]; watched: Pick<Watched, 'credits' | 'cashbacks'> } | null = null;

  function buyersOn(family: ChainFamily): readonly Buyer[] {
    const own =
      buyers.get(family) ??
      Array.from({ length: buyersPerFamily }, (_, at) => buyerOf(family, random.fork(`${family} ${at}`)));
    buyers.set(family, own);
    return own;
  }

  const isOpen = ({ outcome }: { readonly outcome: string }): boolean => outcome === 'open';
  const balanceOf = ({ address }: Buyer): bigint => world?.watched.credits.get(address)?.balance_cents ?? 0n;
  const canSpend = (buyer: Buyer): boolean =>
    balanceOf(buyer) >= leastSpent_cents && (rounds.get(buyer.address) ?? 0) < spendRounds;
  const canWithdraw = (): boolean => heldByMerchant() >= leastWithdrawn_cents && withdrawn < withdrawRounds;
  const heldByMerchant = (): bigint => BigInt(world?.watched.cashbacks.get(appId)?.balance_cents ?? 0);

  async function spend(buyer: Buyer, cents: bigint): Promise<void> {
    const orderId = random.below(2) === 0 ? `sale-${spendings.length}` : null;
    const message = {
      ...{ service: cashbackUrl, fromAddress: buyer.address, toHandle: appId, amountUsdCents: Number(cents) },
      ...{ timestamp_ms: Math.floor(agenda.now_ms()), amountLocal: null, currencyLocal: null, orderId },
      about: `sale ${spendings.length}`,
    };
    const text = messageText(message);
    const digest = createHash('sha256').update(text).digest('hex');
    const own: Spending = { account: buyer.address, digest, cents, outcome: 'open' };
    spendings.push(own);
    const { service: _, ...fields } = message;
    const request: CashbackRequest = { ...fields, signature: await buyer.sign(text) };
    // A shop that is not sure sends the message again.
    send(own, request);
    if (random.below(2) === 0) agenda.after(random.below(poll_ms), () => send(own, request));
  }

  function send(own: Spending, request: CashbackRequest): void {
    askUntilAnswered(
      world?.instances ?? [],
      `spending of ${own.account}`,
      (api) => api.payByCredit(request),
      (answer) => {
        const said = typeof answer === 'string' ? answer : answer.refused;
        if (said === 'unavailable' || said === 'conflict') return false;
        note(`${own.cents} cents of ${own.account}: ${said}`);
        if (own.outcome !== 'spent') own.outcome = said === 'SUCCESS' ? 'spent' : 'refused';
        return true;
      },
    );
  }

  function withdraw(own: WantedCashback): void {
    askUntilAnswered(
      world?.instances ?? [],
      own.withdrawalId,
      (api) => api.withdrawCashback({ withdrawalId: own.withdrawalId, cents: own.cents }),
      (answer) => {
        const refused = isRefusal(answer) ? answer : null;
        if (refused?.refused === 'unavailable' || refused?.refused === 'conflict') return false;
        note(
          `${own.withdrawalId} of ${own.cents} cents: ${refused ? `${refused.refused} ${refused.message}` : 'done'}`,
        );
        if (own.outcome === 'ordered') return true;
        own.outcome = refused ? 'refused' : 'ordered';
        if (!isRefusal(answer)) own.paymentId = answer.paymentId;
        return true;
      },
    );
  }

  function poll(): void {
    for (const buyer of [...buyers.values()].flat()) {
      if (!canSpend(buyer) || spendings.some((each) => each.account === buyer.address && isOpen(each))) continue;
      rounds.set(buyer.address, (rounds.get(buyer.address) ?? 0) + 1);
      const balance = balanceOf(buyer);
      for (const percent of random.pick(ways)) void spend(buyer, (balance * percent) / 100n);
    }
    if (canWithdraw() && !withdrawals.some(isOpen)) {
      withdrawn += 1;
      const held = heldByMerchant();
      // Two people of the merchant may each withdraw all of it, and one may repeat the request.
      for (let left = 1 + random.below(2); left > 0; left -= 1) {
        const own: WantedCashback = {
          ...{ withdrawalId: `out-${withdrawals.length}`, cents: held, paymentId: null, outcome: 'open' },
        };
        withdrawals.push(own);
        withdraw(own);
        if (random.below(3) === 0) agenda.after(random.below(poll_ms), () => withdraw(own));
      }
    }
    agenda.after(poll_ms, poll);
  }

  return {
    spendings,
    withdrawals,
    payerOf: ({ family }, buyer) => (buyersOn(family)[buyer % buyersPerFamily] as Buyer).address,
    start(instances, watched) {
      world = { instances, watched };
      agenda.after(poll_ms, poll);
    },
    done: () =>
      !spendings.some(isOpen) &&
      !withdrawals.some(isOpen) &&
      !canWithdraw() &&
      ![...buyers.values()].flat().some(canSpend),
  };
}
