/** A proxy in front of a node: records when the service sends a transaction, and is as distant as a rented node. */
import { once } from 'node:events';
import { Agent, createServer, request as httpRequest, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Hex, keccak256 } from 'viem';

export interface SendingNode {
  readonly url: string;
  /** First time that a transaction was sent; NaN if it was never sent. */
  sentAt_ms(hash: string): number;
  stop(): Promise<void>;
}

interface Call {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** @param roundTrip_ms additional duration of each request */
export async function openSendingNode(rpcUrl: string, roundTrip_ms = 0): Promise<SendingNode> {
  const sentAt = new Map<string, number>();
  const note = ({ method, params: [raw] }: Call): void => {
    if (method !== 'eth_sendRawTransaction') return;
    const hash = keccak256(raw as Hex);
    sentAt.set(hash, sentAt.get(hash) ?? Date.now());
  };
  const agent = new Agent({ keepAlive: true });
  const headers = { 'content-type': 'application/json' };
  // Nobody waits for requests of a stopping service.
  const pass = (body: Buffer, response: ServerResponse) =>
    httpRequest(rpcUrl, { method: 'POST', agent, headers: { ...headers, 'content-length': body.length } })
      .on('response', (answer) => answer.pipe(response.writeHead(answer.statusCode ?? 502, headers)))
      .on('error', () => response.destroy())
      .end(body);
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    if (body.includes('eth_sendRawTransaction')) for (const call of [JSON.parse(body.toString())].flat()) note(call);
    if (roundTrip_ms > 0) await sleep(roundTrip_ms);
    pass(body, response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sentAt_ms: (hash) => sentAt.get(hash) ?? Number.NaN,
    async stop() {
      server.closeAllConnections();
      agent.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
