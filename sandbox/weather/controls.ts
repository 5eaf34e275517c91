/** Changes the weather of a running node from another process. */
import { callNode } from '../askNode.ts';
import type { Weather, WeatherChange } from './quirks.ts';

/** @returns the active quirks @throws Error for unknown quirks */
export const changeWeather = (url: string, change: WeatherChange): Promise<Weather> =>
  callNode(url, 'weather_change', [change]);

/** Number of calls per method. */
export const weatherCalls = (url: string): Promise<Readonly<Record<string, number>>> =>
  callNode(url, 'weather_calls', []);
