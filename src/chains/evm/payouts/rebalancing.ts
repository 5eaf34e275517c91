/** Checks before a burn or a mint of a rebalance is signed: a transaction that would fail costs gas and moves nothing. */
import { formatAmount } from '../../../../domain/money.ts';
import { parseBurnMessage } from '../../../../domain/rebalance/burnMessage.ts';
import { PayoutBlocked, type TransferOrder } from '../../ports.ts';
import { burnAllowanceOf, isMinted } from '../cctp.ts';
import type { EvmFees } from '../config.ts';
import type { EvmNode } from '../rpc.ts';
import { gasFor } from './forwarding.ts';
import { checkTokens, type Payer } from './preflight.ts';

/**
 * @returns the gas to allow
 * @throws PayoutBlocked when the float or the allowance lacks the amount, or the burn would be reverted
 */
export async function gasToBurn(node: EvmNode, payer: Payer, order: TransferOrder, fees: EvmFees): Promise<bigint> {
  await checkTokens(node, payer, order);
  const { token, amount } = order;
  const allowed = await burnAllowanceOf(node, payer.account, token.address);
  if (allowed >= amount) return gasFor(node, payer, order, fees);
  const text = (units: bigint) => `${formatAmount(units, token.decimals)} ${token.symbol}`;
  const message = `the contract that burns may take ${text(allowed)} on ${payer.chain.name}, ${text(amount)} are to be burned`;
  throw new PayoutBlocked('refusedByToken', `${message}: order an allowance first`);
}

/**
 * @returns the gas to allow
 * @throws PayoutBlocked when the message is minted already, has expired, or would be reverted
 */
export async function gasToMint(node: EvmNode, payer: Payer, order: TransferOrder, fees: EvmFees): Promise<bigint> {
  const message = order.form?.kind === 'mint' ? parseBurnMessage(order.form.message) : undefined;
  if (message && (await isMinted(node, message.nonce)))
    throw new PayoutBlocked(
      'refusedByToken',
      `somebody minted message 0x${message.nonce} on ${payer.chain.name} already`,
    );
  return gasFor(node, payer, order, fees);
}
