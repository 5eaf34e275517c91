/** Tries each method that the service calls on a node, so an operator finds a missing one before a payer does. */
import { type ChainNode, isSwitchedOff, type RpcCall, RpcFailed } from './jsonRpc.ts';

export interface MethodProbe extends RpcCall {
  /** Every node refuses these parameters, for example an invalid transaction. The probe only shows that the method is served. */
  readonly refusedAnyway?: true;
}

/**
 * Calls the methods one after the other.
 *
 * @returns text for an operator
 * @throws RpcFailed that lists each unserved method with the node's answer
 */
export async function tryMethods(node: ChainNode, probes: readonly MethodProbe[]): Promise<string> {
  const failures: RpcFailed[] = [];
  for (const probe of probes) {
    const failure = await failureOf(node, probe);
    if (failure) failures.push(failure);
  }
  const [first, ...others] = failures;
  if (first === undefined) return `all ${probes.length}`;
  const more = others.map(({ method, kind, detail }) => `; ${method} ${kind}: ${detail}`).join('');
  throw new RpcFailed(node.name, first.method, first.kind, `${first.detail}${more}`, first.code);
}

async function failureOf(
  node: ChainNode,
  { method, params, refusedAnyway }: MethodProbe,
): Promise<RpcFailed | undefined> {
  try {
    await node.request(method, params);
    return undefined;
  } catch (error) {
    if (!(error instanceof RpcFailed)) throw error;
    const isServed = error.kind === 'refused' && !isSwitchedOff({ code: error.code, words: error.detail });
    return refusedAnyway && isServed ? undefined : error;
  }
}
