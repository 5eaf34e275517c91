/** Operators who move treasury tokens to its account on another chain: a bridge receives the money here and pays it there. */
import { chainOf, findToken } from '../../../domain/chains.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { parseAmount } from '../../../domain/money.ts';
import type { CustomerPayment, Random, SimulatedChain, TrueTransfer } from '../kernel/ports.ts';
import { theRun } from '../kernel/run.ts';
import { askUntilAnswered } from './ask.ts';
import type { Watched } from './invariants.ts';
import type { Api, Instance } from './service.ts';
import type { WantedRebalance } from './wantedRebalance.ts';

export interface Rebalancers {
  readonly rebalances: readonly WantedRebalance[];
  /** True once the money of each one has arrived. */
  done(): boolean;
}

const rebalancesMost = 2;
const wantedWithin_ms = 40_000;
const decidedWithin_ms = 4_000;
const poll_ms = 3_000;
/** Polls until the bridge treats its transfer as lost: two minutes. */
const pollsMost = 40;
const symbol = 'USDC';

type Money = Pick<CustomerPayment, 'tokenAddress' | 'amount'>;

interface World {
  /** False: nothing is moved. */
  readonly active: boolean;
  readonly chains: readonly SimulatedChain[];
  readonly instances: readonly Instance[];
  readonly watched: Pick<Watched, 'operations'>;
}

export function startRebalancers(random: Random, { active, chains, instances, watched }: World): Rebalancers {
  const { agenda, note } = theRun();
  // On Stellar the treasury's account accepts deposits too: money without a memo belongs to a payer there.
  const ends = chains.filter(({ family }) => family !== 'stellar');
  const count = active && ends.length > 0 ? 1 + random.below(rebalancesMost) : 0;
  const rebalances = Array.from({ length: count }, (_, at): WantedRebalance => {
    const towards = random.pick(ends as [SimulatedChain]);
    const chain = random.pick(chains.filter((each) => each !== towards) as [SimulatedChain]);
    return {
      ...{ chain, towards, receiver: chain.receiver(), amount: `${150 + random.below(200)}.${10 + at}` },
      ...{ id: null, hash: null, outcome: 'open' },
    };
  });

  const ask = (wanted: WantedRebalance, what: string, call: (api: Api) => Promise<unknown>, then: () => void): void =>
    askUntilAnswered(instances, `${what} ${wanted.receiver}`, call, (answer) => {
      const refused = isRefusal(answer as object) ? (answer as { refused: string; message: string }) : null;
      if (refused && isPassing(refused.refused)) return false;
      note(`${what} ${wanted.receiver}: ${refused ? `${refused.refused} ${refused.message}` : 'done'}`);
      then();
      return true;
    });

  function order(wanted: WantedRebalance): void {
    const { chain, towards, receiver, amount } = wanted;
    const asked = {
      ...{ chain: String(chain.chainId), towards: String(towards.chainId), asset: symbol, amount, to: receiver },
      reason: 'simulated',
    };
    askUntilAnswered(
      instances,
      `rebalance by ${receiver}`,
      (api) => api.withdraw(asked),
      (answer) => {
        if (isRefusal(answer) && isPassing(answer.refused)) return false;
        note(`rebalance by ${receiver}: ${isRefusal(answer) ? `${answer.refused} ${answer.message}` : answer.id}`);
        if (isRefusal(answer)) {
          wanted.outcome = 'refused';
          return true;
        }
        wanted.id = answer.id;
        const { id } = answer;
        // Approval is refused where none is needed.
        agenda.after(random.below(decidedWithin_ms), () =>
          ask(
            wanted,
            'approve',
            (api) => api.approve(id),
            () => agenda.after(poll_ms, () => bridge(wanted, id)),
          ),
        );
        return true;
      },
    );
  }

  /** The bridge pays once the money is final. */
  function bridge(wanted: WantedRebalance, id: string): void {
    const { towards, amount } = wanted;
    if (!watched.operations.get(id)?.leg.settled) {
      agenda.after(poll_ms, () => bridge(wanted, id));
      return;
    }
    const token = findToken(chainOf(towards.chainId), symbol);
    const units = token && parseAmount(amount, token.decimals);
    if (!token || typeof units !== 'bigint') throw new Error(`${amount} is no amount of ${symbol}`);
    pay(wanted, id, { tokenAddress: token.address, amount: units });
  }

  /** A fork can forget the bridge's transfer: then the bridge pays again. */
  function pay(wanted: WantedRebalance, id: string, money: Money): void {
    const { towards, amount } = wanted;
    note(`the bridge pays ${amount} to the treasury on chain ${towards.chainId}`);
    towards.pay({ address: towards.treasury, memo: null, ...money });
    agenda.after(poll_ms, () => awaitArrival(wanted, id, money, pollsMost));
  }

  function awaitArrival(wanted: WantedRebalance, id: string, money: Money, left: number): void {
    const { truth, treasury } = wanted.towards;
    const isOurs = ({ to, amount }: TrueTransfer) =>
      to.toLowerCase() === treasury.toLowerCase() && amount === money.amount;
    const found = truth.transfers().find((each) => isOurs(each) && each.block <= truth.final());
    if (found) {
      wanted.hash = found.txHash;
      record(wanted, id, found.txHash);
    } else if (left === 0 && !truth.transfers().some(isOurs)) pay(wanted, id, money);
    else agenda.after(poll_ms, () => awaitArrival(wanted, id, money, Math.max(0, left - 1)));
  }

  /** Nodes that lag do not return the transaction yet: the operator repeats the command. */
  function record(wanted: WantedRebalance, id: string, hash: string): void {
    askUntilAnswered(
      instances,
      `arrival of ${id}`,
      (api) => api.arrived(id, hash),
      (answer) => {
        const refused = isRefusal(answer as object) ? (answer as { refused: string; message: string }) : null;
        note(`arrival of ${id}: ${refused ? `${refused.refused} ${refused.message}` : 'done'}`);
        if (refused) return false;
        wanted.outcome = 'arrived';
        return true;
      },
    );
  }

  for (const wanted of rebalances)
    agenda.after(random.below(wantedWithin_ms), () =>
      ask(
        wanted,
        'address of the bridge',
        (api) => api.addAddress({ chain: String(wanted.chain.chainId), address: wanted.receiver, label: 'the bridge' }),
        () => order(wanted),
      ),
    );
  return { rebalances, done: () => rebalances.every(({ outcome }) => outcome !== 'open') };
}

/** The store or a node does not answer now: the operator repeats the command. */
const isPassing = (refused: string): boolean => ['unavailable', 'conflict'].includes(refused);
