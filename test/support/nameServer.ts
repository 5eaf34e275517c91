/** A name server that gives every name the same addresses (RFC 1035, one question per message). */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { onStop } from './hooks.ts';

const types = { A: 1, AAAA: 28 } as const;

/**
 * @param addresses A as dotted digits, AAAA as 32 hex digits
 * @returns `address:port` of the server
 */
export async function startNameServer(addresses: Record<keyof typeof types, readonly string[]>): Promise<string> {
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const questionEnd = query.indexOf(0, 12) + 5;
    const type = query.readUInt16BE(questionEnd - 4);
    const found =
      type === types.A
        ? addresses.A.map((address) => Buffer.from(address.split('.').map(Number)))
        : addresses.AAAA.map((address) => Buffer.from(address, 'hex'));
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(found.length, 6);
    header.writeUInt32BE(0, 8);
    const records = found.map((bytes) => {
      const record = Buffer.alloc(12);
      record.writeUInt16BE(0xc00c, 0); // the name: as in the question
      record.writeUInt16BE(type, 2);
      record.writeUInt16BE(1, 4);
      record.writeUInt32BE(60, 6);
      record.writeUInt16BE(bytes.length, 10);
      return Buffer.concat([record, bytes]);
    });
    socket.send(Buffer.concat([header, query.subarray(12, questionEnd), ...records]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onStop(() => void socket.close());
  return `127.0.0.1:${socket.address().port}`;
}
