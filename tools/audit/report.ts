/** An audit's report for people. */
import { type ChainId, chainOf, tokenAt } from '../../domain/chains.ts';
import { coinAddress, coinOf, formatAmount } from '../../domain/money.ts';
import { type Finding, findingRemedies, findingsOfKindMax } from './findings.ts';
import type { ReadModelsReport } from './readModels.ts';
import type { AuditReport } from './run.ts';
import { openOf } from './sums.ts';

export type WholeReport = AuditReport & { readonly readModels: ReadModelsReport | null };

type Cells = Readonly<{ [column: string]: string }>;

const assetOf = (chainId: number, asset: string) =>
  asset === coinAddress
    ? coinOf(chainId as ChainId)
    : (tokenAt(chainOf(chainId as ChainId), asset) ?? { symbol: asset, decimals: 0 });

/** Sums of all payments, and of all accounts: one row per chain and token. */
export function sumsTables({ payments, accounts }: AuditReport): {
  readonly payments: Readonly<{ [name: string]: Cells }>;
  readonly accounts: Readonly<{ [name: string]: Cells }>;
} {
  const nameOf = (chainId: number, asset: string) =>
    `${chainOf(chainId as ChainId).name} ${assetOf(chainId, asset).symbol}`;
  const text = (chainId: number, asset: string, units: bigint) => formatAmount(units, assetOf(chainId, asset).decimals);
  return {
    payments: Object.fromEntries(
      payments.map((row) => {
        const { chainId, asset } = row;
        const of = (units: bigint) => text(chainId, asset, units);
        const cells = {
          received: of(row.received),
          'paid out': of(row.paidOut),
          fees: of(row.fees + row.dust),
          refunded: of(row.refunded),
          'network fees': of(row.networkFees),
          held: of(row.held),
          open: openOf(row) === 0n ? 'none' : of(openOf(row)),
          swept: of(row.swept),
          withdrawn: of(row.withdrawn),
        };
        return [nameOf(chainId, asset), cells];
      }),
    ),
    accounts: Object.fromEntries(
      accounts.map(({ chainId, account, asset, ...row }) => {
        const of = (units: bigint) => text(chainId, asset, units);
        const cells = {
          opening: of(row.opening),
          in: of(row.in),
          out: of(row.out),
          gas: of(row.gas),
          received: of(row.entered.received),
          paid: of(-row.entered.paid),
          refunded: of(-row.entered.refunded),
          fees: of(-row.entered.fees),
          moved: of(row.entered.moved),
          holds: of(row.holds),
          open: row.open === 0n ? 'none' : of(row.open),
        };
        return [`${nameOf(chainId, asset)} ${account.slice(0, 6)}…${account.slice(-4)}`, cells];
      }),
    ),
  };
}

/** Each in two lines: problem and position, then what to do. */
export function findingLines(finding: Finding): readonly [string, string] {
  const { code, stream, revision, eventId, message, transaction } = finding;
  const event = revision === null ? '' : ` event ${revision}${eventId === null ? '' : ` (${eventId})`}`;
  const shown =
    transaction === null
      ? ''
      : ` [${chainOf(transaction.chainId as ChainId).name}, block ${transaction.block ?? 'unknown'}, ${transaction.hash}]`;
  return [`${code}: ${stream}${event}: ${message}${shown}`, `    ${findingRemedies[code]}`];
}

/** Reset networks: number of uncompared transactions, and unsettled money. */
export function closedNetworkLines({ closedNetworks }: AuditReport): readonly string[] {
  return closedNetworks.flatMap(({ chainId, network, closedAt, unseen, unsettled, unsettledCount }) => {
    const of = `the network ${network === null ? '' : `“${network}” `}was closed at ${closedAt} because it began anew`;
    const counted = `${unseen} recorded transactions are of that network, and no node has them any more`;
    const rest = unsettledCount - unsettled.length;
    return [
      `${chainOf(chainId).name}: ${of}. ${counted}.`,
      ...unsettled.map(({ stream, what }) => `    unsettled since then: ${stream}: ${what}`),
      ...(rest > 0 ? [`    unsettled since then: ${rest} more`] : []),
    ];
  });
}

/** Outgoing money by an operator's decision: no finding, but another person should read it. */
export function byWordLines({ byWord, byWordCount }: AuditReport): readonly string[] {
  const rest = byWordCount - byWord.length;
  return [
    ...byWord.map(({ stream, revision, what }) => `by an operator's word: ${stream} event ${revision}: ${what}`),
    ...(rest > 0 ? [`by an operator's word: ${rest} more`] : []),
  ];
}

/** Findings that were counted and not listed. */
export function restTexts({ kinds, readModels }: WholeReport): readonly string[] {
  return Object.entries({ ...kinds, ...readModels?.kinds })
    .filter(([, count]) => count > findingsOfKindMax)
    .map(([kind, count]) => `${kind}: ${count - findingsOfKindMax} more are not listed`);
}

/** One sentence: amount of checked data, and speed. */
export function summaryText({ events, streams, transactions, found, seconds, gaps, goneOnFrom }: AuditReport): string {
  const rate = Math.round(events / Math.max(seconds, 0.001));
  const result = found === 0 ? 'nothing is wrong' : `${found} findings`;
  const unseen = gaps.length === 0 ? '' : `; ${gaps.length} parts could not be looked at`;
  const before =
    goneOnFrom === null
      ? ''
      : ` Up to position ${goneOnFrom} an interrupted audit had read the log: that was not read again.`;
  return `${events} events of ${streams} streams and ${transactions} transactions in ${seconds.toFixed(1)} s (${rate} events/s): ${result}${unseen}.${before}`;
}
