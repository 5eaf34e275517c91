/** Payers who omit the memo, and operators who assign such money to a payment or order its refund, and call some refunds off. */
import { chainOf, findToken } from '../../../domain/chains.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { transferId } from '../../../domain/payment/events.ts';
import type { UnmatchedState } from '../../../domain/unmatched.ts';
import type { Random, SimulatedChain } from '../kernel/ports.ts';
import { theRun } from '../kernel/run.ts';
import { askUntilAnswered } from './ask.ts';
import type { Order } from './customers.ts';
import type { Watched } from './invariants.ts';
import type { StrayRefund } from './refundRequest.ts';
import type { Api, Instance } from './service.ts';

export interface StrayMoney {
  readonly refunds: readonly StrayRefund[];
  /** True once all stray money is recorded and decided. */
  done(): boolean;
}

const transfersMost = 3;
const paidWithin_ms = 30_000;
const poll_ms = 2_000;
const calledOffWithin_ms = 6_000;
/** Smallest units of a token with 7 decimals. */
const least = 5n * 10n ** 7n;
const unknownMemo = '4711471147';

interface World {
  readonly active: boolean;
  readonly chains: readonly SimulatedChain[];
  readonly orders: readonly Order[];
  readonly instances: readonly Instance[];
  readonly watched: Pick<Watched, 'unmatched' | 'payments'>;
}

type Money = NonNullable<UnmatchedState>;

export function startStrayMoney(random: Random, { active, chains, orders, instances, watched }: World): StrayMoney {
  const { agenda, note } = theRun();
  const chain = active ? chains.find(({ family }) => family === 'stellar') : undefined;
  const token = 'USDC';
  const refunds: StrayRefund[] = [];
  const decided = new Map<string, 'open' | 'decided'>();
  const calledOff = new Set<string>();
  const count = chain ? 1 + random.below(transfersMost) : 0;
  let paid = 0;

  function pay(to: SimulatedChain): void {
    paid += 1;
    note(`stray money is paid on chain ${to.chainId}`);
    to.pay({
      ...{ address: to.treasury, memo: random.below(2) === 0 ? null : unknownMemo },
      ...{ tokenAddress: addressOf(to, token), amount: least + BigInt(random.below(10 ** 8)) },
    });
  }

  const ask = (id: string, call: (api: Api) => Promise<unknown>, then: (answer: unknown) => void): void =>
    askUntilAnswered(instances, `stray ${id}`, call, (answer) => {
      const refused = isRefusal(answer as object) ? (answer as { refused: string }).refused : null;
      if (refused === 'unavailable' || refused === 'conflict') return false;
      note(`stray ${id}: ${refused ?? 'done'}`);
      then(answer);
      return true;
    });

  function decide(on: SimulatedChain, id: string): void {
    decided.set(id, 'open');
    const own = orders.flatMap(({ payment }) => payment?.terms.paymentId ?? []);
    const [paymentId] = own;
    if (paymentId !== undefined && random.below(3) === 0)
      ask(
        id,
        (api) => api.matchUnmatched(id, random.pick(own as [string])),
        (answer) => {
          if (isRefusal(answer as object)) refund(on, id);
          else decided.set(id, 'decided');
        },
      );
    else refund(on, id);
  }

  function refund(on: SimulatedChain, id: string): void {
    const receiver = on.receiver();
    refunds.push({ chain: on, transferId: id, receiver });
    ask(
      id,
      (api) => api.refundUnmatched(id, { to: receiver, reason: 'paid without a memo' }),
      () => {
        decided.set(id, 'decided');
        if (calledOff.has(id) || random.below(2) === 0) return;
        calledOff.add(id);
        agenda.after(random.below(calledOffWithin_ms), () => callOff(on, id));
      },
    );
  }

  /** Money of a refund that was called off is open again: it goes to another receiver. */
  function callOff(on: SimulatedChain, id: string): void {
    decided.set(id, 'open');
    ask(
      id,
      (api) => api.callOffRefund({ kind: 'unmatchedRefund', id, part: 1 }),
      (answer) => {
        if (isRefusal(answer as object)) decided.set(id, 'decided');
        else refund(on, id);
      },
    );
  }

  function poll(on: SimulatedChain): void {
    for (const state of watched.unmatched.values()) {
      const id = state && transferId(state.transfer);
      if (id && isOpen(state) && !decided.has(id)) decide(on, id);
    }
    agenda.after(poll_ms, () => poll(on));
  }

  if (chain) {
    for (let left = count; left > 0; left -= 1) agenda.after(random.below(paidWithin_ms), () => pay(chain));
    agenda.after(poll_ms, () => poll(chain));
  }
  return {
    refunds,
    done: () =>
      paid === count &&
      watched.unmatched.size >= count &&
      [...decided.values()].every((each) => each === 'decided') &&
      decided.size === watched.unmatched.size,
  };
}

function addressOf({ chainId }: SimulatedChain, symbol: string): string {
  const token = findToken(chainOf(chainId), symbol);
  if (!token) throw new Error(`chain ${chainId} has no ${symbol}`);
  return token.address;
}

const isOpen = ({ verdict }: Money): boolean => verdict.kind === 'open';
