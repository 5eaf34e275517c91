/** Calls of local nodes over JSON-RPC. */

/** A late answer does not mean that the node has ended: it shares the processor with everything that starts. An ended node refuses the connection at once. */
const answer_ms = 30_000;

/** Calls a local node once. @throws Error with the node's refusal, or without an answer */
export async function callNode<T>(rpcUrl: string, method: string, params?: object): Promise<T> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, ...(params && { params }) }),
    signal: AbortSignal.timeout(answer_ms),
  });
  const { result, error } = (await response.json()) as { result?: T; error?: { message: string } };
  if (result === undefined) throw new Error(`${method} on ${rpcUrl}: ${error?.message ?? response.status}`);
  return result;
}

/** Calls a local node once: checks that the recorded one still runs. @returns undefined without a result */
export const askNode = (rpcUrl: string, method: string, params?: object): Promise<unknown> =>
  callNode(rpcUrl, method, params).catch(() => undefined);
