/** Wallet that receives an app's payouts. */
import { chainOf, findToken, memoProblem } from '../chains.ts';
import { type Decision, type Refusal, refuse } from '../decider.ts';
import { type Instant, plus } from '../time.ts';
import type { MerchantEvent, SettlementWallet } from './events.ts';
import { type MerchantState, ofRegistered, pendingChange, settlementAt } from './state.ts';

/**
 * Sets the wallet at once and replaces any pending change. For operators.
 *
 * @param wallet its address checked and in the chain's canonical spelling
 */
export function setSettlement(state: MerchantState, wallet: SettlementWallet): Decision<MerchantEvent> {
  const unfit = unfitness(wallet);
  if (unfit) return unfit;
  const done = isSame(state.settlement, wallet) && state.settlementChange === null;
  return ofRegistered(state, done ? [] : [{ type: 'SettlementWalletSet', data: wallet }]);
}

export interface RequestedChange {
  readonly changeId: string;
  readonly wallet: SettlementWallet;
  readonly now: Instant;
  readonly coolDown_ms: number;
}

/**
 * For owners: the first wallet is in force at once. A later one waits for the cool-down and can be cancelled meanwhile, so a stolen session
 * cannot redirect the money. Requesting the wallet in force cancels a pending change.
 */
export function requestSettlement(state: MerchantState, request: RequestedChange): Decision<MerchantEvent> {
  const { changeId, wallet, now, coolDown_ms } = request;
  const unfit = unfitness(wallet);
  if (unfit) return unfit;
  const inForce = settlementAt(state, now);
  if (!inForce) return ofRegistered(state, [{ type: 'SettlementWalletSet', data: wallet }]);
  const pending = pendingChange(state, now);
  if (isSame(pending?.wallet, wallet)) return [];
  const cancelled = pending ? [cancellation(pending.changeId)] : [];
  if (isSame(inForce, wallet)) return cancelled;
  const requested: MerchantEvent = {
    type: 'SettlementChangeRequested',
    data: { changeId, wallet, effectiveAt: plus(now, coolDown_ms) },
  };
  return ofRegistered(state, [...cancelled, requested]);
}

/** Keeps the wallet in force and cancels a pending change. */
export function cancelSettlement(state: MerchantState, now: Instant): Decision<MerchantEvent> {
  const pending = pendingChange(state, now);
  if (pending) return [cancellation(pending.changeId)];
  return refuse('conflict', 'no change of the wallet waits: it was cancelled, or is in force');
}

const cancellation = (changeId: string): MerchantEvent => ({ type: 'SettlementChangeCancelled', data: { changeId } });

function unfitness(wallet: SettlementWallet): Refusal | undefined {
  const { chainId, token, receiverAddress, receiverMemo } = wallet;
  const chain = chainOf(chainId);
  const known = findToken(chain, token.symbol);
  if (known?.address !== token.address || known.decimals !== token.decimals)
    return refuse('invalidRequest', `chain ${chainId} pays out no ${token.symbol}`, '/tokenSymbol');
  const problem = receiverMemo === null ? undefined : memoProblem(chain, receiverAddress, receiverMemo);
  return problem === undefined ? undefined : refuse('invalidRequest', problem, '/receiverMemo');
}

const isSame = (a: SettlementWallet | null | undefined, b: SettlementWallet): boolean =>
  a?.chainId === b.chainId &&
  a.token.address === b.token.address &&
  a.receiverAddress === b.receiverAddress &&
  a.receiverMemo === b.receiverMemo;
