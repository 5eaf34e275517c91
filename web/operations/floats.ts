/** Page of floats, moves, alarms and parked work for operators. It changes nothing. */

import { type RequestHandler, Router } from 'express';
import type { VNode } from 'preact';
import { chainOf } from '../../domain/chains.ts';
import { larger, smaller } from '../../domain/money.ts';
import { isCctpChain } from '../../domain/rebalance/cctp.ts';
import { inPolicyDecimals, usd } from '../../domain/rebalance/floatUnits.ts';
import { arrivingFrom } from '../../domain/rebalance/inTransit.ts';
import type { FloatLimits } from '../../domain/rebalance/policy.ts';
import { type RebalanceStanding, rebalanceStanding } from '../../domain/rebalance/rebalance.ts';
import type { FloatLine } from '../../queries/floatTable.ts';
import type { OpenRebalance } from '../../queries/floatViews.ts';
import type { FailedWork } from '../../queries/operations.ts';
import type { PageRoutes } from '../../src/api/app.ts';
import { localsOf } from '../../src/api/middleware.ts';
import { answerOtherMethods, send } from '../../src/api/router.ts';
import { serveFiles } from '../dashboard/files.ts';
import { withPageHeaders } from '../dashboard/index.ts';
import { htmlType } from '../dashboard/router.ts';
import { card, chip, empty, inside, type State } from '../parts/boxes.ts';
import { countWords, grouped, when } from '../parts/cells.ts';
import type { Mode } from '../parts/frame.ts';
import { bdi, type Content, cut, documentOf, html } from '../parts/html.ts';
import { outerPage } from '../parts/layout.ts';
import { table } from '../parts/table.ts';

/** An alarm that this instance raised since its start. */
export interface RaisedAlarm {
  readonly reason: string;
  readonly count: number;
  /** Text of the last one. */
  readonly message: string;
}

export interface FloatsModel {
  readonly mode: Mode;
  readonly policy: 'off' | 'propose' | 'automatic';
  readonly lines: readonly FloatLine[];
  readonly limits: ReadonlyMap<number, FloatLimits>;
  readonly open: readonly OpenRebalance[];
  readonly alarms: readonly RaisedAlarm[];
  /** Parked items first; at most `parkedMax`. */
  readonly failed: readonly FailedWork[];
}

const textMax = 300;

export const floatsPage = (model: FloatsModel): VNode =>
  outerPage(
    { mode: model.mode, person: null, flash: null },
    'Floats',
    html`<div class="single">
      <div><h1>Floats</h1>
      <p class="muted">USDC that each chain can pay out. Policy of rebalances: <strong>${model.policy}</strong>.</p></div>
      ${card({ title: 'Chains' }, floatsTable(model))}
      ${card({ title: 'Moves', note: countWords(model.open.length, 'open move') }, movesTable(model.open))}
      ${card({ title: 'Alarms', note: 'of this instance since its start' }, alarmsTable(model.alarms))}
      ${card({ title: 'Work that failed', note: 'parked work waits for you' }, workTable(model.failed))}
    </div>`,
    true,
  );

/** State of a float, by its limits. */
function levelOf({ held, reserved, inTransit }: FloatLine, limits: FloatLimits | undefined): [State, string] {
  const free = held - reserved;
  if (!limits) return free > 0n ? ['idle', 'No limits'] : ['bad', 'Empty'];
  if (free + inTransit < limits.minimum) return ['bad', 'Below minimum'];
  if (free < limits.minimum) return ['wait', 'Refilling'];
  return free > limits.maximum ? ['wait', 'Above maximum'] : ['ok', 'Enough'];
}

/** Whole dollars without decimals. */
const dollars = (units: bigint): string => grouped(usd(units)).replace(/\.00$/, '');

const floatsTable = ({ lines, limits }: FloatsModel): VNode =>
  lines.length === 0
    ? empty('No float yet', 'The books of the treasury open with its first payment or transfer.')
    : table(
        'Floats by chain',
        [
          { head: 'Chain', kind: 'title' },
          { head: 'Level', kind: 'chip' },
          { head: 'Held', kind: 'number' },
          { head: 'Reserved', kind: 'detail' },
          { head: 'In transit', kind: 'detail' },
          { head: 'Limits', kind: 'detail' },
          { head: 'Lasts', kind: 'detail' },
          { head: '7 days', kind: 'detail' },
        ],
        lines.map((line) => {
          const own = limits.get(line.chainId);
          return [
            html`<span>${line.chain}${!isCctpChain(line.chainId) && html`<span class="small muted"> by hand</span>`}</span>`,
            chip(...levelOf(line, own)),
            dollars(line.held),
            html`<span class="whole">${dollars(line.reserved)}</span>`,
            line.inTransit > 0n &&
              html`<span>${dollars(line.inTransit)}${line.expectedAt !== null && html`<span> by ${when(line.expectedAt)}</span>`}</span>`,
            own ? [own.minimum, own.target, own.maximum].map(dollars).join(' · ') : null,
            html`<span class="whole">${line.lastsFor_hours === null ? 'No outflow' : `${grouped(String(line.lastsFor_hours))} h`}</span>`,
            sparkDrawing(line),
          ];
        }),
      );

const [sparkWidth, sparkHeight] = [168, 32];

