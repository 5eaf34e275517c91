/** Effects of node quirks on the service: the rows of the table in docs/operate/chains.md. The specs in test/chains/weather try each row. */
import type { ChainFamily } from '../../domain/chains.ts';
import { type QuirkName, quirks, type Weather } from '../../sandbox/weather/quirks.ts';

/**
 * Maximum polls of a payin, or steps of a payout, until it is done. Between two of them the chain makes twice the blocks that make it
 * final. `waits`: nothing is done while the quirk lasts, and the service continues automatically afterwards. `refused`: the same, and a
 * message names the node and the reason.
 */
export type Outcome = number | 'waits' | 'refused';

export interface Outcomes {
  readonly payin: Outcome;
  readonly payout: Outcome;
}

export interface WeatherRow {
  readonly family: ChainFamily;
  readonly weather: Weather;
  /** Outcomes if the node is the only one. */
  readonly alone: Outcomes;
  /** Outcomes if the node is the first of three and the others are good; two must agree, as by default. */
  readonly ofThree: Outcomes;
}

/** Outcomes with good nodes. */
export const calm: Readonly<Record<ChainFamily, { readonly payin: number; readonly payout: number }>> = {
  evm: { payin: 2, payout: 2 },
  solana: { payin: 2, payout: 2 },
  stellar: { payin: 1, payout: 2 },
};

type Taken = readonly [payin: Outcome, payout: Outcome];

function rowsOf(family: ChainFamily, rows: readonly (readonly [Weather, Taken, Taken])[]): readonly WeatherRow[] {
  const outcomes = ([payin, payout]: Taken): Outcomes => ({ payin, payout });
  return rows.map(([weather, alone, ofThree]) => ({
    ...{ family, weather },
    ...{ alone: outcomes(alone), ofThree: outcomes(ofThree) },
  }));
}

const limit = { perSecond: 60 };

const evm = rowsOf('evm', [
  [{ lag: { blocks: 2 } }, [2, 2], [2, 2]],
  [{ lag: { blocks: 2, beyond: 'empty' } }, [2, 2], [2, 2]],
  [{ balancer: { lags: [0, 1, 2] } }, [3, 3], [2, 2]],
  [{ balancer: { lags: [0, 1, 2], beyond: 'empty' } }, [3, 3], [2, 2]],
  [{ logsBehind: { blocks: 2 } }, [2, 2], [2, 2]],
  [{ logsBehind: { blocks: 2, beyond: 'refused' } }, [2, 2], [2, 2]],
  [{ syncing: {} }, ['waits', 'waits'], [2, 2]],
  [{ finality: { as: 'genesis' } }, [2, 2], [2, 2]],
  [{ rateLimit: { ...limit, form: 'seconds' } }, [2, 2], [2, 2]],
  [{ rateLimit: { ...limit, form: 'date' } }, [2, 2], [2, 2]],
  [{ rateLimit: { ...limit, form: 'body' } }, [2, 2], [2, 2]],
  [{ rateLimit: { ...limit, form: 'bare' } }, [2, 2], [2, 2]],
  [{ rangeLimit: { blocks: 5 } }, [2, 2], [2, 2]],
  [{ sizeLimit: { most: 20 } }, [2, 2], [2, 2]],
  [{ batchLimit: { calls: 1 } }, [2, 2], [2, 2]],
  [{ clippedPage: { most: 0 } }, ['waits', 2], [2, 2]],
  [{ nullReceipt: { asks: 2 } }, [3, 3], [3, 3]],
  [{ nullReceipt: {} }, ['waits', 'waits'], [2, 2]],
  [{ shiftedLogIndex: { by: 7 } }, [2, 2], [2, 2]],
  [{ missingFields: { fields: ['blockTimestamp', 'effectiveGasPrice'] } }, [2, 2], [2, 2]],
  [
    { disabledMethods: { names: ['eth_getLogs'], code: -32005, message: 'limit exceeded' } },
    ['refused', 'refused'],
    [2, 2],
  ],
  [{ disabledMethods: { names: ['eth_maxPriorityFeePerGas'] } }, [2, 'waits'], [2, 2]],
  [{ dearTip: { gwei: 100 } }, [2, 2], [2, 2]],
  [{ prunedState: { blocks: 4 } }, [2, 2], [2, 2]],
  [{ refusedBytes: {} }, [2, 'waits'], [2, 2]],
  [{ htmlBody: { chance: 0.05 } }, [4, 4], [3, 3]],
  [{ emptyBody: { chance: 0.05, body: '' } }, [4, 4], [3, 3]],
  [{ emptyBody: { chance: 0.05, body: '{}' } }, [4, 4], [3, 3]],
  [{ cutBody: { chance: 0.05 } }, [4, 4], [3, 3]],
  [{ unavailable: { chance: 0.05 } }, [4, 4], [3, 3]],
  [{ slow: { most_ms: 30 } }, [2, 2], [2, 2]],
]);

