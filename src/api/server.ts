import { createServer, type Server } from 'node:http';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import type { Express } from 'express';
import { type ErrorCode, errorType, problem, statusOfError } from './errors.ts';
import { createPlaceShares } from './news.ts';
import { type Clients, neighbourhoodOf, plainAddress } from './rateLimits.ts';

// Limits on connections before a request exists.

export interface ConnectionLimits {
  /** Open connections; further ones are closed at once. */
  readonly connectionsMax: number;
  /** Maximum open connections per address, less if few are free; a trusted proxy only has the total limit. */
  readonly connectionsPerAddressMax: number;
  /** Timeout for the headers of a request. */
  readonly headersTimeout_ms: number;
  /** Timeout for the whole request, from its first byte or from the connection on. */
  readonly requestTimeout_ms: number;
}

export const defaultConnectionLimits: ConnectionLimits = {
  connectionsMax: 10_000,
  connectionsPerAddressMax: 2_000,
  headersTimeout_ms: 5_000,
  requestTimeout_ms: 10_000,
};

/** Closes connections beyond the limits on arrival. */
export function limitConnections(server: NetServer, limits: ConnectionLimits, clients: Pick<Clients, 'isProxy'>): void {
  const { connectionsMax, connectionsPerAddressMax } = limits;
  const shares = createPlaceShares({ placesMax: connectionsMax, perCallerMax: connectionsPerAddressMax });
  server.maxConnections = connectionsMax;
  server.on('connection', (socket) => {
    const address = plainAddress(socket.remoteAddress ?? '');
    if (clients.isProxy(address)) return;
    const giveBack = shares.take(neighbourhoodOf(address));
    if (giveBack) socket.once('close', giveBack);
    else socket.destroy();
  });
}

export interface HttpServer {
  /** Listening address, without a trailing slash. */
  readonly url: string;
  /** Refuses new connections, lets requests in progress finish, then ends the rest. */
  close(): Promise<void>;
}

/** Longer than a balancer's usual 60 s, so the balancer closes idle connections first. */
const keepAlive_ms = 65_000;
export const headersMax_bytes = 16 * 1024;
/** Allows for a requested webhook: ten seconds for its receiver, and two to record the outcome. */
const drainMax_ms = 12_000;
const drainStep_ms = 50;
/** Interval of timeout checks for connections. */
const checkConnections_ms = 1_000;

export class CannotListen extends Error {
  override readonly name = 'CannotListen';
  constructor({ host, port, setBy }: Listening, cause: NodeJS.ErrnoException) {
    const why = cause.code === 'EADDRINUSE' ? 'is taken by another process' : `cannot be used (${cause.message})`;
    super(`port ${port} on ${host} ${why}: free it or set ${setBy.join(' and ')}`, { cause });
  }
}

export interface Listening {
  /** 0 chooses a free port. */
  readonly port: number;
  readonly host: string;
  /** Variables that configure port and host. */
  readonly setBy: readonly [string, string];
  readonly clients: Pick<Clients, 'isProxy'>;
  readonly connections?: ConnectionLimits;
}

/** @throws CannotListen */
export async function startHttp(app: Express, listening: Listening): Promise<HttpServer> {
  const { port, host, clients, connections = defaultConnectionLimits } = listening;
  const server = createServer(
    {
      requestTimeout: connections.requestTimeout_ms,
      headersTimeout: Math.min(connections.headersTimeout_ms, connections.requestTimeout_ms),
      connectionsCheckingInterval: checkConnections_ms,
      keepAliveTimeout: keepAlive_ms,
      maxHeaderSize: headersMax_bytes,
      // The app checks it, and answers in the API's error format.
      requireHostHeader: false,
    },
    app,
  );
  limitConnections(server, connections, clients);
  // Ignores expectations other than 100-continue, as the standard allows.
  server.on('checkExpectation', app);
  server.on('clientError', (error, socket) => answerBrokenRequest(error, socket as Socket));
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(new CannotListen(listening, error)));
    server.listen(port, host, resolve);
  });
  const { address, port: taken, family } = server.address() as AddressInfo;
  const name = family === 'IPv6' ? `[${address}]` : address;
  return { url: `http://${name}:${taken}`, close: () => drain(server) };
}

function drain(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const idle = setInterval(() => server.closeIdleConnections(), drainStep_ms);
    const enough = setTimeout(() => server.closeAllConnections(), drainMax_ms);
    server.close(() => {
      clearInterval(idle);
      clearTimeout(enough);
      resolve();
    });
    server.closeIdleConnections();
  });
}

type BrokenRequest = NodeJS.ErrnoException & { readonly rawPacket?: Uint8Array };

/** A malformed HTTP request never reaches the app. It gets the same error format. */
function answerBrokenRequest(error: BrokenRequest, socket: Socket): void {
  const busy = (socket as Socket & { _httpMessage?: { headersSent: boolean } })._httpMessage;
  if (!socket.writable || error.code === 'ECONNRESET' || busy?.headersSent) return void socket.destroy();
  const [code, message] = broken[error.code ?? ''] ?? notHttp;
  const packet = Buffer.from(error.rawPacket ?? []).toString('latin1', 0, headersMax_bytes);
  const requestId = crypto.randomUUID();
  const body = JSON.stringify(problem(code, message, requestId));
  const lines = [
    `HTTP/1.1 ${statusOfError(code)} Error`,
    `Content-Type: ${errorType(acceptIn(packet))}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${packet.startsWith('HEAD ') ? '' : body}`);
}

/** Accept header, as far as it arrived before the request broke. */
const acceptIn = (packet: string): string | undefined => /^accept:(.*)$/im.exec(packet)?.[1];

const notHttp: readonly [ErrorCode, string] = ['invalidRequest', 'this is no well-formed HTTP/1.1 request'];
const broken: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  HPE_HEADER_OVERFLOW: ['headersTooLarge', `the headers are larger than ${headersMax_bytes} bytes together`],
  ERR_HTTP_REQUEST_TIMEOUT: ['requestTimeout', 'the request did not arrive in time: send it again'],
};
