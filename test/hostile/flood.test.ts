/** Strangers who send hundreds of small transfers to one payment of a running service. */
import assert from 'node:assert/strict';
import { type Address, createPublicClient, createWalletClient, erc20Abi, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { payinsMax } from '../../domain/payment/payins.ts';
import { keepKeys } from '../../sandbox/keys.ts';
import { localRpc } from '../../sandbox/localRpc.ts';
import { createSandbox } from '../support/sandbox.ts';
import { isFull } from '../support/suite.ts';
import { walletOrders } from '../support/walletOrders.ts';

/** Transfers beyond the maximum of a payment. */
const beyondMax = isFull ? payinsMax : 20;
const smallMax = payinsMax / 2;

/** Most of them before a node has put the first into a block. */
const atOnce = 50;

describe('a flood of transfers', () => {
  const sandbox = createSandbox({ chains: [8453, 1] });
  before(async () => assert.equal(await sandbox.start(), 'ready', sandbox.printed()));
  after(() => sandbox.destroy());

  const { order, create } = walletOrders(sandbox);
  const receiver = '0x3333333333333333333333333333333333333333';
  const made = () =>
    create(order('exactOut', { chainId: 8453 }, { chainId: 1, receiverAddress: receiver, amount: '5' }));

  async function flood({ source }: Awaited<ReturnType<typeof made>>, count: number, amount: bigint) {
    const transport = localRpc(sandbox.file().chains['8453']?.rpcUrl ?? '');
    const wallet = createWalletClient({ account: privateKeyToAccount(keepKeys(sandbox.dataDir).customer), transport });
    const chain = createPublicClient({ transport, pollingInterval: 200 });
    let nonce = await chain.getTransactionCount({ address: wallet.account.address });
    for (let sent = 0; sent < count; sent += atOnce) {
      const hashes: Hex[] = [];
      for (let n = sent; n < Math.min(sent + atOnce, count); n++)
        hashes.push(
          await wallet.writeContract({
            chain: null,
            address: source.tokenAddress as Address,
            abi: erc20Abi,
            functionName: 'transfer',
            args: [source.receiverAddress as Address, amount],
            gas: 120_000n,
            nonce: nonce++,
          }),
        );
      const last = await chain.waitForTransactionReceipt({ hash: hashes.at(-1) as Hex });
      assert.equal(last.status, 'success');
    }
  }

  const recorded = async (paymentId: string) =>
    (await sandbox.query(`SELECT 1 FROM payins WHERE payment_id = '${paymentId}'`)).length;
  const beyond = async (paymentId: string) =>
    (await sandbox.query(`SELECT 1 FROM unmatched WHERE beyond_payment = '${paymentId}' AND verdict = 'open'`)).length;

  it('to a payment that waits does not keep its customer’s money out', async () => {
    const payment = await made();
    await flood(payment, smallMax + beyondMax / 2, 10_000n);
    await sandbox.until(async () => (await beyond(payment.id)) === beyondMax / 2);
    await sandbox.pay(payment);
    await sandbox.follow(payment.id);
    assert.equal(await recorded(payment.id), smallMax + 1);
  });

  it('to a payment that is over is kept outside its stream, over a restart, and everybody else is paid', async () => {
    const [over, other] = [await made(), await made()];
    await sandbox.pay(over);
    await sandbox.follow(over.id);
    await flood(over, payinsMax + beyondMax, 200_000n);
    await sandbox.kill();
    assert.equal(await sandbox.start(), 'ready', sandbox.printed());
    await sandbox.until(async () => (await beyond(over.id)) === beyondMax + 1);
    assert.equal(await recorded(over.id), payinsMax);
    await sandbox.pay(await sandbox.read(other.id));
    await sandbox.follow(other.id);
    const { status } = await sandbox.operations('/readyz');
    assert.equal(status, 200);
  });
});
