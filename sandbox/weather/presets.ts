/** The weathers to choose from: which quirks the nodes of each chain have, and how often. */
import type { ChainFamily } from '../../domain/chains.ts';
import type { Weather } from './quirks.ts';

export interface Preset {
  /** In a sentence, for the start's summary. */
  readonly says: string;
  /** Life of all WebSockets, because providers end them. */
  readonly socketsLast_s: number;
  /** The nodes of each chain of a family, in the order in which the service prefers them. */
  readonly nodes: Readonly<Record<ChainFamily, readonly Weather[]>>;
}

/** Occasional behaviour of every node. */
const always: Weather = {
  slow: { chance: 0.1, most_ms: 300 },
  unavailable: { chance: 0.01 },
  htmlBody: { chance: 0.01 },
  emptyBody: { chance: 0.01, body: '{}' },
  cutBody: { chance: 0.005 },
};

const rough: Preset = {
  says: 'two nodes a chain, each behind a balancer with back ends up to two blocks apart, with limits, clipped pages and broken answers',
  socketsLast_s: 20,
  nodes: {
    evm: [
      {
        ...always,
        balancer: { lags: [0, 0, 1, 2] },
        rateLimit: { perSecond: 60, burst: 90, form: 'seconds' },
        rangeLimit: { blocks: 100 },
        batchLimit: { calls: 20 },
        missingFields: { fields: ['blockTimestamp', 'effectiveGasPrice'] },
        nullReceipt: { asks: 2 },
      },
      {
        ...always,
        lag: { blocks: 1 },
        rateLimit: { perSecond: 60, burst: 90, form: 'date' },
        rangeLimit: { blocks: 10 },
        batchLimit: { calls: 1 },
        logsBehind: { blocks: 2 },
        dearTip: { gwei: 3 },
      },
    ],
    solana: [
      {
        ...always,
        balancer: { lags: [0, 0, 1, 2] },
        rateLimit: { perSecond: 60, burst: 90, form: 'body' },
        v1Transactions: {},
        clippedPage: { most: 100 },
        nullMeta: { asks: 2 },
      },
      {
        ...always,
        lag: { blocks: 1 },
        rateLimit: { perSecond: 60, burst: 90, form: 'seconds' },
        v1Transactions: {},
        missingFields: { fields: ['owner', 'programId'] },
        newestBlockMissing: { slots: 1 },
        historyGap: { asks: 2 },
      },
    ],
    stellar: [
      {
        ...always,
        balancer: { lags: [0, 0, 1] },
        rateLimit: { perSecond: 40, burst: 60, form: 'bare' },
        clippedPage: { most: 10 },
      },
      {
        ...always,
        lag: { blocks: 1 },
        rateLimit: { perSecond: 40, burst: 60, form: 'date' },
        clippedPage: { most: 100 },
      },
    ],
  },
};

export const presets = { rough } as const;

export type PresetName = keyof typeof presets | 'calm';

export const presetNames: readonly PresetName[] = ['calm', 'rough'];

/** @throws Error for an unknown weather */
export function presetNamed(name: string): Preset {
  if (name === 'rough') return presets.rough;
  throw new Error(`${name} is no weather: choose from ${presetNames.join(', ')}`);
}
