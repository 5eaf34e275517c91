import assert from 'node:assert/strict';
import { type Address, numberToHex, pad, parseEther } from 'viem';
import { chainOf, findToken } from '../../../../domain/chains.ts';
import type { Form, PaidTogether } from '../../../../domain/transfer/shapes.ts';
import { fund } from '../../../../sandbox/tokens.ts';
import { payManyAddress } from '../../../../src/chains/evm/payMany.ts';
import { broughtIn } from '../../../../src/chains/evm/payouts/fate.ts';
import { createEvmPayoutRail } from '../../../../src/chains/evm/payouts/rail.ts';
import { transferTopic } from '../../../../src/chains/evm/reads.ts';
import { PayoutBlocked, SigningRefused } from '../../../../src/chains/ports.ts';
import { accountOf, chainClient, sharedAnvil, treasury } from '../../../support/anvil.ts';
import { evmConfig } from '../world.ts';
import { signedBy } from './signing.ts';

const { signal } = new AbortController();
const usdc = findToken(chainOf(8453), 'USDC')!;
const paid = (at: number, receiver: string, amount: bigint): PaidTogether => ({
  paymentId: `payment-${at}`,
  appId: 'shop',
  receiver,
  amount,
});
const payments = [
  paid(1, accountOf(931), 4_000000n),
  paid(2, accountOf(931), 4_000000n),
  paid(3, accountOf(932), 5_000000n),
];
const orderOf = (
  all: readonly PaidTogether[] = payments,
  amount = all.reduce((sum, each) => sum + each.amount, 0n),
) => ({
  chainId: 8453 as const,
  token: usdc,
  receiver: payManyAddress,
  receiverMemo: null,
  amount,
  form: { kind: 'payMany', payments: all } as const,
});

describe('EVM payouts in one transaction', () => {
  async function world() {
    const { rpcUrl } = await sharedAnvil(8453);
    const client = chainClient(rpcUrl);
    await fund(rpcUrl, 8453, treasury, { gas: parseEther('1'), tokens: { USDC: 100_000000n } });
    const rail = createEvmPayoutRail(
      { ...evmConfig(8453, [rpcUrl]), depths: { final: 1, finalLarge: 2, payout: 1 } },
      treasury,
    );
    const prepare = async (order: ReturnType<typeof orderOf>) =>
      rail.numbering.prepare(order, await rail.numbering.minedNonce(signal));
    /** Sends an operation of the treasury that concerns the contract. */
    const operate = async (form: Form) => {
      const order = { ...orderOf(), form, amount: 0n };
      const sent = await signedBy(
        await rail.numbering.prepare(order, await rail.numbering.minedNonce(signal)),
        1,
        'deployment',
      );
      await rail.broadcast(sent.bytes);
      await client.mine({ blocks: 4 });
    };
    const isThere = (await client.getCode({ address: payManyAddress })) !== undefined;
    if (!isThere) await operate({ kind: 'deploy', contract: 'payMany' });
    const allow = (most: bigint) => operate({ kind: 'allow', contract: 'payMany', most: most.toString() });
    return { rail, client, prepare, allow };
  }

  it('need less gas than separate ones, and are final when each payment has its own log', async () => {
    const { rail, client, prepare, allow } = await world();
    await allow(13_000000n);
    const chosen = await rail.batching?.choose(usdc, payments, signal);
    assert.deepEqual(chosen?.together, ['payment-1', 'payment-2', 'payment-3']);
    assert.ok((chosen?.gas ?? 0n) < (chosen?.apart ?? 0n));
    const attempt = { ...(await signedBy(await prepare(orderOf()), 1, 'batch')), form: orderOf().form };
    await rail.broadcast(attempt.bytes);
    await client.mine({ blocks: 4 });
    assert.equal((await rail.fate([attempt], signal)).kind, 'final');
  });

  it('are refused before they are signed where the contract may not spend so much', async () => {
    const { prepare, rail, allow } = await world();
    await allow(12_000000n);
    await assert.rejects(
      prepare(orderOf()),
      (error) => error instanceof PayoutBlocked && /may spend 12/.test(error.message),
    );
    assert.deepEqual((await rail.batching?.choose(usdc, payments, signal))?.together, []);
  });

  it('are signed exactly as ordered: no other sum, receiver, token or payment twice', async () => {
    const { prepare, allow } = await world();
    await allow(50_000000n);
    const unsigned = await prepare(orderOf());
    const refuses = (order: object) =>
      assert.rejects(signedBy({ ...unsigned, order: { ...unsigned.order, ...order } }, 1, 'batch'), SigningRefused);
    const [first, second, third] = payments as [PaidTogether, PaidTogether, PaidTogether];
    await refuses({ amount: 12_000000n });
    await refuses({ receiver: accountOf(931) });
    await refuses({ form: { kind: 'payMany', payments: [first, second, { ...third, receiver: accountOf(933) }] } });
    await refuses({ form: { kind: 'payMany', payments: [first, first, third] } });
    await assert.rejects(signedBy(unsigned, 1, 'payout'), SigningRefused);
  });

  it('count each log for one of equal payments', () => {
    const log = (to: Address, amount: bigint) => ({
      address: usdc.address as Address,
      topics: [transferTopic, pad(treasury), pad(to)],
      data: pad(numberToHex(amount)),
      index: 0,
    });
    const { form } = orderOf();
    const of = (...logs: ReturnType<typeof log>[]) => broughtIn({ logs }, treasury, { token: usdc, form });
    assert.deepEqual(of(log(accountOf(931), 4_000000n), log(accountOf(932), 5_000000n)), [4_000000n, 0n, 5_000000n]);
    assert.deepEqual(of(log(accountOf(931), 3_900000n), log(accountOf(931), 4_000000n)), [4_000000n, 3_900000n, 0n]);
  });
});
