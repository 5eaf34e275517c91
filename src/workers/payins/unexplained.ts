/**
 * Reads deposits separately whose balance a scan could not explain: none of them delays another deposit, its chain or any other payment.
 */
import type { Ingester } from '../../../commands/chainPorts.ts';
import type { ChainId } from '../../../domain/chains.ts';
import type { Instant } from '../../../domain/time.ts';
import type { Worker } from '../engine.ts';
import { handleRange, type RangeDeps } from './range.ts';

/** A deposit that was set aside. */
interface SetAside {
  /** Its address. */
  readonly key: string;
}

export interface UnexplainedDeps extends RangeDeps {
  readonly ingester: Ingester & Required<Pick<Ingester, 'readDeposit'>>;
  /** Recorded under this worker's name, due and not parked for an operator. */
  readonly due: (max: number, now: Instant) => Promise<readonly SetAside[]>;
  /** Called after each failed read. */
  readonly alarm: (address: string) => void;
}

/** Worker name under which they are listed. queries/work.ts knows the name: the deposit's own payment does not expire meanwhile. */
export const unexplainedName = (chainId: ChainId): string => `payins:${chainId}:unexplained`;

class Unexplained extends Error {
  override readonly name = 'Unexplained';
}

/** Records its findings whether or not they add up; the deposit stays listed until they do. Reading it again changes nothing. */
export function unexplainedWorker(deps: UnexplainedDeps): Worker<SetAside> {
  const { ingester, due, alarm } = deps;
  return {
    name: unexplainedName(ingester.chainId),
    concurrency: 2,
    noted: true,
    due,
    keyOf: ({ key }) => key,
    async act({ key: address }, signal) {
      const { logs, explained } = await ingester.readDeposit(address, signal);
      if (logs.length > 0) await handleRange(deps, 'final', { logs, orphaned: [] }, signal);
      if (explained) return;
      alarm(address);
      throw new Unexplained(
        `no node has the whole history of deposit ${address}: name a node with a longer history, then run npm run work -- retry`,
      );
    },
  };
}
