import { type HttpTransport, http } from 'viem';

/** It bounds a hang and nothing else: a local chain computes beside everything else of its machine, and what asks it has no deadline. */
const patience_ms = 120_000;

/** To a local EVM chain. Asking again after a shorter wait would mine, or send, a second time what was only slow. */
export const localRpc = (url: string | undefined): HttpTransport => http(url, { timeout: patience_ms });
