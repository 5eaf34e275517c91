/** A JSON-RPC proxy in front of a real node that also forwards batches, and can lag, lie or fail. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { wireRequest } from '../../src/chains/node/jsonRpc.ts';
import { onStop } from '../support/hooks.ts';

export type Ask = (method: string, params: readonly unknown[]) => Promise<unknown>;
/** Answers a call itself, or forwards it (changed or not). Throw `Refusal` for a JSON-RPC error. */
export type Behaviour = (method: string, params: readonly unknown[], forward: Ask) => Promise<unknown>;

export class Refusal extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface NodeProxy {
  readonly url: string;
  /** Calls answered, by method. */
  readonly calls: Map<string, number>;
  behave(behaviour: Behaviour): void;
}

interface Asked {
  readonly id: number;
  readonly method: string;
  readonly params?: readonly unknown[] | null;
}

export const honest: Behaviour = (method, params, forward) => forward(method, params);
export const broken: Behaviour = () => Promise.reject(new Error('down'));

export async function startProxy(upstream: string, first: Behaviour = honest): Promise<NodeProxy> {
  let behaviour = first;
  const calls = new Map<string, number>();
  const forward: Ask = async (method, params) => {
    const response = await fetch(upstream, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(wireRequest(1, { method, params })),
    });
    const answer = (await response.json()) as { result?: unknown; error?: { code: number; message: string } };
    if (answer.error) throw new Refusal(answer.error.code, answer.error.message);
    return answer.result;
  };

  const answerTo = async ({ id, method, params: given }: Asked) => {
    const params = given ?? [];
    calls.set(method, (calls.get(method) ?? 0) + 1);
    try {
      const result = await (method === 'eth_chainId' ? forward(method, []) : behaviour(method, params, forward));
      return { jsonrpc: '2.0', id, result };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { jsonrpc: '2.0', id, error: { code: error.code, message: error.message } };
    }
  };

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const asked = JSON.parse(Buffer.concat(chunks).toString()) as Asked | readonly Asked[];
    try {
      const answers = await Promise.all([asked].flat().map(answerTo));
      response.end(JSON.stringify(Array.isArray(asked) ? answers : answers[0]));
    } catch {
      response.destroy();
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onStop(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    behave: (next) => {
      behaviour = next;
    },
  };
}
