/** Calls the local chain behind the proxy. */

import { once } from 'node:events';
import http from 'node:http';
import { wireRequest } from '../../src/chains/node/jsonRpc.ts';
import { RpcError } from '../rpcError.ts';
import { type Ask, type Fields, fieldsOf } from './call.ts';

const socketsMax = 32;

/** The chain gave no answer at all: callers see their connection end. */
export class NoChain extends Error {
  override readonly name = 'NoChain';
}

/** @throws RpcError with the chain's refusal, NoChain without an answer */
export function createUpstream(url: string): Ask & { close(): void } {
  const agent = new http.Agent({ keepAlive: true, maxSockets: socketsMax });

  const ask: Ask = async (method, params) => {
    const { result, error } = await post(JSON.stringify(wireRequest(1, { method, params })));
    if (error === undefined) return result ?? null;
    const { code, message, data } = fieldsOf(error);
    throw new RpcError(Number(code), String(message), data);
  };

  async function post(body: string): Promise<Fields> {
    try {
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
      const request = http.request(url, { method: 'POST', agent, headers }).end(body);
      const [response] = (await once(request, 'response')) as [http.IncomingMessage];
      return fieldsOf(JSON.parse(Buffer.concat(await response.toArray()).toString('utf8')));
    } catch (cause) {
      throw new NoChain(`no answer from ${url}`, { cause });
    }
  }

  return Object.assign(ask, { close: () => agent.destroy() });
}
