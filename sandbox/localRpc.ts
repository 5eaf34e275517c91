import { type HttpTransport, http } from 'viem';

/** Bounds only a hang: a local chain shares its machine with everything else, and its callers have no deadline. */
const patience_ms = 120_000;

/** For a local EVM chain. A retry after a shorter wait would mine or send twice if the first call was only slow. */
export const localRpc = (url: string | undefined): HttpTransport => http(url, { timeout: patience_ms });
