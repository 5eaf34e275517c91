/** Orders payments at a running service, from Base to Base. */
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
