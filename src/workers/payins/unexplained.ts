/** Reads deposits by themselves whose balance a scan could not explain: none of them holds up another one, its chain or any other payment. */
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
  /** Noted under this worker's name, due and not left to an operator. */
  readonly due: (max: number, now: Instant) => Promise<readonly SetAside[]>;
  /** Told each time that it was read in vain. */
  readonly alarm: (address: string) => void;
}

/** Where it is listed. queries/work.ts knows the name: the end of the deposit's own payment waits while it is tried. */
export const unexplainedName = (chainId: ChainId): string => `payins:${chainId}:unexplained`;

class Unexplained extends Error {
  override readonly name = 'Unexplained';
}

/** What is found is recorded, whether it adds up or not; the deposit stays noted until it does. Reading it again changes nothing. */
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
