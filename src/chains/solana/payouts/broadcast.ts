/** Sends what is signed, until a node has it. */
import { type ChainNode, RpcFailed } from '../../node/jsonRpc.ts';
import { type ChainRpc, sendToAll } from '../../node/nodes.ts';

const method = 'sendTransaction';

/** Refusals of a transaction that has landed, or whose blockhash is too old. What became of it its fate tells. */
const resolvedElsewhere = /already been processed|AlreadyProcessed|blockhash not found|BlockhashNotFound/i;
/** The node is behind, or misses a slot: it cannot tell. */
const unhealthy: ReadonlySet<number | undefined> = new Set([-32005, -32016]);

/** Sent bytes to remember. Beyond that all are forgotten and take a preflight once more, which does no harm. */
const rememberedMax = 10_000;

/**
 * Sends bytes with a preflight, which tells what would fail, until a node has taken them. From then on without: a preflight calls a
 * transaction that the node knows already a failure. Nodes do not send again by themselves; the worker does.
 * @returns a function that throws ChainUnavailable, BroadcastRefused as `sendToAll` does
 */
export function createBroadcast(rpc: ChainRpc): (bytes: string) => Promise<void> {
  const taken = new Set<string>();
  return async (bytes) => {
    const skipPreflight = taken.has(bytes);
    await sendToAll(rpc, (node) => sendTo(node, bytes, skipPreflight));
    if (taken.size >= rememberedMax) taken.clear();
    taken.add(bytes);
  };
}

async function sendTo(node: ChainNode, bytes: string, skipPreflight: boolean): Promise<void> {
  const config = { encoding: 'base64', skipPreflight, preflightCommitment: 'confirmed', maxRetries: 0 };
  try {
    await node.request(method, [bytes, config]);
  } catch (error) {
    if (!(error instanceof RpcFailed) || error.kind !== 'refused') throw error;
    if (unhealthy.has(error.code)) throw new RpcFailed(node.name, method, 'unreachable', error.detail, error.code);
    if (!resolvedElsewhere.test(error.detail)) throw error;
  }
}
