/** Payments at a running service, from Base to Base: created, and paid by the customer. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Address, createWalletClient, encodeFunctionData, erc20Abi, http, publicActions } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { chainOf } from '../../domain/chains.ts';
import type { StoredEvent } from '../../domain/decider.ts';
import { parseAmount } from '../../domain/money.ts';
import { keepKeys } from '../../sandbox/keys.ts';
import { inParallel } from '../../src/lib/concurrency.ts';
import { openEventStore } from '../../src/store/client.ts';
import type { BenchWorld } from './world.ts';

export interface Asked {
  readonly id: string;
  readonly paymentLink: string;
  readonly source: { readonly receiverAddress: string; readonly amount: string };
}

/** Body of each request. */
export function orderOf() {
  const side = { chainId: 8453, tokenSymbol: 'USDC' };
  const destination = { ...side, amount: '10.00', receiverAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' };
  return { type: 'exactOut', display: { title: 'Coffee beans', currency: 'USD' }, source: side, destination };
}

/** @throws Error with the answer if the payment is not created */
export async function createPayment({ ordersKey }: Pick<BenchWorld, 'ordersKey'>, url: string): Promise<Asked> {
  const response = await fetch(`${url}/payment-api/payments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': ordersKey },
    body: JSON.stringify(orderOf()),
  });
  if (response.status !== 201) throw new Error(`a payment was not created: ${await response.text()}`);
  return (await response.json()) as Asked;
}

const token = chainOf(8453).tokens[0];
const gas = 120_000n;

/** Assigns the nonces of the customer's transfers here, so that no transfer waits for another. @returns a function that pays the next payment */
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

/** Sends one transfer after the other, without waiting for its inclusion. */
export async function payEach(world: BenchWorld, asked: readonly Asked[], pause_ms: number): Promise<void> {
  const pay = await openCustomer(world);
  const sent: Promise<unknown>[] = [];
  for (const each of asked) {
    sent.push(pay(each));
    await sleep(pause_ms);
  }
  await Promise.all(sent);
}

const readAtOnce = 20;
const patience_ms = 180_000;

/** @returns the events of each payment after its payout */
export async function untilPaidOut(
  world: BenchWorld,
  asked: readonly Asked[],
): Promise<readonly (readonly StoredEvent[])[]> {
  const store = openEventStore({ url: world.eventStore.url });
  try {
    return await inParallel(asked, readAtOnce, async ({ id }) => {
      for (const until_ms = Date.now() + patience_ms; Date.now() < until_ms; await sleep(500)) {
        const events = await store.read(`payment-${id}`);
        if (events.at(-1)?.type === 'PayoutConfirmed') return events;
      }
      throw new Error(`a payment was not paid out within ${patience_ms} ms`);
    });
  } finally {
    await store.close();
  }
}

export const eventOf = (history: readonly StoredEvent[], type: string): StoredEvent => {
  const found = history.find((event) => event.type === type);
  if (!found) throw new Error(`a payment has no ${type}`);
  return found;
};

export const timeOf = (history: readonly StoredEvent[], type: string): number =>
  Date.parse((eventOf(history, type).metadata as { readonly at: string }).at);
