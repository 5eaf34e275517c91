/** Operators who move USDC by CCTP and USDT by USDT0 between the treasury's accounts. Some moves need a second operator, and some are cancelled. */
import { isRefusal } from '../../../domain/decider.ts';
import { type Rebalance, rebalanceStanding } from '../../../domain/rebalance/rebalance.ts';
import type { Random, SimulatedChain } from '../kernel/ports.ts';
import { theRun } from '../kernel/run.ts';
import { askUntilAnswered } from './ask.ts';
import type { Watched } from './invariants.ts';
import type { Api, Instance } from './service.ts';

export interface Movers {
  /** True once each move is decided, and each ordered one has arrived or is cancelled. */
  done(): boolean;
}

interface WantedMove {
  readonly from: SimulatedChain;
  readonly to: SimulatedChain;
  readonly asset: 'USDC' | 'USDT';
  readonly amount: string;
  readonly isFast: boolean;
  readonly isCancelled: boolean;
  outcome: 'open' | 'decided' | 'refused';
}

const movesMost = 3;
const wantedWithin_ms = 40_000;
const decidedWithin_ms = 4_000;

interface World {
  /** False: nothing is moved. */
  readonly active: boolean;
  readonly chains: readonly SimulatedChain[];
  readonly instances: readonly Instance[];
  readonly watched: Pick<Watched, 'moves'>;
}

export function startMovers(random: Random, { active, chains, instances, watched }: World): Movers {
  const { agenda, note } = theRun();
  const ends = chains.filter(({ cctp, usdt0 }) => cctp && usdt0);
  const count = active && ends.length > 1 ? 1 + random.below(movesMost) : 0;
  const wanted = Array.from({ length: count }, (_, at): WantedMove => {
    const from = random.pick(ends as [SimulatedChain]);
    const to = random.pick(ends.filter((each) => each !== from) as [SimulatedChain]);
    const isCancelled = random.below(4) === 0;
    const asset = random.pick(['USDC', 'USDT'] as const);
    // Polygon has no fast burns.
    const isFast = asset === 'USDC' && from.chainId !== 137 && random.below(2) === 0;
    return { from, to, asset, amount: `${150 + random.below(300)}.${10 + at}`, isFast, isCancelled, outcome: 'open' };
  });

  const ask = (what: string, call: (api: Api) => Promise<object>, then: (answer: object) => void): void =>
    askUntilAnswered(instances, what, call, (answer) => {
      if (isRefusal(answer) && ['unavailable', 'conflict'].includes(answer.refused)) return false;
      note(`${what}: ${isRefusal(answer) ? `${answer.refused} ${answer.message}` : 'done'}`);
      then(answer);
      return true;
    });

  function order(move: WantedMove): void {
    const { from, to, asset, amount, isFast } = move;
    const ends = { chain: String(from.chainId), towards: String(to.chainId) };
    const asked = { ...ends, asset, amount, fast: isFast, reason: 'simulated' };
    ask(
      `move of ${amount} ${asset} to ${to.chainId}`,
      (api) => api.move(asked),
      (answer) => {
        if (isRefusal(answer)) move.outcome = 'refused';
        else agenda.after(random.below(decidedWithin_ms), () => decide(move, (answer as { id: string }).id));
      },
    );
  }

  /** A signed move is not cancelled, and an approval is refused where none is needed. */
  function decide(move: WantedMove, id: string): void {
    const approve = () =>
      ask(
        `approve move ${id}`,
        (api) => api.approveMove(id),
        () => {
          move.outcome = 'decided';
        },
      );
    if (move.isCancelled) ask(`cancel move ${id}`, (api) => api.cancelMove(id), approve);
    else approve();
  }

  for (const move of wanted) agenda.after(random.below(wantedWithin_ms), () => order(move));
  const isOver = (state: Rebalance | null) =>
    state === null || ['done', 'calledOff'].includes(rebalanceStanding(state));
  return { done: () => wanted.every(({ outcome }) => outcome !== 'open') && [...watched.moves.values()].every(isOver) };
}
