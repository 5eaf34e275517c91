/** A node as distant as a rented one: everything sent to it, by HTTP or WebSocket, arrives half a round trip later. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface FarNode {
  /** URL of the node, with this proxy's port. */
  readonly url: string;
  stop(): Promise<void>;
}

export async function openFarNode(nodeUrl: string, roundTrip_ms: number): Promise<FarNode> {
  const { hostname, port, protocol } = new URL(nodeUrl);
  const open = new Set<Socket>();
  const server = createServer((caller) => {
    const node = connect(Number(port), hostname);
    for (const [from, to] of [
      [caller, node],
      [node, caller],
    ] as const) {
      open.add(from);
      from.setNoDelay();
      from.on('data', (bytes) => void setTimeout(() => to.write(bytes), roundTrip_ms / 2));
      from.on('error', () => to.destroy());
      from.on('close', () => {
        open.delete(from);
        setTimeout(() => to.destroy(), roundTrip_ms / 2);
      });
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `${protocol}//127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
