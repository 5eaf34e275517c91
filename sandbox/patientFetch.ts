import { setTimeout as sleep } from 'node:timers/promises';

/** About a minute of retries with pauses of a second: a slow machine that starts several programs at once needs half of that. */
const triesMax = 60;
const waitMax_s = 10;

/**
 * Retries an unavailable service after its Retry-After: a 503 means that nothing was done.
 * @returns the answer, which is still a 503 after the last attempt
 */
export async function patientFetch(url: string, init: RequestInit = {}): Promise<Response> {
  for (let tries = 1; ; tries += 1) {
    const response = await fetch(url, init);
    const wait_s = Number(response.headers.get('retry-after') ?? Number.NaN);
    if (response.status !== 503 || Number.isNaN(wait_s) || tries === triesMax) return response;
    await response.body?.cancel();
    await sleep(Math.min(wait_s, waitMax_s) * 1_000);
  }
}
