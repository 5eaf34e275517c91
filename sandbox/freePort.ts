import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Below the systems' ports of outgoing connections, which can take a port between the check and its use. */
const range = { from: 20_000, to: 32_000 } as const;
const triesMax = 50;

/**
 * Returns a port of 127.0.0.1 that nobody listens on now, and neither on the `count - 1` ports above it.
 *
 * @throws Error when 50 tries found none
 */
export async function freePort(count = 1): Promise<number> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const port = randomInt(range.from, range.to);
    if (await canListenOnAll(port, count)) return port;
  }
  throw new Error(
    `no free port on 127.0.0.1 in ${triesMax} tries: end what listens between ${range.from} and ${range.to}`,
  );
}

async function canListenOnAll(port: number, count: number): Promise<boolean> {
  for (let offset = 0; offset < count; offset += 1) if (!(await canListen(port + offset))) return false;
  return true;
}

/** True if nobody listens on this port of 127.0.0.1 now. */
export async function canListen(port: number): Promise<boolean> {
  const server: Server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
