import type { IncomingMessage } from 'node:http';

const here = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/;
const hereOrigin = /^https?:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/;

/**
 * True if a request is from a program or a page of this machine. A page on the internet sends its own origin, or uses its own name for this
 * machine: it must not drive a developer's sandbox.
 */
export const isFromHere = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean =>
  here.test(headers.host ?? '') && (headers.origin === undefined || hereOrigin.test(headers.origin));
