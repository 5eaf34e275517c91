/** Transactions of a treasury account: built here, decoded and checked again by the signer. */
import { type Address, encodeFunctionData, erc20Abi, type Hex } from 'viem';
import type { Chain } from '../../../../domain/chains.ts';
import { assert } from '../../../../domain/decider.ts';
import { lower } from '../../../lib/concurrency.ts';
import type { TransferOrder, Unsigned } from '../../ports.ts';
import { flushCall, forwarderDeployment } from '../addresses.ts';
import { authorizationCall } from '../authorization.ts';
import { allowanceCall, burnCall, mintCall } from '../cctp.ts';
import { payManyCall, payManyDeployment } from '../payMany.ts';
import { sendCall } from '../usdt0.ts';

/** A type 2 transaction (EIP-1559) without its signature; numbers as digit texts. */
export interface EvmPayload {
  readonly to: Address;
  readonly data: Hex;
  /** Wei to send along; omitted for none. */
  readonly value?: string;
  readonly gas: string;
  readonly maxFeePerGas: string;
  readonly maxPriorityFeePerGas: string;
}

export interface GasPrice {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

export const transferCall = ({
  token,
  receiver,
  amount,
}: Pick<TransferOrder, 'token' | 'receiver' | 'amount'>): Call => ({
  to: token.address as Address,
  data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [receiver as Address, amount] }),
});

/** Transaction of an order in any form. @param account the treasury */
export function callFor(order: TransferOrder, account: Address): Call {
  switch (order.form?.kind) {
    case 'flush': {
      const salts = order.form.deposits.map(({ salt }) => salt);
      return flushCall(account, salts, order.token.address);
    }
    case 'deploy':
      return order.form.contract === 'payMany' ? payManyDeployment : forwarderDeployment(account);
    case 'allow':
      return allowanceCall(order);
    case 'payMany':
      return payManyCall(order);
    case 'authorization':
      return authorizationCall(order);
    case 'burn':
      return burnCall(order);
    case 'oftSend':
      return sendCall(order, account);
    case 'mint':
      return mintCall(order);
    case 'coin':
      return { to: order.receiver as Address, data: '0x', value: order.amount };
    default:
      return transferCall(order);
  }
}

/** Maximum gas of one transaction (EIP-7825). */
export const transactionGasMax = 1n << 24n;
/** A deployment is rare, and uses about as much gas as ten transfers. */
const deploymentOverTransfer = 4n;
/** A burn uses about as much as four transfers, a mint as five: it verifies two signatures and calls two proxies. A send of USDT0 uses about six. */
const rebalanceOverTransfer = 3n;

/** Maximum gas of an order. @param gasMax of one transfer; each deposit of a flush, and each payout of a batch, may need as much */
export function gasMaxFor({ form }: Pick<TransferOrder, 'form'>, gasMax: bigint): bigint {
  if (form?.kind === 'flush') return lower(gasMax * BigInt(form.deposits.length), transactionGasMax);
  if (form?.kind === 'payMany') return lower(gasMax * BigInt(form.payments.length), transactionGasMax);
  if (form?.kind === 'burn' || form?.kind === 'mint' || form?.kind === 'oftSend') return gasMax * rebalanceOverTransfer;
  return form?.kind === 'deploy' ? gasMax * deploymentOverTransfer : gasMax;
}

/** Empty order, for transactions that are no transfer from the treasury. */
export function noOrder(chain: Chain, account: string): TransferOrder {
  const [token] = chain.tokens;
  assert(token !== undefined, 'every chain has a token');
  return { chainId: chain.id, token, receiver: account, receiverMemo: null, amount: 0n };
}

export interface Call {
  readonly to: Address;
  readonly data: Hex;
  /** Wei to send along. */
  readonly value?: bigint;
}

export interface Building {
  readonly account: string;
  readonly nonce: bigint;
  readonly order: TransferOrder;
  readonly call: Call;
  readonly gas: bigint;
  readonly price: GasPrice;
}

export function buildUnsigned({ account, nonce, order, call, gas, price }: Building): Unsigned {
  const fee = {
    gas: gas.toString(),
    maxFeePerGas: price.maxFeePerGas.toString(),
    maxPriorityFeePerGas: price.maxPriorityFeePerGas.toString(),
  };
  const { to, data, value } = call;
  const payload: EvmPayload = { to, data, ...(value !== undefined && { value: value.toString() }), ...fee };
  // An EVM transaction stays valid until another one uses its nonce.
  return { chainId: order.chainId, account, nonce, order, validUntil: null, fee, payload };
}
