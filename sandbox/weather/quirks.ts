/** All quirks by name, the outermost first: what befalls the reply before what befalls a call, and the back ends last. */
import type { ChainFamily } from '../../domain/chains.ts';
import { RpcError } from '../rpcError.ts';
import type { Often, Quirk } from './quirk.ts';
import { balancer } from './quirks/balancer.ts';
import { batchLimit } from './quirks/batchLimit.ts';
import { clippedPage } from './quirks/clippedPage.ts';
import { cutBody } from './quirks/cutBody.ts';
import { dearTip } from './quirks/dearTip.ts';
import { disabledMethods } from './quirks/disabledMethods.ts';
import { emptyBody } from './quirks/emptyBody.ts';
import { finality } from './quirks/finality.ts';
import { historyGap } from './quirks/historyGap.ts';
import { htmlBody } from './quirks/htmlBody.ts';
import { lag } from './quirks/lag.ts';
import { logsBehind } from './quirks/logsBehind.ts';
import { missingFields } from './quirks/missingFields.ts';
import { newestBlockMissing } from './quirks/newestBlockMissing.ts';
import { nullMeta } from './quirks/nullMeta.ts';
import { nullReceipt } from './quirks/nullReceipt.ts';
import { prunedState } from './quirks/prunedState.ts';
import { rangeLimit } from './quirks/rangeLimit.ts';
import { rateLimit } from './quirks/rateLimit.ts';
import { refusedBytes } from './quirks/refusedBytes.ts';
import { shiftedLogIndex } from './quirks/shiftedLogIndex.ts';
import { shortMemory } from './quirks/shortMemory.ts';
import { silentEvents } from './quirks/silentEvents.ts';
import { sizeLimit } from './quirks/sizeLimit.ts';
import { slow } from './quirks/slow.ts';
import { syncing } from './quirks/syncing.ts';
import { unavailable } from './quirks/unavailable.ts';
import { unreadableEvent } from './quirks/unreadableEvent.ts';
import { v1Transactions } from './quirks/v1Transactions.ts';

export const quirks = {
  slow,
  cutBody,
  rateLimit,
  unavailable,
  htmlBody,
  emptyBody,
  batchLimit,
  disabledMethods,
  syncing,
  finality,
  rangeLimit,
  sizeLimit,
  clippedPage,
  nullReceipt,
  shiftedLogIndex,
  nullMeta,
  historyGap,
  newestBlockMissing,
  v1Transactions,
  missingFields,
  silentEvents,
  unreadableEvent,
  shortMemory,
  dearTip,
  prunedState,
  refusedBytes,
  logsBehind,
  lag,
  balancer,
} as const;

export type QuirkName = keyof typeof quirks;

type SettingsOf<Q> = Q extends Quirk<infer Settings> ? Settings : never;

/** The quirks of one node, each with its settings. */
export type Weather = { readonly [Name in QuirkName]?: SettingsOf<(typeof quirks)[Name]> & Often };

/** A change of it: null switches a quirk off. */
export type WeatherChange = { readonly [Name in QuirkName]?: Weather[Name] | null };

export const quirkNames = Object.keys(quirks) as readonly QuirkName[];

/** @throws RpcError for an unknown quirk, or one that the family's nodes do not have */
export function checkWeather(weather: object, family: ChainFamily): void {
  for (const name of Object.keys(weather)) {
    const known = quirkNames.find((each) => each === name);
    if (!known) throw new RpcError(-32602, `${name} is no quirk: choose from ${quirkNames.join(', ')}`);
    const { families } = quirks[known];
    if (families.includes(family)) continue;
    throw new RpcError(-32602, `${name} is a quirk of ${families.join(', ')}, not of ${family}`);
  }
}
