/** Payments at a running service, from Base to Base: ordered, and paid by the customer. */
import { type Address, createWalletClient, encodeFunctionData, erc20Abi, http, publicActions } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { chainOf } from '../domain/chains.ts';
import { parseAmount } from '../domain/money.ts';
import { keepKeys } from '../sandbox/keys.ts';
import type { BenchWorld } from './world.ts';

export interface Asked {
  readonly id: string;
  readonly paymentLink: string;
  readonly source: { readonly receiverAddress: string; readonly amount: string };
}

/** @throws Error with the answer when it is not created */
export async function createPayment({ ordersKey }: Pick<BenchWorld, 'ordersKey'>, url: string): Promise<Asked> {
  const side = { chainId: 8453, tokenSymbol: 'USDC' };
  const destination = { ...side, amount: '10.00', receiverAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' };
  const body = { type: 'exactOut', display: { title: 'Coffee beans', currency: 'USD' }, source: side, destination };
  const response = await fetch(`${url}/payment-api/payments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': ordersKey },
    body: JSON.stringify(body),
  });
  if (response.status !== 201) throw new Error(`a payment was not created: ${await response.text()}`);
  return (await response.json()) as Asked;
}

const token = chainOf(8453).tokens[0];
const gas = 120_000n;

/** Numbers the customer's transfers by hand, so that they need not wait for each other. @returns pays the next payment */
export async function openCustomer({ dataDir, rpcUrl }: BenchWorld): Promise<(asked: Asked) => Promise<unknown>> {
  const account = privateKeyToAccount(keepKeys(dataDir).customer);
  const wallet = createWalletClient({ account, transport: http(rpcUrl) }).extend(publicActions);
  let next = await wallet.getTransactionCount({ address: account.address });
  return async ({ source: { receiverAddress, amount } }) => {
    const units = parseAmount(amount, token?.decimals ?? 0);
    if (typeof units === 'string') throw new Error(units);
    const data = encodeFunctionData({
      abi: erc20Abi,
      functionName: 'transfer',
      args: [receiverAddress as Address, units],
    });
    const nonce = next++;
    return wallet.sendTransaction({ chain: null, to: token?.address as Address, data, nonce, gas });
  };
}
