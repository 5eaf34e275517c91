/** A node with scripted answers, and weather in front of it. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ChainFamily } from '../../../domain/chains.ts';
import { startWeatherNode, type WeatherNode } from '../../../sandbox/weather/proxy.ts';
import type { Weather } from '../../../sandbox/weather/quirks.ts';
import { onStop } from '../../support/hooks.ts';

export type Script = Readonly<Record<string, unknown | ((params: never) => unknown)>>;

/** Answer of the node over HTTP. */
export interface Got {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly result: unknown;
  readonly error: { readonly code: number; readonly message: string } | undefined;
}

export interface ScriptedWeather extends WeatherNode {
  ask(method: string, params?: unknown): Promise<Got>;
  /** Returns only the result. @throws Error for a refusal */
  result(method: string, params?: unknown): Promise<unknown>;
  post(body: unknown): Promise<Got>;
}

export async function scriptedNode(script: Script): Promise<string> {
  const server = createServer(async (request, response) => {
    const { method, params = [] } = JSON.parse(Buffer.concat(await request.toArray()).toString());
    const line = script[method];
    const result = typeof line === 'function' ? line(params) : line;
    const error = { code: -32601, message: `${method} is not in the script` };
    response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...(line === undefined ? { error } : { result }) }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onStop(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export async function weatherBefore(
  family: ChainFamily,
  script: Script,
  weather: Weather,
  seed?: string,
): Promise<ScriptedWeather> {
  const node = await startWeatherNode({ rpcUrl: await scriptedNode(script), family, weather, ...(seed && { seed }) });
  onStop(() => node.stop());
  const post = async (body: unknown): Promise<Got> => {
    const response = await fetch(node.url, { method: 'POST', body: JSON.stringify(body) });
    const { status, headers } = response;
    const text = await response.text();
    const { result, error } = parsed(text);
    return { status, headers, text, result, error };
  };
  const ask = (method: string, params: unknown = []) => post({ jsonrpc: '2.0', id: 7, method, params });
  return {
    ...node,
    post,
    ask,
    async result(method, params) {
      const { result, error } = await ask(method, params);
      if (error) throw new Error(`${error.code} ${error.message}`);
      return result;
    },
  };
}

function parsed(text: string): Partial<Got> {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
