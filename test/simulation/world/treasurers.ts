/** Operators who withdraw money of the treasury: some withdrawals need a second operator, and some are called off. */

import { isRefusal } from '../../../domain/decider.ts';
import { coinAddress } from '../../../domain/money.ts';
import type { Random, SimulatedChain } from '../kernel/ports.ts';
import { theRun } from '../kernel/run.ts';
import { askUntilAnswered } from './ask.ts';
import type { Api, Instance } from './service.ts';

/** A withdrawal that an operator wants: it has a receiver of its own. */
export interface WantedWithdrawal {
  readonly chain: SimulatedChain;
  readonly receiver: string;
  readonly asset: string;
  readonly amount: string;
  /** An operator tries to call it off. */
  readonly isCalledOff: boolean;
  /** Id of the operation; null until it is ordered. */
  id: string | null;
  outcome: 'open' | 'ordered' | 'refused';
}

export interface Treasurers {
  readonly withdrawals: readonly WantedWithdrawal[];
  /** True once each withdrawal is decided. */
  done(): boolean;
}

const withdrawalsMost = 3;
const wantedWithin_ms = 60_000;
const decidedWithin_ms = 4_000;
const amounts: readonly [string, ...string[]] = ['12.50', '90', '250', '310'];

interface World {
  /** False: nothing is withdrawn. */
  readonly active: boolean;
  readonly chains: readonly SimulatedChain[];
  readonly instances: readonly Instance[];
}

export function startTreasurers(random: Random, { active, chains, instances }: World): Treasurers {
  const { agenda, note } = theRun();
  const count = active ? 1 + random.below(withdrawalsMost) : 0;
  const withdrawals = Array.from({ length: count }, (): WantedWithdrawal => {
    const chain = random.pick(chains as [SimulatedChain]);
    const isCoin = chain.family === 'evm' && random.below(4) === 0;
    return {
      ...{ chain, receiver: chain.receiver(), asset: isCoin ? coinAddress : 'USDC' },
      ...{ amount: isCoin ? '0.01' : random.pick(amounts), isCalledOff: random.below(4) === 0 },
      ...{ id: null, outcome: 'open' },
    };
  });

  const ask = (wanted: WantedWithdrawal, what: string, call: (api: Api) => Promise<unknown>, then: () => void): void =>
    askUntilAnswered(instances, `${what} ${wanted.receiver}`, call, (answer) => {
      if (isRefusal(answer as object) && isPassing(answer)) return false;
      note(`${what} ${wanted.receiver}: ${isRefusal(answer as object) ? JSON.stringify(answer) : 'done'}`);
      then();
      return true;
    });

  function begin(wanted: WantedWithdrawal): void {
    const place = { chain: String(wanted.chain.chainId), address: wanted.receiver };
    ask(
      wanted,
      'address',
      (api) => api.addAddress({ ...place, label: 'the bank' }),
      () => order(wanted),
    );
  }

  function order(wanted: WantedWithdrawal): void {
    const { chain, receiver, asset, amount } = wanted;
    const asked = { chain: String(chain.chainId), asset, amount, to: receiver, reason: 'simulated' };
    askUntilAnswered(
      instances,
      `withdraw to ${receiver}`,
      (api) => api.withdraw(asked),
      (answer) => {
        if (isRefusal(answer)) {
          if (isPassing(answer)) return false;
          note(`withdraw to ${receiver}: ${answer.refused} ${answer.message}`);
          wanted.outcome = 'refused';
          return true;
        }
        note(`withdraw to ${receiver}: ${answer.id}`);
        wanted.id = answer.id;
        agenda.after(random.below(decidedWithin_ms), () => decide(wanted, answer.id));
        return true;
      },
    );
  }

  /** Approval is refused where none is needed, and a signed operation is not called off. */
  function decide(wanted: WantedWithdrawal, id: string): void {
    const decided = () => {
      wanted.outcome = 'ordered';
    };
    if (wanted.isCalledOff)
      ask(
        wanted,
        'call off',
        (api) => api.callOffOperation(id),
        () => approve(wanted, id, decided),
      );
    else approve(wanted, id, decided);
  }

  const approve = (wanted: WantedWithdrawal, id: string, decided: () => void): void =>
    ask(wanted, 'approve', (api) => api.approve(id), decided);

  for (const wanted of withdrawals) agenda.after(random.below(wantedWithin_ms), () => begin(wanted));
  return { withdrawals, done: () => withdrawals.every(({ outcome }) => outcome !== 'open') };
}

/** The store or a node does not answer now: the operator repeats the command. */
const isPassing = (answer: unknown): boolean =>
  ['unavailable', 'conflict'].includes((answer as { refused: string }).refused);
