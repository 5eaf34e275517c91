/** Changes the weather of a running node from another process. */
import type { Weather, WeatherChange } from './quirks.ts';

/** @returns the active quirks @throws Error for unknown quirks */
export const changeWeather = (url: string, change: WeatherChange): Promise<Weather> =>
  ask(url, 'weather_change', [change]) as Promise<Weather>;

/** Number of calls per method. */
export const weatherCalls = (url: string): Promise<Readonly<Record<string, number>>> =>
  ask(url, 'weather_calls', []) as Promise<Readonly<Record<string, number>>>;

async function ask(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } };
  if (error) throw new Error(error.message);
  return result;
}
