/** A payer's transaction on Solana while the real process is killed at each point of its relay: the payer pays once, and gets the result. */
import assert from 'node:assert/strict';
import { Keypair, PublicKey } from 'solana-web3-v1';
import { verifyChain } from '../../commands/codec.ts';
import { keepKeys } from '../../sandbox/keys.ts';
import { fundWallet } from '../../sandbox/solana/controls.ts';
import { keypairOf } from '../../sandbox/solana/wallet.ts';
import { isCutOff } from '../support/customers.ts';
import { createSandbox } from '../support/sandbox.ts';
import type { Answer } from '../support/shop.ts';
import { type SolanaClient, solanaClient } from '../support/solana.ts';
import { programTransaction, untilSettled } from '../support/solanaRelays.ts';
import { ask402, headerOf } from '../support/x402.ts';

/** In the order of a relay's life. A restart in the middle signs the second transaction, which passes the middle points again. */
const points = [
  'relay.afterReserve',
  'RelayOrdered.afterAppend',
  'relay.beforeSign',
  'relay.afterSign',
  'RelaySigned.beforeAppend',
  'RelaySigned.afterAppend',
  'relay.beforeBroadcast',
  'relay.afterBroadcast',
  'RelayAccountOpened.beforeAppend',
  'RelayAccountOpened.afterAppend',
  'RelayConfirmed.beforeAppend',
  'RelayConfirmed.afterAppend',
];
const settings = { POLL_MS_501: '50', POLL_MS_8453: '50' };
const held = 20_000000n;

describe('kill -9 with a payer’s transaction on its way on Solana', () => {
  const sandbox = createSandbox({ chains: [8453, 501] });
  let client: SolanaClient;
  let relay: PublicKey;
  let before_lamports: number;
  let left_lamports: number;
  let paid = 0;
  after(() => sandbox.destroy());

  const url = () => sandbox.file().chains['501']?.rpcUrl ?? '';
  const lamports = () => client.connection.getBalance(relay, 'finalized');

  before(async () => {
    assert.equal(await sandbox.start(settings), 'ready', sandbox.printed());
    client = solanaClient(url());
    relay = keypairOf(keepKeys(sandbox.dataDir).solana.relay).publicKey;
    before_lamports = await lamports();
    await sandbox.kill();
  });

  async function bill() {
    const order = {
      type: 'exactOut',
      display: { title: 'Tea' },
      source: { chainId: 501, tokenSymbol: 'USDC' },
      destination: { amount: '5.00' },
    };
    const { body: payment } = await sandbox.create(order, sandbox.file().merchant.ordersKey);
    const path = new URL(payment.paymentLink).pathname;
    const [requirement] = (await ask402(payment.paymentLink)).required.accepts;
    const payer = Keypair.generate();
    await fundWallet(url(), payer.publicKey.toBase58(), { usdc: held });
    await sandbox.until(async () => (await client.balance(payer.publicKey, 'finalized').catch(() => null)) === held);
    return { payment, path, requirement, payer };
  }

  async function transactionOf(payer: Keypair, { payTo, amount, extra }: Answer['body']): Promise<string> {
    const { blockhash } = await client.connection.getLatestBlockhash('finalized');
    const terms = { feePayer: extra.feePayer, to: new PublicKey(payTo), amount: BigInt(amount), blockhash };
    return programTransaction({ payer, ...terms });
  }

  for (const point of points)
    it(`dies at ${point}, and the payer has paid once after the restart`, async () => {
      assert.equal(await sandbox.start({ ...settings, CRASH_AT: point }), 'ready', sandbox.printed());
      const { payment, path, requirement, payer } = await bill();
      // The service has a new port after each start.
      const hand = async (transaction: string) => [
        await ask402(`${sandbox.file().baseUrl}${path}`, headerOf(requirement, { transaction })),
      ];
      let last = '';
      const sign = async () => {
        last = await transactionOf(payer, requirement);
        return last;
      };
      await untilSettled(sign, hand).catch((error: unknown) => {
        if (!isCutOff(error)) throw error;
      });
      assert.deepEqual(await sandbox.ended(), { code: null, signal: 'SIGKILL' }, sandbox.printed());

      assert.equal(await sandbox.start(settings), 'ready', sandbox.printed());
      let isFirst = true;
      const again = async () => {
        if (!isFirst) return sign();
        isFirst = false;
        return last;
      };
      const [answer] = await untilSettled(again, hand);
      assert.equal(answer?.status, 200, JSON.stringify(answer?.response));
      assert.deepEqual([answer.response.success, answer.response.payer], [true, payer.publicKey.toBase58()]);
      const done = await sandbox.follow(payment.id);
      assert.deepEqual([done.status, done.source.txHash], ['payment_payout_completed', answer.response.transaction]);
      assert.equal(await client.balance(payer.publicKey), held - BigInt(requirement.amount));
      paid += 1;
      await sandbox.until(
        async () => (await sandbox.query("SELECT FROM transfers WHERE kind = 'relay' AND step <> 'done'")).length === 0,
      );
      left_lamports = await lamports();
      await sandbox.stop();
    });

  it('the log has one settled relay for each payment, and each lamport that the relay account has spent', async () => {
    const history = await sandbox.history();
    for (const [stream, events] of history) assert.equal(verifyChain(events), null, stream);
    const events = [...history].filter(([stream]) => stream.startsWith('relay-')).flatMap(([, each]) => each);
    assert.equal(events.filter(({ type }) => type === 'RelayConfirmed').length, paid);
    const hashes = events.flatMap(({ type, data }) =>
      type === 'RelaySigned' ? [(data as { hash: string }).hash] : [],
    );
    assert.equal(new Set(hashes).size, hashes.length);
    interface Cost {
      readonly fee: string;
      readonly rent?: string;
    }
    const costs = events.flatMap(({ data }) => {
      const { cost, proof } = data as { readonly cost?: Cost; readonly proof?: { landed?: { cost: Cost } } };
      return cost ?? proof?.landed?.cost ?? [];
    });
    const spent = costs.reduce((sum, { fee, rent = '0' }) => sum + BigInt(fee) + BigInt(rent), 0n);
    assert.equal(spent, BigInt(before_lamports - left_lamports));
  });
});
