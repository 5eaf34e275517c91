/** Checks before a burn, a mint or a send of a rebalance is signed: a transaction that would fail costs gas and moves nothing. */
import { type Address, encodeFunctionData, erc20Abi } from 'viem';
import { assert } from '../../../../domain/decider.ts';
import { formatAmount } from '../../../../domain/money.ts';
import { parseBurnMessage } from '../../../../domain/rebalance/burnMessage.ts';
import { chainOfEndpoint, isLocking, isUsdt0Chain, oftOn } from '../../../../domain/rebalance/usdt0.ts';
import { ask } from '../../node/jsonRpc.ts';
import { PayoutBlocked, type TransferOrder } from '../../ports.ts';
import { burnAllowanceOf, isMinted } from '../cctp.ts';
import type { EvmFees } from '../config.ts';
import { quantity } from '../reads.ts';
import type { EvmNode } from '../rpc.ts';
import { quoteSend } from '../usdt0.ts';
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

/**
 * @returns the gas to allow
 * @throws PayoutBlocked when the float or Ethereum's allowance lacks the amount, the message costs more than ordered, or the send would be
 * reverted
 */
export async function gasToSend(node: EvmNode, payer: Payer, order: TransferOrder, fees: EvmFees): Promise<bigint> {
  await checkTokens(node, payer, order);
  const { chainId, token, amount, form } = order;
  assert(form?.kind === 'oftSend' && isUsdt0Chain(chainId), 'only a send of USDT0 sends');
  const units = (value: bigint) => `${formatAmount(value, token.decimals)} ${token.symbol}`;
  if (isLocking(chainId)) {
    const args = [payer.account, oftOn(chainId) as Address] as const;
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'allowance', args });
    const allowed = await ask(node, 'eth_call', [{ to: token.address, data }, 'latest'], quantity);
    if (allowed < amount)
      throw new PayoutBlocked(
        'refusedByToken',
        `the contract that locks may take ${units(allowed)} on ${payer.chain.name}, ${units(amount)} are to be sent: order an allowance first`,
      );
  }
  const to = chainOfEndpoint(form.destinationDomain);
  assert(to !== undefined, 'a send leads to a chain of ours');
  const quoted = await quoteSend(node, chainId, { to, recipient: form.recipient, amount });
  if (quoted > BigInt(form.messageFee))
    throw new PayoutBlocked(
      'gas',
      `the message costs ${quoted} wei now, and ${form.messageFee} were ordered: it waits for a lower fee, or cancel it and order it again`,
    );
  return gasFor(node, payer, order, fees);
}
