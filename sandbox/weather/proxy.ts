/** A node as the real world has them: a proxy before a local chain, with quirks that can be switched on and off while it runs. */
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ChainFamily } from '../../domain/chains.ts';
import { isFromHere } from '../fromHere.ts';
import { requestBody } from '../requestBody.ts';
import { RpcError } from '../rpcError.ts';
import { type Call, fieldsOf, type HttpReply, jsonHeaders, listOf, type Params } from './call.ts';
import { createEffects, type Passage } from './effects.ts';
import type { Weather, WeatherChange } from './quirks.ts';
import { passSockets } from './sockets.ts';
import { createUpstream } from './upstream.ts';

export interface WeatherNodeOptions {
  /** URL of the local chain. */
  readonly rpcUrl: string;
  /** URL of its WebSockets. Default: none. */
  readonly wsUrl?: string | undefined;
  readonly family: ChainFamily;
  readonly weather?: Weather;
  /** Seed of random behaviour: equal seeds and calls have equal results. */
  readonly seed?: string;
  /** Default: a free one. */
  readonly port?: number;
}

export interface WeatherNode {
  readonly url: string;
  readonly wsUrl: string;
  change(change: WeatherChange): void;
  inForce(): Weather;
  /** Calls received, by method. */
  readonly calls: Map<string, number>;
  /** Ends all WebSockets. */
  cutSockets(): void;
  stop(): Promise<void>;
}

const host = '127.0.0.1';
const bodyBytesMax = 1024 * 1024;
const keepAlive_ms = 60_000;

export async function startWeatherNode(options: WeatherNodeOptions): Promise<WeatherNode> {
  const { rpcUrl, wsUrl, family, weather = {}, seed = 'calm', port = 0 } = options;
  const chain = createUpstream(rpcUrl);
  const effects = createEffects({ family, chain, now: Date.now }, seed);
  effects.change(weather);
  const calls = new Map<string, number>();

  const controls: Readonly<Record<string, (params: Params) => unknown>> = {
    weather_change(params) {
      effects.change(fieldsOf(listOf(params)[0]));
      return effects.inForce();
    },
    weather_calls: () => Object.fromEntries(calls),
  };

  async function reply(text: string): Promise<HttpReply> {
    const sent: unknown = JSON.parse(text);
    const asked = [sent].flat().map(callOf);
    const control = Array.isArray(sent) ? undefined : controls[asked[0]?.method ?? ''];
    if (control) return answerTo(asked[0], (call) => Promise.resolve().then(() => control(call.params)));
    for (const { method } of asked) calls.set(method, (calls.get(method) ?? 0) + 1);
    const passage = effects.begin(asked);
    return passage.send(() => (Array.isArray(sent) ? answerAll(asked, passage) : answerTo(asked[0], passage.ask)));
  }

  const server = createServer({ keepAliveTimeout: keepAlive_ms }, async (request, response) => {
    try {
      if (!isFromHere(request)) return send(response, { status: 403, headers: jsonHeaders, body: '{}' });
      const body = await requestBody(request, bodyBytesMax);
      if (body === undefined) return send(response, { status: 413, headers: jsonHeaders, body: '{}' });
      send(response, await reply(body));
    } catch {
      // Neither JSON nor an answer of the chain: the connection ends.
      response.destroy();
    }
  });
  const sockets = wsUrl === undefined ? undefined : passSockets(server, wsUrl);
  server.listen(port, host);
  await once(server, 'listening');
  const at = (server.address() as AddressInfo).port;
  return {
    url: `http://${host}:${at}`,
    wsUrl: `ws://${host}:${at}`,
    change: effects.change,
    inForce: effects.inForce,
    calls,
    cutSockets: () => sockets?.cut(),
    async stop() {
      sockets?.cut();
      await close(server);
      chain.close();
    },
  };
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

function callOf(sent: unknown): Call {
  const { id = null, method, params } = fieldsOf(sent);
  const given = typeof params === 'object' && params !== null ? (params as Params) : [];
  return { id, method: String(method), params: given };
}

async function answerAll(calls: readonly Call[], { ask }: Passage): Promise<HttpReply> {
  const answers = await Promise.all(calls.map((call) => answerOf(call, ask)));
  return { status: 200, headers: jsonHeaders, body: JSON.stringify(answers) };
}

async function answerTo(call: Call | undefined, ask: Passage['ask']): Promise<HttpReply> {
  const answer = call && (await answerOf(call, ask));
  return { status: 200, headers: jsonHeaders, body: JSON.stringify(answer ?? []) };
}

async function answerOf(call: Call, ask: Passage['ask']): Promise<object> {
  const { id } = call;
  try {
    return { jsonrpc: '2.0', id, result: (await ask(call)) ?? null };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    const { code, message, data } = error;
    return { jsonrpc: '2.0', id, error: { code, message, ...(data !== undefined && { data }) } };
  }
}

function send(response: ServerResponse, { status, headers, body, cutAfter_bytes }: HttpReply): void {
  const bytes = Buffer.from(body);
  response.writeHead(status, { ...headers, 'content-length': bytes.length });
  if (cutAfter_bytes === undefined) return void response.end(bytes);
  response.write(bytes.subarray(0, cutAfter_bytes), () => response.destroy());
}
