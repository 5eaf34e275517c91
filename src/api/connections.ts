/** Bounds on what connections may hold before a request is there. */
import type { Server } from 'node:net';
import { type Clients, neighbourhoodOf, plainAddress } from './clients.ts';
import { createPlaceShares } from './placeShares.ts';

export interface ConnectionLimits {
  /** Open connections; further ones are closed at once. */
  readonly connectionsMax: number;
  /** The same of one address, and less where few are free; a trusted proxy has only the bound on all. */
  readonly connectionsPerAddressMax: number;
  /** How long the headers of a request may take to arrive. */
  readonly headersTimeout_ms: number;
  /** How long the whole request may take, from its first byte or from the connection on. */
  readonly requestTimeout_ms: number;
}

export const defaultConnectionLimits: ConnectionLimits = {
  connectionsMax: 10_000,
  connectionsPerAddressMax: 2_000,
  headersTimeout_ms: 5_000,
  requestTimeout_ms: 10_000,
};

/** Closes connections beyond the limits as they come. */
export function limitConnections(server: Server, limits: ConnectionLimits, clients: Pick<Clients, 'isProxy'>): void {
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
