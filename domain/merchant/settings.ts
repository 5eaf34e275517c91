/** What payers of an app may choose to pay from. */
import { chainOf, findToken } from '../chains.ts';
import { type Decision, refuse } from '../decider.ts';
import type { MerchantEvent, PayFrom } from './events.ts';
import { type MerchantState, ofRegistered } from './state.ts';

/** Chains and tokens; payments created from now on offer them beside their own. An empty list offers nothing. */
export function setPayFrom(state: MerchantState, payFrom: PayFrom): Decision<MerchantEvent> {
  const unknown = payFrom.findIndex(({ chainId, tokenSymbol }) => !findToken(chainOf(chainId), tokenSymbol));
  if (unknown >= 0) return refuse('invalidRequest', 'the chain has no such token', `/payFrom/${unknown}/tokenSymbol`);
  const keys = payFrom.map(keyOf);
  const twice = keys.findIndex((key, index) => keys.indexOf(key) < index);
  if (twice >= 0) return refuse('invalidRequest', 'is in the list twice: leave it out', `/payFrom/${twice}`);
  const isSame = state.payFrom.map(keyOf).join() === keys.join();
  return ofRegistered(state, isSame ? [] : [{ type: 'PayFromSet', data: { payFrom } }]);
}

const keyOf = ({ chainId, tokenSymbol }: PayFrom[number]): string => `${chainId} ${tokenSymbol}`;
