/** The embedded node's Unix socket, and its connection string: `esdb+unix:///data/eventstore/socket`. */
import { join } from 'node:path';

const scheme = 'esdb+unix://';
/** What `sockaddr_un` holds everywhere, without the zero at its end. */
const pathMost_bytes = 103;

export const socketIn = (dataDir: string): string => join(dataDir, 'socket');

export const socketUrl = (path: string): string => `${scheme}${encodeURI(path)}`;

/** Null for a connection string of another kind. */
export const socketOf = (url: string): string | null =>
  url.startsWith(scheme) ? decodeURI(url.slice(scheme.length)) : null;

/** @throws RangeError */
export function mustFit(path: string): void {
  const length = Buffer.byteLength(path);
  if (length <= pathMost_bytes) return;
  throw new RangeError(
    `the event store's socket ${path} has a path of ${length} bytes, the system takes ${pathMost_bytes}: choose a shorter DATA_DIR`,
  );
}