const solana = rowsOf('solana', [
  [{ lag: { blocks: 2 } }, [2, 'waits'], [2, 2]],
  [{ balancer: { lags: [0, 1, 2] } }, [2, 3], [2, 2]],
  [{ syncing: {} }, ['waits', 'waits'], [2, 2]],
  [{ finality: { as: 'genesis' } }, [2, 2], [2, 2]],
  [{ rateLimit: { ...limit, form: 'seconds' } }, [2, 2], [2, 2]],
  [{ rateLimit: { ...limit, form: 'date' } }, [2, 2], [2, 2]],
  [{ rateLimit: { ...limit, form: 'body' } }, [2, 2], [2, 2]],
  [{ rateLimit: { ...limit, form: 'bare' } }, [2, 2], [2, 2]],
  [{ sizeLimit: { most: 5 } }, ['waits', 'waits'], [2, 2]],
  [{ batchLimit: { calls: 1 } }, [2, 2], [2, 2]],
  [{ clippedPage: { most: 1 } }, [2, 2], [2, 2]],
  [{ nullMeta: { asks: 2 } }, [2, 4], [2, 3]],
  [{ nullMeta: {} }, ['waits', 'waits'], [2, 2]],
  [{ historyGap: { asks: 2 } }, [2, 2], [2, 2]],
  [{ historyGap: {} }, ['waits', 'waits'], [2, 2]],
  [{ newestBlockMissing: { slots: 1 } }, [2, 2], [2, 2]],
  [{ v1Transactions: {} }, [2, 2], [2, 2]],
  [{ missingFields: { fields: ['owner', 'programId'] } }, [2, 2], [2, 2]],
  [{ disabledMethods: { names: ['getSignaturesForAddress'] } }, ['waits', 'waits'], [2, 2]],
  [{ refusedBytes: {} }, [2, 'waits'], [2, 2]],
  [{ htmlBody: { chance: 0.05 } }, [4, 4], [3, 3]],
  [{ emptyBody: { chance: 0.05, body: '{}' } }, [4, 4], [3, 3]],
  [{ cutBody: { chance: 0.05 } }, [4, 4], [3, 3]],
  [{ unavailable: { chance: 0.05 } }, [4, 4], [3, 3]],
  [{ slow: { most_ms: 30 } }, [2, 2], [2, 2]],
]);

