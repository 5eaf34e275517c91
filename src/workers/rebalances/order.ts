/** An operator orders a move between two accounts of the treasury: USDC by CCTP, USDT by USDT0. */
import { hash } from 'node:crypto';
import { type By, currentState, type Handle } from '../../../commands/handle.ts';
import type { Clock, ReceiverChecks } from '../../../commands/ports.ts';
import { type ChainId, chainOf, findChain } from '../../../domain/chains.ts';
import { isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import { parseAmount, smaller, unitsText } from '../../../domain/money.ts';
import {
  burnableOn,
  cctpRoute,
  domainOf,
  fast,
  feeLimit,
  inMessageUnits,
  isCctpChain,
  isWholeInMessages,
  standard,
} from '../../../domain/rebalance/cctp.ts';
import type { RebalanceOrdered } from '../../../domain/rebalance/events.ts';
import { orderRebalance, type Rebalance, rebalance, rebalanceStanding } from '../../../domain/rebalance/rebalance.ts';
import {
  feeUnitOn,
  isUsdt0Chain,
  messageFeeLimit,
  sendableOn,
  usdt0Route,
  withFeeMargin,
} from '../../../domain/rebalance/usdt0.ts';
import type { Attestations } from '../../chains/attestations.ts';
import { arrivalObstacle } from '../../chains/money/receiverCheck.ts';
import type { OftMessages } from '../../chains/oftMessages.ts';

export interface MoveDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  /** Treasury's accounts on the chains that are configured here. */
  readonly accountOn: (chainId: ChainId) => string | undefined;
  /** Null without CCTP_ATTESTATIONS_URL. */
  readonly attestations: Attestations | null;
  /** Readers of USDT0. Default: none, as without USDT0_REBALANCES. */
  readonly oftOn?: (chainId: ChainId) => Pick<OftMessages, 'quote'> | undefined;
  /** Default: each account can receive. Before the burn the service checks it again. */
  readonly receiverChecks?: ReceiverChecks;
  /** Larger moves need another operator, in millionths of a dollar. */
  readonly approval_microUsd: bigint;
  /** Signer's limit of one transfer, in millionths of a dollar. */
  readonly perTransfer_microUsd: bigint;
}

/** As an operator types it. */
export interface AskedMove {
  readonly chain: string;
  readonly asset: string;
  readonly amount: string;
  readonly towards: string;
  readonly fast?: boolean | undefined;
  readonly reason: string;
}

export interface MoveOrdered {
  readonly id: string;
  readonly state: Rebalance;
  /** False if an equal move is not done yet: nothing was ordered. */
  readonly isNew: boolean;
}

/** Maximum number of equal moves, of all time. */
const equalsMax = 1_000;

/**
 * Orders a move. Its id follows from its terms and the number of equal ones that are over: a command that is repeated after a lost answer
 * finds its own order. Crash before the append: nothing was ordered.
 * @param by `operator:<name>`
 * @throws AttestationsUnavailable, ChainUnavailable, Unavailable
 */
export async function orderMove(
  deps: MoveDeps,
  asked: AskedMove,
  by: By,
  signal: AbortSignal,
): Promise<MoveOrdered | Refusal> {
  const order = await (asked.asset.toUpperCase() === 'USDT' ? sendOf : burnOf)(deps, asked, by, signal);
  if (isRefusal(order)) return order;
  const { handle } = deps;
  for (let n = 1; n <= equalsMax; n += 1) {
    const id = idOf(order, n);
    const known = await currentState(handle, rebalance, id);
    if (known && isOver(known)) continue;
    if (known) return { id, state: known, isNew: false };
    const obstacle = await arrivalObstacle(deps.receiverChecks ?? {}, order);
    if (obstacle) return obstacle;
    const handled = await handle(rebalance, id, (state) => orderRebalance(state, order), { ...by, appId: null });
    if (isRefusal(handled)) return handled;
    if (!handled.state) return refuse('conflict', 'the order was not recorded: order it again');
    return { id, state: handled.state, isNew: handled.appended > 0 };
  }
  return refuse('conflict', `${equalsMax} equal moves were ordered: choose another amount`);
}

const isOver = (state: Rebalance): boolean => ['done', 'calledOff'].includes(rebalanceStanding(state));

function idOf({ from, to, amount, route }: RebalanceOrdered, n: number): string {
  // The present message fee is no term: a repeated command finds its own order.
  const way = route.kind === 'cctp' ? route.finality : route.kind;
  const terms = [from.chainId, from.account, to.chainId, to.account, amount, way, n];
  return hash('sha256', terms.join(' ')).slice(0, 12);
}

