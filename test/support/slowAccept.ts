/** A TCP relay in a separate process whose connections take a second: its queue is full for a while. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { onStop } from './hooks.ts';

/** Much less than a second: the queue must have room again, also on a busy machine, when the first packet is sent again. */
const blocked_ms = 300;
/** Linux queues one connection more than the backlog, and drops the first packet of any other: it is sent again after 1 s. */
const backlog = 1;
const fillers = 3;

const program = `
const { connect, createServer } = require('node:net');
const server = createServer((socket) => {
  const target = connect(Number(process.argv[1]), '127.0.0.1');
  for (const [from, to] of [[socket, target], [target, socket]]) from.on('error', () => to.destroy()).pipe(to);
});
server.listen({ port: 0, host: '127.0.0.1', backlog: ${backlog} }, () => process.send(server.address().port));
process.on('message', () => process.send('blocked', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${blocked_ms})));
`;

export interface SlowAccept {
  readonly port: number;
  /** The next connections take about a second. */
  block(): Promise<void>;
}

/** @param target port on 127.0.0.1 that it relays to */
export async function startSlowAccept(target: number): Promise<SlowAccept> {
  const child: ChildProcess = spawn(process.execPath, ['-e', program, String(target)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const sockets: Socket[] = [];
  onStop(() => {
    for (const socket of sockets) socket.destroy();
    child.kill();
  });
  const [port] = (await once(child, 'message')) as [number];
  return {
    port,
    async block() {
      const blocked = once(child, 'message');
      child.send('block');
      await blocked;
      for (let n = 0; n < fillers; n += 1) {
        const socket = connect(port, '127.0.0.1').on('error', () => {});
        sockets.push(socket);
        if (n < fillers - 1) await once(socket, 'connect');
      }
    },
  };
}
