import { setTimeout as sleep } from 'node:timers/promises';
import { type HttpTransport, http } from 'viem';

/** Bounds only a hang: a local chain shares its machine with everything else, and its callers have no deadline. */
const patience_ms = 120_000;
const retry_ms = 200;
const triesMax = patience_ms / retry_ms;

/** For a local EVM chain. A retry after a shorter wait would mine or send twice if the first call was only slow. */
export function localRpc(url: string | undefined): HttpTransport {
  const transport = http(url, { timeout: patience_ms });
  return (options) => {
    const opened = transport(options);
    const request: typeof opened.request = async (call, settings) => {
      for (let tries = 1; ; tries += 1) {
        try {
          return await opened.request(call, settings);
        } catch (error) {
          // A geth that has just started finds no transactions yet.
          if (tries === triesMax || !/indexing is in progress/.test(String(error))) throw error;
          await sleep(retry_ms);
        }
      }
    };
    return { ...opened, request };
  };
}
