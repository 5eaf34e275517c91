import assert from 'node:assert/strict';
import { type Address, parseEther } from 'viem';
import { type ChainId, chains } from '../../../../domain/chains.ts';
import { coinOf } from '../../../../domain/money.ts';
import { fund } from '../../../../sandbox/tokens.ts';
import { createEvmPayoutRail } from '../../../../src/chains/evm/payouts/rail.ts';
import type { EvmPayload } from '../../../../src/chains/evm/payouts/transaction.ts';
import { PayoutBlocked, SigningRefused, type TransferOrder } from '../../../../src/chains/ports.ts';
import { accountOf, chainClient, sharedAnvil, treasury } from '../../../support/anvil.ts';
import { evmConfig } from '../world.ts';
import { signedBy } from './signing.ts';

const { signal } = new AbortController();
const form = { kind: 'coin' } as const;

const orderOf = (chainId: ChainId, amount: bigint, receiver = accountOf(71)): TransferOrder => ({
  chainId,
  token: coinOf(chainId),
  receiver,
  receiverMemo: null,
  amount,
  form,
});

describe('withdrawals of an EVM chain’s own coin', () => {
  for (const { id, name } of chains.filter(({ family }) => family === 'evm')) {
    it(`reach their receiver on ${name}, to the last wei`, async () => {
      const { rail, client, nonce } = await world(id);
      const order = orderOf(id, 1_000_000_000_000_000_001n);
      const before = await client.getBalance({ address: order.receiver as Address });
      const attempt = { ...(await signedBy(await rail.numbering.prepare(order, nonce), 1, 'withdrawal')), form };
      await rail.broadcast(attempt.bytes);
      await client.mine({ blocks: 4 });
      const fate = await rail.fate([attempt], signal);
      assert.equal(fate.kind, 'final');
      assert.equal(await client.getBalance({ address: order.receiver as Address }), before + order.amount);
    });
  }

  it('wait for as much coin as covers them and the gas, twice', async () => {
    const { rail, client, nonce } = await world(1);
    const held = await client.getBalance({ address: treasury });
    const isFloat = (error: unknown) => error instanceof PayoutBlocked && error.reason === 'float';
    await assert.rejects(rail.numbering.prepare(orderOf(1, held), nonce), isFloat);
    await assert.rejects(rail.numbering.prepare(orderOf(1, held - 1_000_000n), nonce), isFloat);
    await assert.rejects(rail.numbering.prepare({ ...orderOf(1, held / 2n), spokenFor: held / 2n }, nonce), isFloat);
  });

  for (const [what, code] of [
    ['uses all gas', '0x5b600056'],
    ['jumps to an invalid place', '0x600056'],
    ['executes INVALID', '0xfe'],
    ['reverts', '0x60006000fd'],
  ] as const) {
    it(`are refused where the receiver is a contract that ${what}`, async () => {
      const { rail, client, nonce } = await world(1);
      const contract = accountOf(72) as Address;
      await client.setCode({ address: contract, bytecode: code });
      const isRefused = (error: unknown) => error instanceof PayoutBlocked && error.reason === 'refusedByToken';
      await assert.rejects(rail.numbering.prepare(orderOf(1, 1n, contract), nonce), isRefused);
    });
  }

  it('are signed exactly as ordered, as withdrawals and nothing else', async () => {
    const { rail, nonce } = await world(1);
    const unsigned = await rail.numbering.prepare(orderOf(1, parseEther('1')), nonce);
    const refused = (error: unknown) => error instanceof SigningRefused && error.reason === 'mismatch';
    for (const kind of ['payout', 'refund', 'sweep', 'deployment', 'cancel'] as const)
      await assert.rejects(signedBy(unsigned, 1, kind), refused);
    const payload = unsigned.payload as EvmPayload;
    for (const other of [{ value: '2' }, { to: treasury }, { data: '0x00' as const }])
      await assert.rejects(signedBy({ ...unsigned, payload: { ...payload, ...other } }, 1, 'withdrawal'), refused);
    const { value: _, ...nothing } = payload;
    await assert.rejects(signedBy({ ...unsigned, payload: nothing }, 1, 'withdrawal'), refused);
    const { form: __, ...formless } = unsigned.order;
    await assert.rejects(signedBy({ ...unsigned, order: formless }, 1, 'withdrawal'), refused);
  });

  it('let no coin accompany a transfer of a token', async () => {
    const { rail, nonce, token } = await world(1);
    const { form: _, ...order } = { ...orderOf(1, 1_000_000n), token };
    const unsigned = await rail.numbering.prepare(order, nonce);
    const payload = { ...(unsigned.payload as EvmPayload), value: '1' };
    await assert.rejects(signedBy({ ...unsigned, payload }), SigningRefused);
  });
});

async function world(chainId: ChainId) {
  const { rpcUrl } = await sharedAnvil(chainId);
  const [token] = chains.find(({ id }) => id === chainId)?.tokens ?? [];
  assert.ok(token);
  await fund(rpcUrl, chainId, treasury, { gas: parseEther('10'), tokens: { [token.symbol]: 10n ** 19n } });
  const config = { ...evmConfig(chainId, [rpcUrl]), depths: { final: 1, finalLarge: 2, payout: 3 } };
  const rail = createEvmPayoutRail(config, treasury);
  const nonce = await rail.numbering.minedNonce(signal);
  return { rail, client: chainClient(rpcUrl), nonce, token };
}
