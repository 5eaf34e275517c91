import type { NodeConnection } from './connection.ts';
import type { RpcFailed } from './jsonRpc.ts';
import type { Priority } from './limiter.ts';

/** While there are others, a node that takes no call for so long is left alone. */
const hurried_ms = 250;

export interface Turn {
  readonly connection: NodeConnection;
  /** Undefined: as long as the call may take. */
  readonly patience_ms?: number;
}

/**
 * The order in which nodes are asked: those that take calls, the last good one first, and without waiting for any while there are
 * others. Then those that took none, the one that takes the next call first.
 * @param preferred the place of the last good one
 * @param failures what has come of the turns before
 */
export function* turns(
  { connections, preferred }: { readonly connections: readonly NodeConnection[]; readonly preferred: number },
  priority: Priority,
  failures: ReadonlyMap<NodeConnection, RpcFailed>,
): Generator<Turn> {
  const order = [...connections.slice(preferred), ...connections.slice(0, preferred)];
  const [only, ...others] = order;
  if (only && others.length === 0) return yield { connection: only };
  const free = order.filter(({ wait_ms }) => wait_ms(priority) <= hurried_ms);
  for (const connection of free) yield { connection, patience_ms: hurried_ms };
  const left = order.filter((each) => !free.includes(each) || failures.get(each)?.kind === 'limited');
  const byWait = left.toSorted((a, b) => a.wait_ms(priority) - b.wait_ms(priority));
  for (const connection of byWait) yield { connection };
}
