/** Before a node: notes when the service sends a transaction, and is as far away as the nodes that one rents. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Hex, keccak256 } from 'viem';

export interface SendingNode {
  readonly url: string;
  /** When a transaction was first sent; NaN for one that never was. */
  sentAt_ms(hash: string): number;
  stop(): Promise<void>;
}

interface Call {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** @param roundTrip_ms what each request takes besides */
export async function openSendingNode(rpcUrl: string, roundTrip_ms = 0): Promise<SendingNode> {
  const sentAt = new Map<string, number>();
  const note = ({ method, params: [raw] }: Call): void => {
    if (method !== 'eth_sendRawTransaction') return;
    const hash = keccak256(raw as Hex);
    sentAt.set(hash, sentAt.get(hash) ?? Date.now());
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const asked = JSON.parse(body.toString()) as Call | readonly Call[];
    for (const call of [asked].flat()) note(call as Call);
    if (roundTrip_ms > 0) await sleep(roundTrip_ms);
    const answer = await fetch(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    response
      .writeHead(answer.status, { 'content-type': 'application/json' })
      .end(Buffer.from(await answer.arrayBuffer()));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sentAt_ms: (hash) => sentAt.get(hash) ?? Number.NaN,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
