/** What is checked before anything is signed, so that a transfer is refused here and not reverted, or short, on the chain. */
import type { Address } from 'viem';
import type { Chain } from '../../../../domain/chains.ts';
import { formatAmount } from '../../../../domain/money.ts';
import { checkCoin, checkCoinFloat, checkFloat } from '../../money/spending.ts';
import { PayoutBlocked, type TransferOrder } from '../../ports.ts';
import { coinBalance, gasNeeded, tokenBalance } from '../accounts.ts';
import type { EvmFees } from '../config.ts';
import type { EvmNode } from '../rpc.ts';
import { withMargin } from './gas.ts';
import { isRevert } from './rehearsal.ts';
import { callFor } from './transaction.ts';

export interface Payer {
  readonly chain: Chain;
  readonly account: Address;
}

/** The account's coin, and each token by its address as the catalogue spells it. */
export async function balancesOf(node: EvmNode, { chain, account }: Payer) {
  const addresses = chain.tokens.map(({ address }) => address);
  const [gas, ...held] = await Promise.all([
    coinBalance(node, account),
    ...addresses.map((token) => tokenBalance(node, account, token)),
  ]);
  return { gas, tokens: Object.fromEntries(addresses.map((token, at) => [token, held[at] ?? 0n])) };
}

/** @throws PayoutBlocked when the account holds less than the order's amount */
export const checkTokens = async (node: EvmNode, { account }: Payer, order: TransferOrder): Promise<void> =>
  checkFloat(await tokenBalance(node, account, order.token.address), account, order);

interface Coin {
  /** What the account holds of it. */
  readonly held: bigint;
  /** What the gas costs at most. */
  readonly most: bigint;
}

/** @throws PayoutBlocked when the account's coin cannot pay for the gas, twice */
export const checkGas = ({ chain, account }: Payer, { held, most }: Coin): void =>
  checkCoin(held, account, { chainId: chain.id, unit: 'wei', most });

/**
 * @returns the gas to allow for a transfer of the coin
 * @throws PayoutBlocked when the account holds less than the order's amount, or the receiver takes no coin for so much gas
 */
export async function gasForCoin(
  node: EvmNode,
  { chain, account }: Payer,
  order: TransferOrder,
  { gasMax }: EvmFees,
): Promise<bigint> {
  checkFloat(await coinBalance(node, account), account, order);
  const refused = (why: string) =>
    new PayoutBlocked('refusedByToken', `${order.receiver} takes no ${order.token.symbol} on ${chain.name}: ${why}`);
  try {
    const needed = withMargin(await gasNeeded(node, { from: account, ...callFor(order, account) }));
    if (needed <= gasMax) return needed;
    throw refused(`it needs ${needed} gas, the limit is ${gasMax} (GAS_MAX_${chain.id})`);
  } catch (error) {
    if (isRevert(error)) throw refused(error.detail);
    throw error;
  }
}

/** @throws PayoutBlocked when the account's coin cannot pay for the transfer of it and the gas, twice */
export const checkCoinAndGas = ({ account }: Payer, order: TransferOrder, { held, most }: Coin): void =>
  checkCoinFloat(held, account, order, { most });

interface Trying {
  /** What would arrive. */
  readonly arrives: () => Promise<bigint>;
  readonly gas: () => Promise<bigint>;
}

/**
 * @returns the gas to allow
 * @throws PayoutBlocked when the token refuses the transfer, would bring less than was ordered, or needs more gas than is configured
 */
export async function checkTransfer(
  { chain }: Payer,
  { token: { symbol, decimals }, receiver, amount }: TransferOrder,
  { arrives, gas }: Trying,
  { gasMax }: EvmFees,
): Promise<bigint> {
  const refused = (why: string) =>
    new PayoutBlocked('refusedByToken', `${symbol} on ${chain.name} refuses ${receiver}: ${why}`);
  const text = (units: bigint) => formatAmount(units, decimals);
  try {
    const asked = gas();
    asked.catch(() => {});
    const brought = await arrives();
    if (brought < amount) throw refused(`${text(brought)} of ${text(amount)} would arrive`);
    const needed = await asked;
    if (needed > gasMax) throw refused(`it needs ${needed} gas, the limit is ${gasMax} (GAS_MAX_${chain.id})`);
    return needed;
  } catch (error) {
    if (isRevert(error)) throw refused(error.detail);
    throw error;
  }
}
