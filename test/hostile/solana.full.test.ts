/** Attacks of strangers with a few dollars on a running service over Solana, from outside. */
import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { Keypair, PublicKey, SystemProgram, type TransactionInstruction } from 'solana-web3-v1';
import { getAddress } from 'viem';
import { usdc } from '../../sandbox/solana/usdc.ts';
import { transferInstructions } from '../../sandbox/solana/wallet.ts';
import { publicReferenceOf } from '../../src/chains/solana/payouts/transaction.ts';
import { createSandbox } from '../support/sandbox.ts';
import { type SolanaClient, solanaClient, tokenAccount } from '../support/solana.ts';
import { walletOrders } from '../support/walletOrders.ts';

describe('strangers on Solana', () => {
  const sandbox = createSandbox({ chains: [8453, 501] });
  let chain: SolanaClient;
  let stranger: Keypair;
  before(async () => {
    assert.equal(await sandbox.start(), 'ready', sandbox.printed());
    chain = solanaClient(sandbox.file().chains['501']?.rpcUrl ?? '');
    stranger = await chain.person();
  });
  after(() => sandbox.destroy());

  const { order, create } = walletOrders(sandbox);
  const onBase = { chainId: 8453, receiverAddress: getAddress(`0x${'5a'.repeat(20)}`), amount: '1' };
  const send = async (...instructions: TransactionInstruction[]) =>
    chain.send(await chain.signed(stranger, instructions), { skipPreflight: true });
  const tryToCreate = (amount: string) => {
    const receiverAddress = Keypair.generate().publicKey.toBase58();
    return sandbox.create(order('exactOut', { chainId: 8453 }, { chainId: 501, receiverAddress, amount }));
  };
  const completed = async (id: string) =>
    assert.equal((await sandbox.follow(id)).status, 'payment_payout_completed', sandbox.printed());
  /** Reads the link again: a restarted service has another address. */
  const again = async (id: string) => {
    const { ordersKey: key } = sandbox.file().wallet;
    return (await sandbox.call('GET', `/payment-api/payments/${id}`, { key })).body;
  };
  /** Saved cursors of all passes. */
  const cursors = async () => {
    const rows = await sandbox.query<{ slot: string }>(
      `SELECT block_number AS slot FROM ops.chain_cursors WHERE chain_id = 501`,
    );
    return rows.map(({ slot }) => Number(slot));
  };

  it('send a millionth of a dollar and a lamport to a deposit: no pass stops, over a restart neither, and others are paid', async () => {
    const [attacked, other] = [
      await create(order('exactOut', { chainId: 501 }, onBase)),
      await create(order('exactOut', { chainId: 501 }, onBase)),
    ];
    const to = new PublicKey(attacked.source.receiverAddress);
    await send(...(await transferInstructions({ from: stranger.publicKey, to, ...usdc, amount: 1n })));
    const toPubkey = await tokenAccount(to);
    const lamport = () => SystemProgram.transfer({ fromPubkey: stranger.publicKey, toPubkey, lamports: 1 });
    await send(lamport());
    for (const restarted of [false, true]) {
      if (restarted) {
        await sandbox.kill();
        assert.equal(await sandbox.start(), 'ready', sandbox.printed());
      }
      const slot = await chain.connection.getSlot('confirmed');
      // The spec's own time limit ends this if the passes stop.
      while (Math.min(...(await cursors())) <= slot) await setTimeout(500);
      const { body } = await sandbox.operations('/readyz');
      assert.deepEqual(body.checks['chain:501'], { ok: true });
    }
    for (const { id } of [other, attacked]) {
      await sandbox.pay(await again(id));
      await completed(id);
    }
  });

  it('leave a note of a balance that they left unexplained, and a service that is ready', async () => {
    const worker = 'payins:501:unexplained';
    await sandbox.query(
      `INSERT INTO ops.work_failures (worker, key, attempts, last_error, failed_at, next_attempt_at, parked_at)
       VALUES ('${worker}', 'deposit', 10, 'Unexplained: it does not add up', now(), now(), now())`,
    );
    const { status, body } = await sandbox.operations('/readyz');
    const detail = 'deposits that hold what is not explained: 1; see npm run work -- list';
    assert.deepEqual([status, body.checks['chain:501']], [200, { ok: true, detail }]);
    const metrics = await sandbox.operations('/metrics');
    assert.match(String(metrics.body), new RegExp(`^pi_parked_items\\{worker="${worker}"\\} 1$`, 'm'));
    await sandbox.query(`DELETE FROM ops.work_failures WHERE worker = '${worker}'`);
  });

  it('name the reference that a payout would have if it were derived from the payment’s id, 110 times: it is paid out nevertheless', async () => {
    const receiverAddress = Keypair.generate().publicKey.toBase58();
    const payment = await create(
      order('exactOut', { chainId: 8453 }, { chainId: 501, receiverAddress, amount: '1.25' }),
    );
    const pubkey = new PublicKey(publicReferenceOf('payout', payment.id));
    for (let lamports = 1; lamports <= 110; lamports++) {
      const own = stranger.publicKey;
      const naming = SystemProgram.transfer({ fromPubkey: own, toPubkey: own, lamports });
      naming.keys.push({ pubkey, isSigner: false, isWritable: false });
      await send(naming);
    }
    await sandbox.pay(payment);
    await completed(payment.id);
    assert.equal(await sandbox.balance(501, 'USDC', receiverAddress), 1_250000n);
  });

  it('get no rent for a millionth: the fee pays for it, and less than it costs is refused', async () => {
    const tiny = await tryToCreate('0.000001');
    assert.deepEqual([tiny.status, tiny.body.errors?.[0].pointer], [400, '/destination/amount']);
    const least = /at least (\d+\.\d+) USDC/.exec(tiny.body.message)?.[1] ?? '0';
    assert.ok(Number(least) > 0.4, `rent is worth some 0.41, the least is ${least}`);
    const { status, body } = await tryToCreate(least);
    assert.equal(status, 201, JSON.stringify(body));
    assert.ok(Number(body.source.fee) >= Number(least), `the fee is ${body.source.fee}`);
  });
});
