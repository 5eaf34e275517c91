/** A late answer does not mean that the node has ended: it shares the processor with everything that starts. An ended node refuses the connection at once. */
const answer_ms = 20_000;

/** Calls a local node once over JSON-RPC: checks that the recorded one still runs. @returns undefined without an answer */
export async function askNode(rpcUrl: string, method: string, params?: object): Promise<unknown> {
  try {
    const response = await fetch(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, ...(params && { params }) }),
      signal: AbortSignal.timeout(answer_ms),
    });
    const { result } = (await response.json()) as { result?: unknown };
    return result;
  } catch {
    return undefined;
  }
}
