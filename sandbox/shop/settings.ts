/** The shop owner's settings: URL of the service, keys, webhook secret. Written at each start, read at each use. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from '../../src/lib/writeWhole.ts';

export interface ShopSettings {
  readonly serviceUrl: string;
  readonly appId: string;
  /** Creates and reads payments. */
  readonly ordersKey: string;
  /** Reads the feed. */
  readonly adminKey: string;
  readonly webhookSecret: string;
  /** Chains on which customers can pay. */
  readonly chains: readonly { readonly id: string; readonly name: string }[];
}

const fileIn = (folder: string) => join(folder, 'settings.json');

export const writeSettings = (folder: string, settings: ShopSettings): void =>
  writeWhole(fileIn(folder), JSON.stringify(settings));

/** Null until the service has started for the first time. */
export function readSettings(folder: string): ShopSettings | null {
  try {
    return JSON.parse(readFileSync(fileIn(folder), 'utf8')) as ShopSettings;
  } catch {
    return null;
  }
}