/** A line of the float's course; the lowest hour is in its spoken label. */
function sparkDrawing({ chain, hourly }: FloatLine): VNode {
  const most = hourly.reduce(larger, 1n);
  const low = hourly.reduce(smaller, hourly[0] ?? 0n);
  const at = (units: bigint): number =>
    Math.round(sparkHeight - 2 - (Number(units < 0n ? 0n : (units * 1_000n) / most) / 1_000) * (sparkHeight - 4));
  const points = hourly.map((units, hour) => `${hour},${at(units)}`).join(' ');
  return html`<svg class="spark" viewBox=${`0 0 ${sparkWidth} ${sparkHeight}`} width=${sparkWidth} height=${sparkHeight} role="img"
    aria-label=${`${chain} over 7 days, from ${dollars(low)} to ${dollars(most)} USDC`}>
    <polyline points=${points} fill="none" stroke="currentColor" stroke-width="1.5" /></svg>`;
}

const standings: Readonly<Record<RebalanceStanding, readonly [State, string]>> = {
  waitsForApproval: ['bad', 'Waits for approval'],
  calledOff: ['idle', 'Cancelled'],
  ordered: ['wait', 'Ordered'],
  burnSigned: ['wait', 'Burning'],
  burned: ['wait', 'Burned'],
  sent: ['wait', 'Sent'],
  attested: ['wait', 'Attested'],
  expired: ['wait', 'Attested again'],
  mintSigned: ['wait', 'Minting'],
  burnLost: ['bad', 'Burn lost'],
  short: ['bad', 'Too little arrived'],
  done: ['ok', 'Done'],
};

const movesTable = (open: readonly OpenRebalance[]): VNode =>
  open.length === 0
    ? empty('No move is open', 'The policy or an operator orders moves between the treasury’s accounts.')
    : table(
        'Open moves',
        [
          { head: 'Move', kind: 'title' },
          { head: 'State', kind: 'chip' },
          { head: 'Amount', kind: 'number' },
          { head: 'Ordered', kind: 'when' },
          { head: 'Expected', kind: 'detail' },
          { head: 'Reason', kind: 'note' },
        ],
        open.map(({ id, state }) => {
          const { from, to, amount, orderedAt, by, reason } = state.ordered;
          const arriving = arrivingFrom(state);
          return [
            html`<span>${chainOf(from.chainId).name} to ${chainOf(to.chainId).name} <span class="small muted">${bdi(`rebalance-${cut(id, 60)}`)}</span></span>`,
            chip(...standings[rebalanceStanding(state)]),
            dollars(inPolicyDecimals(from.chainId, BigInt(amount))),
            when(orderedAt),
            arriving && when(arriving.expectedAt),
            html`<span>${bdi(cut(reason, textMax))}, by ${bdi(cut(by, 60))}</span>`,
          ];
        }),
      );

const alarmsTable = (alarms: readonly RaisedAlarm[]): VNode =>
  alarms.length === 0
    ? empty('No alarm', 'This instance has raised no alarm since it started. Other instances have their own page.')
    : table(
        'Alarms',
        [
          { head: 'Alarm', kind: 'title' },
          { head: 'Raised', kind: 'number' },
          { head: 'Last message', kind: 'note' },
        ],
        alarms.map(({ reason, count, message }) => [
          html`<code>${bdi(cut(reason, 60))}</code>`,
          grouped(String(count)),
          bdi(cut(message, textMax)),
        ]),
      );

function workTable(failed: readonly FailedWork[]): Content {
  if (failed.length === 0)
    return empty('Nothing failed', 'Work that fails 10 times is parked here until you retry it.');
  const rows = failed.map(({ worker, key, attempts, since, parked, error }) => [
    html`<span>${bdi(cut(worker, 60))} <span class="small muted">${bdi(cut(key, 80))}</span></span>`,
    parked ? chip('bad', 'Parked') : chip('wait', 'Retried'),
    grouped(String(attempts)),
    when(since),
    bdi(cut(error, textMax)),
  ]);
  return html`<div>${table(
    'Failed work',
    [
      { head: 'Work', kind: 'title' },
      { head: 'State', kind: 'chip' },
      { head: 'Attempts', kind: 'number' },
      { head: 'Since', kind: 'when' },
      { head: 'Error', kind: 'note' },
    ],
    rows,
  )}${inside(html`<p class="small muted">Retry parked work with <code>npm run work -- retry</code> after you fixed its cause.</p>`)}</div>`;
}

// Read-only pages for operators, on the operations port.

export interface OperatorPagesDeps {
  /** @throws Unavailable */
  readonly floats: () => Promise<FloatsModel>;
}

const floatsPath = '/floats';

export const createOperatorPages = ({ floats }: OperatorPagesDeps): PageRoutes => ({
  routerBehind({ admission }) {
    const router = Router({ caseSensitive: true, strict: true });
    const show: RequestHandler = async (_request, response) => {
      localsOf(response).route = floatsPath;
      const headers = { 'Cache-Control': 'no-store' };
      send(response, { status: 200, type: htmlType, headers, body: documentOf(floatsPage(await floats())) });
    };
    const page = router.route(floatsPath as string);
    page.get(withPageHeaders, show);
    answerOtherMethods(page, floatsPath, [{ method: 'get' }]);
    router.get('/', (_request, response) => response.redirect(302, floatsPath));
    router.get('/dashboard/assets/:file', serveFiles(admission));
    return router;
  },
  errorPage: () => undefined,
});
