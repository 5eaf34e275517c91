/** A node that answers late is not ended for it: it computes beside all that starts. One that has gone refuses at once. */
const answer_ms = 20_000;

/** Calls a local node once over JSON-RPC: checks that the recorded one still runs. @returns undefined without an answer */
export async function askNode(rpcUrl: string, method: string): Promise<unknown> {
  try {
    const response = await fetch(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method }),
      signal: AbortSignal.timeout(answer_ms),
    });
    const { result } = (await response.json()) as { result?: unknown };
    return result;
  } catch {
    return undefined;
  }
}
