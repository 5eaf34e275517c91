/** Intents: payment methods other than a plain transfer. */
import { type Chain, type ChainId, chainOf, type Token, type TokenSymbol } from '../chains.ts';
import { type Refusal, refuse } from '../decider.ts';

/** `stellar_payin_contracts`: the customer calls `pay(sender, amount, memo)` of a contract on Stellar (service reference 4.9). */
export const intents = ['stellar_payin_contracts'] as const;
export type Intent = (typeof intents)[number];

const stellarId: ChainId = 1500;

/** Payout tokens of contract payments (service reference 1): fewer than for other payments. */
export const contractRoutes: Partial<Record<ChainId, readonly TokenSymbol[]>> = {
  8453: ['USDC'],
  56: ['USDT', 'USDC'],
  1: ['USDT', 'USDC'],
  42161: ['USDC'],
  137: ['USDC'],
  501: ['USDC'],
};

interface Side {
  readonly chain: Chain;
  readonly token: Token;
}

/**
 * Checks a contract payment's request; a refusal names the field.
 *
 * @param sender account that will call the contract, as the request spells it
 */
export function checkContractIntent(source: Side, destination: Side, sender: string | undefined): Refusal | undefined {
  if (source.chain.id !== stellarId)
    return wrong(`pays in on Stellar: use source.chainId ${stellarId}`, '/source/chainId');
  if (source.token.symbol !== 'USDC') return wrong('takes USDC only', '/source/tokenSymbol');
  if (sender === undefined) {
    return wrong('needs source.senderAddress: the Stellar address that calls the contract', '/source/senderAddress');
  }
  if (sender.startsWith('M')) {
    return wrong(
      'is called by a G or C address: send the G address that the M address stands for',
      '/source/senderAddress',
    );
  }
  const tokens = contractRoutes[destination.chain.id];
  if (!tokens) return wrong(`pays out on ${routeNames()}: choose one of these`, '/destination/chainId');
  if (!tokens.includes(destination.token.symbol)) {
    return wrong(`pays out ${tokens.join(' or ')} on ${destination.chain.name}`, '/destination/tokenSymbol');
  }
  return undefined;
}

const wrong = (demand: string, pointer: string): Refusal =>
  refuse('invalidRequest', `intent stellar_payin_contracts ${demand}`, pointer);

const routeNames = (): string =>
  Object.keys(contractRoutes)
    .map((id) => `${id} (${chainOf(Number(id) as ChainId).name})`)
    .join(', ');
