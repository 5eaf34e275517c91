/** Server of the signer: HTTPS that accepts only connections with a certificate of its own authority. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { TransientError } from '../../commands/ports.ts';
import { PayoutBlocked, type Signed, SigningRefused } from '../../commands/transferPorts.ts';
import type { ChainFamily } from '../../domain/chains.ts';
import type { DepositOwner } from '../chains/family.ts';
import type { Signers } from '../chains/open.ts';
import type { Notary } from './notary.ts';
import {
  messageMax_bytes,
  type OwnersWanted,
  type Refused,
  read,
  type SignerAccounts,
  type SigningRequest,
  signerPaths,
  write,
} from './protocol.ts';
import type { Tls } from './settings.ts';

/** Operations of the signer. Each throws SigningRefused, PayoutBlocked, or an error of an unavailable dependency. */
export interface Answering {
  readonly accounts: SignerAccounts;
  check(asked: SigningRequest): Promise<void>;
  sign(asked: SigningRequest): Promise<Signed>;
  depositOwners(wanted: OwnersWanted): Promise<readonly DepositOwner[]>;
  /** Receives each request with its outcome. */
  told(line: RequestLine): void;
}

export interface RequestLine {
  readonly path: string;
  /** Name in the caller's certificate. */
  readonly caller: string;
  readonly status: number;
  readonly purpose?: SigningRequest['purpose'];
  readonly refused?: Refused;
  /** Error for the operator, which the caller does not receive. */
  readonly failure?: unknown;
}

export interface SignerServer {
  readonly url: string;
  close(): Promise<void>;
}

const request_ms = 10_000;
const connectionsMax = 64;
/** Maximum connections without a certificate so far. A further one replaces the oldest: an honest handshake takes milliseconds. */
const handshakesMax = 32;

/** @throws Error if the port cannot be used */
export async function startSignerServer(
  answering: Answering,
  { host, port, tls }: { readonly host: string; readonly port: number; readonly tls: Tls },
): Promise<SignerServer> {
  const server = createServer(
    {
      ...{ ...tls, requestCert: true, rejectUnauthorized: true, minVersion: 'TLSv1.3' },
      // A connection without a certificate occupies a slot no longer than a handshake takes.
      ...{ handshakeTimeout: request_ms, requestTimeout: request_ms, connectionsCheckingInterval: request_ms },
    },
    (request, response) => void answer(answering, request, response),
  );
  server.maxConnections = connectionsMax + handshakesMax;
  boundHandshakes(server);
  // A handshake without a certificate of ours gets no answer.
  server.on('tlsClientError', (_, socket) => socket.destroy());
  const listening = Promise.withResolvers<void>();
  server.once('error', listening.reject);
  server.listen(port, host, listening.resolve);
  await listening.promise;
  return {
    url: `https://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      await closed;
    },
  };
}

/** Prevents silent connections from occupying the port: anyone who reaches it can open them without a certificate. */
function boundHandshakes(server: Server): void {
  const open = new Map<string, Socket>();
  const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
  server.on('connection', (socket: Socket) => {
    const [oldest] = open.values();
    if (open.size >= handshakesMax - 1) oldest?.destroy();
    const peer = peerOf(socket);
    open.set(peer, socket);
    socket.once('close', () => open.delete(peer));
  });
  server.on('secureConnection', (socket) => open.delete(peerOf(socket)));
}

async function answer(answering: Answering, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url ?? '';
  const socket = request.socket as import('node:tls').TLSSocket;
  const caller = String(socket.getPeerCertificate().subject?.CN ?? 'without a name');
  let purpose: SigningRequest['purpose'] | undefined;
  const send = (status: number, body: unknown, why: Pick<RequestLine, 'refused' | 'failure'> = {}): void => {
    answering.told({ path, caller, status, ...(purpose && { purpose }), ...why });
    response.writeHead(status, { 'content-type': 'application/json' }).end(write(body));
  };
  const asked = async (): Promise<SigningRequest> => {
    const parsed = read.asked(await bodyOf(request));
    ({ purpose } = parsed);
    return parsed;
  };
  try {
    switch (`${request.method} ${path}`) {
      case `GET ${signerPaths.accounts}`:
        return send(200, { accounts: answering.accounts });
      case `POST ${signerPaths.check}`:
        await answering.check(await asked());
        return send(200, {});
      case `POST ${signerPaths.sign}`: {
        const { bytes, hash } = await answering.sign(await asked());
        return send(200, { bytes, hash });
      }
      case `POST ${signerPaths.owners}`:
        return send(200, { owners: await answering.depositOwners(read.ownersWanted(await bodyOf(request))) });
      default:
        return refuse(404, { refused: 'notFound', message: 'the signer has no such path' });
    }
  } catch (error) {
    refuse(...refusalOf(error));
  }

  function refuse(status: number, refused: Refused, failure?: unknown): void {
    send(status, refused, { refused, ...(failure !== undefined && { failure }) });
  }
}

function refusalOf(error: unknown): [number, Refused, unknown?] {
  if (error instanceof SigningRefused || error instanceof PayoutBlocked)
    return [409, { refused: error.reason, message: error.message.slice(0, 2_000) }, error.cause];
  if (error instanceof RangeError) return [400, { refused: 'malformed', message: error.message.slice(0, 2_000) }];
  if (error instanceof TransientError) return [503, { refused: 'unavailable', message: error.message.slice(0, 2_000) }];
  const message = 'something that the signer stands on has failed: its log says what';
  return [503, { refused: 'failed', message }, error];
}

/** @throws RangeError for a body that is too long */
async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request) {
    length += (part as Buffer).length;
    if (length > messageMax_bytes) throw new RangeError(`the request has over ${messageMax_bytes} bytes`);
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts).toString('utf8');
}

// Operations of a signer: its notary for transfers, and addresses whose keys only it can derive.

/** Timeout for its nodes and the log per request. */
const patience_ms = 25_000;

export interface AnsweringDeps {
  readonly signers: Signers;
  readonly notary: Notary;
  /** Derives the address of a salt; null if no family has such addresses. */
  readonly ownerOf: ((salt: string) => DepositOwner) | null;
  readonly newSalt: () => string;
  readonly told: (line: RequestLine) => void;
}

export function createAnswering({ signers, notary, ownerOf, newSalt, told }: AnsweringDeps): Answering {
  return {
    accounts: [...signers].map(([family, { account }]: readonly [ChainFamily, { account: string }]) => ({
      family,
      account,
    })),
    check: (asked) => notary.check(asked, AbortSignal.timeout(patience_ms)),
    sign: (asked) => notary.sign(asked, AbortSignal.timeout(patience_ms)),
    async depositOwners(wanted) {
      if (!ownerOf) throw new RangeError('this signer has no seed that addresses are derived from');
      return ('salts' in wanted ? wanted.salts : Array.from({ length: wanted.count }, newSalt)).map(ownerOf);
    },
    told,
  };
}