async function burnOf(
  deps: MoveDeps,
  asked: AskedMove,
  { cause }: By,
  signal: AbortSignal,
): Promise<RebalanceOrdered | Refusal> {
  const { attestations, clock } = deps;
  if (!attestations)
    return refuse('invalidRequest', 'set CCTP_ATTESTATIONS_URL first: nothing is rebalanced without it');
  const ends = [burnEndOf(deps, asked.chain), burnEndOf(deps, asked.towards)] as const;
  const [from, to] = ends;
  if (isRefusal(from)) return from;
  if (isRefusal(to)) return to;
  if (asked.asset.toUpperCase() !== from.token.symbol)
    return refuse('invalidRequest', `${asked.asset} cannot be moved: CCTP moves USDC, and USDT0 moves USDT`);
  const units = parseAmount(asked.amount, from.token.decimals);
  if (typeof units !== 'bigint' || units === 0n)
    return refuse('invalidRequest', `${asked.amount} is no amount of ${from.token.symbol}: write it like 250.00`);
  if (!isWholeInMessages(units, from.token))
    return refuse('invalidRequest', `${asked.amount} has a seventh decimal, which CCTP cannot move: use 6 decimals`);
  // In the 6 decimals of the protocol's messages, which are millionths of a dollar.
  const amount = inMessageUnits(units, from.token);
  if (amount > deps.perTransfer_microUsd) return tooMuch;
  const finality = asked.fast ? fast : standard;
  const fees = await attestations.fees(domainOf(from.chainId), domainOf(to.chainId), signal);
  const fee = fees.find((each) => each.finality === finality);
  if (!fee) return refuse('unavailable', `the attestation service states no fee for finality ${finality}: try again`);
  // A tenth more than the fee of now. With a lower limit than the fee, a fast burn would become a standard one.
  const feeMax = (amount * BigInt(Math.ceil(fee.fee_bps * 110)) + 999_999n) / 1_000_000n;
  if (feeMax > feeLimit(amount))
    return refuse(
      'invalidRequest',
      `the fee of ${fee.fee_bps} hundredths of a percent is above our limit: use standard finality`,
    );
  return {
    ...{ from, to, amount: unitsText(units), value_microUsd: unitsText(amount) },
    route: cctpRoute(from, to.chainId, { finality, feeMax }),
    approvals: amount > deps.approval_microUsd ? 1 : 0,
    ...{ reason: asked.reason, by: nameIn(cause), orderedAt: clock.now() },
  };
}

const tooMuch = refuse('invalidRequest', 'the signer lets less go at once (SIGNER_MAX_TRANSFER_USD): split it');

const nameIn = (cause: string): string => cause.slice(cause.indexOf(':') + 1).slice(0, 128);

async function sendOf(
  deps: MoveDeps,
  asked: AskedMove,
  { cause }: By,
  signal: AbortSignal,
): Promise<RebalanceOrdered | Refusal> {
  if (!deps.oftOn)
    return refuse(
      'invalidRequest',
      'set USDT0_REBALANCES=on first, and read docs/operate/usdt0.md: it trusts LayerZero',
    );
  if (asked.fast) return refuse('invalidRequest', 'USDT0 has one speed: order it without --fast');
  const [from, to] = [sendEndOf(deps, asked.chain), sendEndOf(deps, asked.towards)];
  if (isRefusal(from)) return from;
  if (isRefusal(to)) return to;
  const { token } = from;
  const units = parseAmount(asked.amount, token.decimals);
  if (typeof units !== 'bigint' || units === 0n)
    return refuse('invalidRequest', `${asked.amount} is no amount of ${token.symbol}: write it like 250.00`);
  if (!isWholeInMessages(units, token))
    return refuse('invalidRequest', `${asked.amount} has a seventh decimal, which USDT0 cannot move: use 6 decimals`);
  // In the 6 decimals of the protocol's messages, which are millionths of a dollar.
  const value_microUsd = inMessageUnits(units, token);
  if (value_microUsd > deps.perTransfer_microUsd) return tooMuch;
  const sending = { to: to.chainId, recipient: to.account, amount: units };
  const quoted = from.chainId === to.chainId ? undefined : await deps.oftOn(from.chainId)?.quote(sending, signal);
  if (quoted === undefined) return refuse('invalidRequest', 'a rebalance goes from one chain to another');
  const limit = messageFeeLimit(from.chainId);
  const most = smaller(withFeeMargin(quoted), limit);
  if (quoted > limit)
    return refuse(
      'invalidRequest',
      `the message costs ${quoted} ${feeUnitOn(from.chainId)}, and the limit is ${limit}: order it later`,
    );
  return {
    ...{ from, to, amount: unitsText(units), value_microUsd: unitsText(value_microUsd) },
    route: usdt0Route(from.chainId, to.chainId, most),
    approvals: value_microUsd > deps.approval_microUsd ? 1 : 0,
    ...{ reason: asked.reason, by: nameIn(cause), orderedAt: deps.clock.now() },
  };
}

type Ending = Pick<MoveDeps, 'accountOn'>;

const notConfigured = (stated: string): Refusal =>
  refuse('invalidRequest', `${stated} is no chain that is configured here`);

function burnEndOf({ accountOn }: Ending, stated: string) {
  const chain = findChain(stated);
  const account = chain && accountOn(chain.id);
  if (!chain || account === undefined) return notConfigured(stated);
  const token = burnableOn(chain.id);
  return isCctpChain(chain.id) && token
    ? { chainId: chain.id, account, token }
    : refuse('invalidRequest', `CCTP has no route to or from ${chainOf(chain.id).name}: move the money by hand`);
}

function sendEndOf({ accountOn }: Ending, stated: string) {
  const chain = findChain(stated);
  const account = chain && accountOn(chain.id);
  if (!chain || account === undefined) return notConfigured(stated);
  const token = sendableOn(chain.id);
  return isUsdt0Chain(chain.id) && token
    ? { chainId: chain.id, account, token }
    : refuse('invalidRequest', `USDT0 has no route to or from ${chain.name}: move the money by hand`);
}
