/** Strangers who would have the treasury pay rent for their token accounts, tried against the running service. */
import assert from 'node:assert/strict';
import { Keypair } from 'solana-web3-v1';
import { createSandbox } from '../support/sandbox.ts';
import { walletOrders } from '../support/walletOrders.ts';

describe('hostile: rent', () => {
  const sandbox = createSandbox({ chains: [8453, 501] });
  before(async () => assert.equal(await sandbox.start(), 'ready', sandbox.printed()));
  after(() => sandbox.destroy());
  const { order } = walletOrders(sandbox);

  const create = (amount: string) => {
    const receiverAddress = Keypair.generate().publicKey.toBase58();
    return sandbox.create(order('exactOut', { chainId: 8453 }, { chainId: 501, receiverAddress, amount }));
  };

  it('is not to be had for a millionth: the fee pays for it, and less than it costs is refused', async () => {
    const tiny = await create('0.000001');
    assert.deepEqual([tiny.status, tiny.body.errors?.[0].pointer], [400, '/destination/amount']);
    const least = /at least (\d+\.\d+) USDC/.exec(tiny.body.message)?.[1] ?? '0';
    assert.ok(Number(least) > 0.4, `rent is worth some 0.41, the least is ${least}`);
    const { status, body } = await create(least);
    assert.equal(status, 201, JSON.stringify(body));
    assert.ok(Number(body.source.fee) >= Number(least), `the fee is ${body.source.fee}`);
  });
});
