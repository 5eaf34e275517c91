/** A node that pushes foreign payments on Solana, in a separate thread: run by solanaDetection.ts. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { base58 } from '@scure/base';
import { WebSocketServer } from 'ws';

export interface OthersPaying {
  readonly perSecond: number;
  readonly seconds: number;
}

const { perSecond, seconds } = workerData as OthersPaying;
/** Slots per second; the notifications of a slot are sent at once. */
const slotsPerSecond = 2.5;
const perSlot = perSecond / slotsPerSecond;
/** Receivers such as exchanges and pools, which get every second payment. */
const known = Array.from({ length: 1_000 }, () => randomBytes(32));

const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
await once(server, 'listening');
server.on('connection', (socket) => {
  let left = seconds * slotsPerSecond;
  const going = setInterval(() => {
    for (let told = 0; told < perSlot; told += 1)
      socket.send(notification(told % 2 === 0 ? randomBytes(32) : (known[told % known.length] ?? randomBytes(32))));
    left -= 1;
    if (left > 0) return;
    clearInterval(going);
    parentPort?.postMessage('told');
  }, 1_000 / slotsPerSecond);
});
parentPort?.postMessage((server.address() as AddressInfo).port);

/** A notification in a node's spelling. */
function notification(owner: Buffer): string {
  const data = Buffer.concat([randomBytes(32), owner, randomBytes(101)]).toString('base64');
  const account = `{"lamports":2039280,"data":["${data}","base64"],"owner":"TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA","executable":false,"rentEpoch":18446744073709551615,"space":165}`;
  const value = `{"pubkey":"${base58.encode(randomBytes(32))}","account":${account}}`;
  return `{"jsonrpc":"2.0","method":"programNotification","params":{"result":{"context":{"slot":391234567},"value":${value}},"subscription":24040}}`;
}
