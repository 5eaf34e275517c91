/** LayerZero's verifiers and executors: they verify each message of USDT0 on its destination, and deliver it late, twice, or again after a fork. */
import type { OftMessage, Random, SimulatedChain } from '../kernel/ports.ts';
import { theRun } from '../kernel/run.ts';

const every_ms = 3_000;
/** Time in which a transaction of a stranger is mined. */
const mined_ms = 30_000;
const lateMost_ms = 90_000;

/** Does nothing in worlds with fewer than two chains of USDT0. */
export function startExecutors(random: Random, chains: readonly SimulatedChain[]): void {
  const { agenda, note } = theRun();
  const served = chains.flatMap((chain) => (chain.usdt0 ? { ...chain.usdt0, chainId: chain.chainId } : []));
  if (served.length < 2) return;
  /** Time of the next step, by the id of a message. */
  const next_ms = new Map<string, number>();

  function advance(message: OftMessage): void {
    const destination = served.find(({ chainId }) => chainId === message.to);
    if (!destination) return;
    const { best, final } = destination.stageOf(message);
    // A fork may forget a delivery that is not final.
    if (final === 'delivered' || best === 'delivered') return;
    const { guid } = message;
    const wait_ms = next_ms.get(guid);
    if (wait_ms === undefined && random.below(3) === 0) {
      next_ms.set(guid, agenda.now_ms() + random.below(lateMost_ms));
      return;
    }
    if (agenda.now_ms() < (wait_ms ?? 0)) return;
    next_ms.set(guid, agenda.now_ms() + mined_ms);
    note(`message ${guid} is ${best}`);
    if (best === 'unverified') {
      destination.verify(message);
      return;
    }
    destination.deliver(message);
    // An executor and a stranger deliver at the same time: one transaction fails.
    if (random.below(3) === 0) destination.deliver(message);
  }

  function round(): void {
    for (const { sent } of served) for (const message of sent()) advance(message);
    agenda.after(every_ms, round);
  }
  agenda.after(every_ms, round);
}
