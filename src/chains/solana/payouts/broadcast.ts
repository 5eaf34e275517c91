import { sendToAll } from '../../node/agreement.ts';
import { type ChainNode, type ChainRpc, RpcFailed } from '../../node/jsonRpc.ts';

const method = 'sendTransaction';

/** Refusals of a preflight that the chain itself resolves: what they mean for the attempt is for its fate to say. */
const resolvedElsewhere = /already been processed|AlreadyProcessed|blockhash not found|BlockhashNotFound/i;
/** The node is behind, or misses a slot: it cannot tell. */
const unhealthy: ReadonlySet<number | undefined> = new Set([-32005, -32016]);

/** Bytes that were sent: beyond so many the oldest are checked anew, which does no harm. */
const rememberedMax = 10_000;

/**
 * Sends bytes until a node has taken them after a preflight, which tells what would fail; from then on as they are, for what a node
 * knows already it calls a failure. Nodes do not retry by themselves: who sends again is the worker alone.
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