const stellar = rowsOf('stellar', [
  [{ lag: { blocks: 2 } }, [2, 2], [2, 2]],
  [{ balancer: { lags: [0, 1, 2] } }, [2, 2], [2, 2]],
  [{ syncing: {} }, ['waits', 'waits'], [1, 2]],
  [{ rateLimit: { ...limit, form: 'seconds' } }, [1, 2], [1, 2]],
  [{ rateLimit: { ...limit, form: 'date' } }, [1, 2], [1, 2]],
  [{ rateLimit: { ...limit, form: 'body' } }, [1, 2], [1, 2]],
  [{ rateLimit: { ...limit, form: 'bare' } }, [1, 2], [1, 2]],
  [{ sizeLimit: { most: 100 } }, ['waits', 2], [1, 2]],
  [{ batchLimit: { calls: 1 } }, [2, 2], [1, 2]],
  [{ clippedPage: { most: 1 } }, [1, 2], [1, 2]],
  [{ shortMemory: { ledgers: 3 } }, [1, 2], [1, 2]],
  [{ disabledMethods: { names: ['getEvents'] } }, ['waits', 2], [1, 2]],
  [{ silentEvents: {} }, ['refused', 'refused'], [1, 2]],
  [{ unreadableEvent: {} }, [1, 2], [1, 2]],
  [
    { missingFields: { fields: ['oldestLedger', 'oldestLedgerCloseTime', 'latestLedgerCloseTime'] } },
    ['refused', 2],
    [1, 2],
  ],
  [{ htmlBody: { chance: 0.05 } }, [4, 4], [3, 3]],
  [{ emptyBody: { chance: 0.05, body: '{}' } }, [4, 4], [3, 3]],
  [{ cutBody: { chance: 0.05 } }, [4, 4], [3, 3]],
  [{ unavailable: { chance: 0.05 } }, [4, 4], [3, 3]],
  [{ slow: { most_ms: 30 } }, [1, 2], [1, 2]],
]);

export const weatherRows: readonly WeatherRow[] = [...evm, ...solana, ...stellar];

/** Message of a refused node, by quirk. */
export const refusals: Partial<Readonly<Record<QuirkName, RegExp>>> = {
  disabledMethods: /it refuses searches for logs, even of one block/,
  silentEvents: /it emits no events for classic transactions/,
  missingFields: /does not say which ledgers it remembers: Stellar RPC 23 or later does/,
};

/** Returns the quirk of a row, and its settings as text. */
export function namesOf({ weather }: WeatherRow): { readonly quirk: QuirkName; readonly settings: string } {
  const [name, settings] = Object.entries(weather)[0] ?? [];
  const text = Object.entries(settings ?? {}).map(([key, value]) => `${key} ${inWords(value)}`);
  return { quirk: name as QuirkName, settings: text.join(', ') };
}

const inWords = (value: unknown): string => (Array.isArray(value) ? value.join(' ') : String(value) || 'none');

const [begin, end] = ['<!-- begin: written by npm run docs -->', '<!-- end -->'];

/** Returns docs/operate/chains.md with the current table; the text around it is written by hand. */
export function withWeather(page: string): string {
  const [before, after] = [page.indexOf(begin), page.indexOf(end)];
  if (before < 0 || after < before) throw new Error(`docs/operate/chains.md lacks ${begin} or ${end}`);
  return `${page.slice(0, before)}${begin}\n${weatherTable()}\n${page.slice(after)}`;
}

function weatherTable(): string {
  const lines = weatherRows.map((row) => {
    const { quirk, settings } = namesOf(row);
    const usual = calm[row.family];
    const { says } = quirks[quirk];
    return `| ${row.family} | \`${quirk}\`${settings && `: ${settings}`} | ${says} | ${verdict(row.alone, usual)} | ${verdict(row.ofThree, usual)} |`;
  });
  return [
    '| family | quirk | a node with | alone | first of three |',
    '| --- | --- | --- | --- | --- |',
    ...lines,
  ].join('\n');
}

function verdict({ payin, payout }: Outcomes, usual: { readonly payin: number; readonly payout: number }): string {
  if (payin === usual.payin && payout === usual.payout) return 'survives';
  if (payin === payout && typeof payin === 'string') return payin;
  const parts = [
    ...(payin === usual.payin ? [] : [`payin ${degree(payin, usual.payin, 'polls')}`]),
    ...(payout === usual.payout ? [] : [`payout ${degree(payout, usual.payout, 'steps')}`]),
  ];
  return `degrades: ${parts.join(', ')}`;
}

const degree = (outcome: Outcome, usual: number, unit: string): string =>
  typeof outcome === 'number' ? `up to ${outcome} ${unit} instead of ${usual}` : outcome;
