/** Checks that moves between the treasury's accounts are on the chains as the log has them: sent = arrived + in transit. */
import { burnableOn, cctpContracts } from '../../../domain/rebalance/cctp.ts';
import { transitOf } from '../../../domain/rebalance/inTransit.ts';
import { type Rebalance, type RebalanceState, rebalanceStanding } from '../../../domain/rebalance/rebalance.ts';
import { counterpartyOn, isUsdt0Chain, sendableOn } from '../../../domain/rebalance/usdt0.ts';
import type { SimulatedChain, TrueTransfer } from '../kernel/ports.ts';
import { Violation } from './violation.ts';

interface Logged {
  readonly moves: ReadonlyMap<string, RebalanceState>;
}

const nobody = `0x${'0'.repeat(40)}`;
const isEqual = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

/** Transfers between the treasury and the contracts that move its tokens. */
function movedOn({ chainId, truth, treasury }: SimulatedChain) {
  const [usdc, usdt] = [burnableOn(chainId), sendableOn(chainId)];
  if (!isUsdt0Chain(chainId) || !usdc || !usdt) return { sent: [], arrived: [] };
  const locked = counterpartyOn(chainId);
  const is = (token: string, one: string, another: string) => (each: TrueTransfer) =>
    isEqual(each.tokenAddress, token) && isEqual(each.from, one) && isEqual(each.to, another);
  const all = truth.transfers();
  const moved = (isOfUsdc: (each: TrueTransfer) => boolean, isOfUsdt: (each: TrueTransfer) => boolean) =>
    all.filter((each) => isOfUsdc(each) || isOfUsdt(each));
  return {
    sent: moved(is(usdc.address, treasury, cctpContracts.minter), is(usdt.address, treasury, locked)),
    arrived: moved(is(usdc.address, nobody, treasury), is(usdt.address, locked, treasury)),
  };
}

const attemptsOf = ({ burn }: Rebalance): ReadonlySet<string> =>
  new Set(burn.attempts.map(({ signed }) => signed.hash));
const sumOf = (transfers: readonly Pick<TrueTransfer, 'amount'>[]): bigint =>
  transfers.reduce((sum, { amount }) => sum + amount, 0n);

/** Holds at any moment: one send of a move is mined at most, and the log has nothing in transit that is not sent. @throws Violation */
export function checkSends(chain: SimulatedChain, { moves }: Logged): void {
  if (!chain.usdt0 || moves.size === 0) return;
  const { sent } = movedOn(chain);
  for (const [id, state] of moves) {
    if (state?.ordered.from.chainId !== chain.chainId) continue;
    const own = attemptsOf(state);
    if (sent.filter(({ txHash }) => own.has(txHash)).length > 1)
      throw new Violation('oneSend', `two sends of rebalance ${id} are mined on chain ${chain.chainId}`);
    const { burned, minted, fee, inTransit } = transitOf(state);
    if (burned !== minted + fee + inTransit)
      throw new Violation('sentArrives', `rebalance ${id}: ${burned} left, ${minted} arrived, ${inTransit} in transit`);
  }
}

/** Holds at the end: each move has arrived once with its whole amount, or is cancelled and sent nothing. @throws Violation */
export function checkMoves(chains: readonly SimulatedChain[], { moves }: Logged): void {
  const counted = new Set<string>();
  for (const [id, state] of moves) {
    if (!state) continue;
    const { ordered, minted } = state;
    const [source, destination] = [ordered.from, ordered.to].map(({ chainId }) => {
      const chain = chains.find((each) => each.chainId === chainId);
      return chain ? movedOn(chain) : { sent: [], arrived: [] };
    });
    const isDone = rebalanceStanding(state) === 'done';
    const own = attemptsOf(state);
    const sent = sumOf(source?.sent.filter(({ txHash }) => own.has(txHash)) ?? []);
    const arrivals = destination?.arrived.filter(({ txHash }) => txHash === minted?.hash) ?? [];
    const expected = isDone ? BigInt(ordered.amount) : 0n;
    const { fee } = transitOf(state);
    if (sent !== expected || sumOf(arrivals) + fee !== expected)
      throw new Violation(
        'movedAsSaid',
        `rebalance ${id} (${rebalanceStanding(state)}) says ${expected}, the chains ${sent} and ${sumOf(arrivals)} with a fee of ${fee}`,
      );
    const place = `${ordered.to.chainId} ${minted?.hash}`;
    if (minted && counted.has(place)) throw new Violation('movedAsSaid', `${place} counts for two rebalances`);
    counted.add(place);
  }
  for (const chain of chains) {
    const { sent, arrived } = movedOn(chain);
    const stated = (end: 'from' | 'to') =>
      [...moves.values()]
        .filter((state) => state?.minted && state.ordered[end].chainId === chain.chainId)
        .reduce(
          (sum, state) => sum + (end === 'to' ? (state?.minted?.received ?? 0n) : BigInt(state?.ordered.amount ?? 0)),
          0n,
        );
    if (sumOf(sent) !== stated('from') || sumOf(arrived) !== stated('to'))
      throw new Violation(
        'movedAsSaid',
        `chain ${chain.chainId} sent ${sumOf(sent)} and received ${sumOf(arrived)}, the log says ${stated('from')} and ${stated('to')}`,
      );
  }
}
