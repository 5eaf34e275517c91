/** Bounds on what connections may hold before a request is there. */
import type { Server } from 'node:http';
import { type Clients, neighbourhoodOf, plainAddress } from './clients.ts';

export interface ConnectionLimits {
  /** Open connections; further ones are closed at once. */
  readonly connectionsMax: number;
  /** The same of one address; a trusted proxy has only the bound on all. */
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
  const open = new Map<string, number>();
  server.maxConnections = limits.connectionsMax;
  server.on('connection', (socket) => {
    const address = plainAddress(socket.remoteAddress ?? '');
    if (clients.isProxy(address)) return;
    const client = neighbourhoodOf(address);
    const others = open.get(client) ?? 0;
    if (others >= limits.connectionsPerAddressMax) return void socket.destroy();
    open.set(client, others + 1);
    socket.once('close', () => {
      const left = (open.get(client) ?? 0) - 1;
      if (left > 0) open.set(client, left);
      else open.delete(client);
    });
  });
}
