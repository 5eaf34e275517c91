/** The service's handling of forged Stellar payments: it ignores everything that moved no money to it, and counts each payin once. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Asset, type Keypair, Memo, Networks, nativeToScVal, Operation, type rpc, xdr } from '@stellar/stellar-sdk';
import { getAddress } from 'viem';
import { addFault, closeLedgers, openTrustline } from '../../sandbox/stellar/controls.ts';
import { compileWallet } from '../sandbox/stellar/contracts/wallet.ts';
import { type Answer, createSandbox, type Json } from '../support/sandbox.ts';
import { type SponsoredOrder, sponsoring } from '../support/sponsoring.ts';
import { addressArg, i128Arg, type StellarTools, stellarTools, stringArg } from '../support/stellar.ts';
import { walletOrders } from '../support/walletOrders.ts';

type Got = rpc.Api.GetTransactionResponse;

/** 10.02 covers 10 and the fee. */
const amount = 10_0200000n;

describe('trusted payments on Stellar', () => {
  const sandbox = createSandbox({ chains: [8453, 1500] });
  let tools: StellarTools;
  let payer: Keypair;
  let sponsor: Keypair;
  /** The payment that the attackers try to have paid. */
  let victim: Answer['body'];
  /** Hashes of transactions that really paid. */
  const honest: string[] = [];
  before(async () => {
    assert.equal(await sandbox.start(), 'ready', sandbox.printed());
    tools = stellarTools(url(), Networks.PUBLIC);
    [payer, sponsor] = [await sandbox.stellarAccount('100'), await sandbox.stellarAccount('50')];
    victim = await contractPayment();
  });
  after(() => sandbox.destroy());

  const url = () => sandbox.file().chains['1500']?.rpcUrl ?? '';
  const stellar = () => sandbox.file().stellar ?? assert.fail('the sandbox has Stellar');
  let receivers = 0;
  const newReceiver = () => getAddress(`0x${(0xa77ac_0000 + ++receivers).toString(16).padStart(40, '0')}`);

  const orderOf = (source: Json, destination: Json = {}, more: Json = {}): Json => ({
    appId: sandbox.file().wallet.appId,
    type: 'exactOut',
    display: { title: 'Coffee' },
    source: { chainId: 1500, tokenSymbol: 'USDC', ...source },
    destination: {
      chainId: 8453,
      tokenSymbol: 'USDC',
      receiverAddress: newReceiver(),
      amount: '10.00',
      ...destination,
    },
    ...more,
  });
  const intent = { intent: 'stellar_payin_contracts' };

  const { create } = walletOrders(sandbox);
  const contractPayment = () => create(orderOf({ senderAddress: payer.publicKey() }, {}, intent));

  const { simulated, sponsored, submit, withNonceOf, authorize, signedBy, lastLedger } = sponsoring(() => ({
    tools,
    contract: stellar().contract,
    payer,
    sponsor,
    amount,
  }));
  const memoOf = (payment: Answer['body']): SponsoredOrder => ({ memo: payment.source.receiverMemoContract });

  const cursor = async (): Promise<number> => {
    const [row] = await sandbox.query<{ at: number }>(
      'SELECT block_number::int AS at FROM ops.chain_cursors WHERE chain_id = 1500',
    );
    return row?.at ?? 0;
  };
  const scannedPast = (ledger: number) => sandbox.until(async () => (await cursor()) >= ledger);
  const statusOf = async ({ id }: Answer['body']) => (await sandbox.read(id)).status;
  const payinsOf = ({ id }: Answer['body']) =>
    sandbox.query<{ hash: string }>(`SELECT tx_hash AS hash FROM payins WHERE payment_id = '${id}'`);

  /** Ledger of the last attack. The service saves every ten seconds that it has passed ledgers without payins: the spec waits for this once. */
  let attacked = 0;
  /** Payments that the attackers try to have paid. */
  const targets: Answer['body'][] = [];

  /** No money moved to the treasury. The spec checks this after the service has passed the last attack's ledger. */
  async function unbelieved(expected: 'FAILED' | 'SUCCESS', attack: () => Promise<Got>): Promise<void> {
    const balances = () => Promise.all([payer.publicKey(), stellar().treasury].map(tools.balance));
    const before = await balances();
    const got = await attack();
    assert.equal<string>(got.status, expected);
    assert.deepEqual(await balances(), before);
    attacked = 'ledger' in got ? got.ledger : assert.fail('it is in no ledger');
  }

  async function nothingIsKnown(): Promise<void> {
    await scannedPast(attacked);
    for (const target of [victim, ...targets]) {
      assert.equal(await statusOf(target), 'payment_unpaid');
      assert.deepEqual(await payinsOf(target), []);
    }
  }

  describe('an attack with', () => {
    it('a replayed authorization', async () => {
      const paid = await contractPayment();
      const { transaction, entry } = await simulated(memoOf(paid));
      const signed = await signedBy(payer)(entry);
      const first = await submit(transaction, [signed]);
      assert.equal(first.status, 'SUCCESS');
      honest.push(first.txHash);
      assert.equal((await sandbox.follow(paid.id)).status, 'payment_payout_completed');
      await unbelieved('FAILED', async () => {
        const again = await simulated(memoOf(paid));
        return submit(withNonceOf(again.transaction, signed), [signed]);
      });
      assert.deepEqual(await payinsOf(paid), [{ hash: first.txHash }]);
    });

    it('a foreign signer', () => unbelieved('FAILED', () => sponsored(memoOf(victim), signedBy(sponsor))));

    it('an amount that was changed after signing', () =>
      unbelieved('FAILED', async () => {
        const small = await simulated({ ...memoOf(victim), amount: 1n });
        const signed = await signedBy(payer)(small.entry);
        const large = await simulated(memoOf(victim));
        return submit(withNonceOf(large.transaction, signed), [signed]);
      }));

    it('an expired authorization', () =>
      unbelieved('FAILED', () =>
        sponsored(memoOf(victim), async (entry) => authorize(entry, payer, (await lastLedger()) - 1)),
      ));

    it('no authorization', () =>
      unbelieved('FAILED', async () => submit((await simulated(memoOf(victim))).transaction, [])));

    it('a look-alike event of another contract', async () => {
      const memo = memoOf(victim).memo;
      const lookAlike = await tools.deploy(sponsor, await compileWallet(), [
        xdr.ScVal.scvBytes(sponsor.rawPublicKey()),
      ]);
      const data = nativeToScVal(
        { amount, destination: addressArg(stellar().treasury), from: addressArg(payer.publicKey()), memo },
        { type: { amount: ['symbol', 'i128'], destination: ['symbol'], from: ['symbol'], memo: ['symbol', 'string'] } },
      );
      await unbelieved('SUCCESS', () => tools.call(sponsor, lookAlike, 'shout', addressArg(payer.publicKey()), data));
    });

    it('the same contract of another owner, who is really paid', async () => {
      const thief = await sandbox.stellarAccount();
      const other = await tools.deployPayin(sponsor, thief.publicKey());
      const args = [addressArg(sponsor.publicKey()), i128Arg(amount), stringArg(memoOf(victim).memo)];
      await unbelieved('SUCCESS', () => tools.call(sponsor, other, 'pay', ...args));
      assert.equal(await tools.balance(thief.publicKey()), amount);
    });

    it('a look-alike token', async () => {
      const classic = await create(orderOf({}));
      const fake = new Asset('USDC', sponsor.publicKey());
      await openTrustline(url(), stellar().treasury, fake);
      const payment = Operation.payment({ destination: stellar().treasury, asset: fake, amount: '10.02' });
      await unbelieved('SUCCESS', () => tools.go(sponsor, [payment], Memo.text(classic.source.receiverMemo)));
      targets.push(classic);
    });

    it('any of these leaves the payment unchanged: its payer pays it, once', async () => {
      await nothingIsKnown();
      honest.push(await sandbox.pay(victim, victim.source.amount, payer.secret()));
      const done = await sandbox.follow(victim.id);
      assert.equal(done.status, 'payment_payout_completed');
      assert.equal(await sandbox.balance(8453, 'USDC', done.destination.receiverAddress), 10_000_000n);
      const all = await sandbox.query<{ hash: string }>('SELECT tx_hash AS hash FROM payins');
      assert.deepEqual(all.map(({ hash }) => hash).sort(), honest.toSorted());
      assert.deepEqual(await sandbox.query('SELECT FROM unmatched'), []);
    });
  });

  describe('a payin that is detected twice', () => {
    it('is one: in pages that contain everything twice, and in ledgers that are read again', async () => {
      const payment = await create(orderOf({}));
      await addFault(url(), { method: 'getEvents', kind: 'duplicate', times: 40 });
      const hash = await sandbox.pay(payment);
      await sandbox.follow(payment.id);
      const at = await cursor();
      await sandbox.query(`UPDATE ops.chain_cursors SET block_number = ${at - 40} WHERE chain_id = 1500`);
      await sandbox.until(async () => (await cursor()) > at);
      const done = await sandbox.follow(payment.id);
      assert.deepEqual([done.status, done.source.amountReceived], ['payment_payout_completed', '10.02']);
      assert.deepEqual(await payinsOf(payment), [{ hash }]);
      assert.equal(await sandbox.balance(8453, 'USDC', done.destination.receiverAddress), 10_000_000n);
      assert.equal(sandbox.webhooks(payment.id).length, 2);
    });
  });

  describe('ledgers that the scan has passed over', () => {
    const rescan = async (...args: string[]) => {
      const env = { ...process.env, DATA_DIR: sandbox.dataDir };
      const { stdout } = await promisify(execFile)(process.execPath, ['tools/rescan.ts', ...args], { env });
      return stdout;
    };

    it('are read again by npm run rescan, beside the running service, which pays out the found payments', async () => {
      const payment = await create(orderOf({}));
      await sandbox.kill();
      const hash = await sandbox.pay(payment);
      const head = await closeLedgers(url(), 5);
      await sandbox.query(`UPDATE ops.chain_cursors SET block_number = ${head} WHERE chain_id = 1500`);
      assert.equal(await sandbox.start(), 'ready', sandbox.printed());
      await scannedPast(head + 5);
      assert.equal(await statusOf(payment), 'payment_unpaid');

      const first = await rescan('1500', '--from', String(head - 60));
      assert.match(first, /recorded now.* 1 /);
      assert.ok(first.includes(hash) && first.includes(payment.id), first);
      assert.equal((await sandbox.follow(payment.id)).status, 'payment_payout_completed');
      assert.ok((await cursor()) > head);

      const second = await rescan('stellar', '--from', String(head - 60), '--to', String(head));
      assert.match(second, /already known.* [1-9]/);
      assert.match(second, /recorded now.* 0 /);
      assert.ok(!second.includes(hash), second);
      assert.deepEqual(await payinsOf(payment), [{ hash }]);
    });
  });

  describe('a request is refused', () => {
    const flawed = (address: string) => address.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
    const into = (source: Json, destination: Json = {}, more: Json = {}) =>
      orderOf({ senderAddress: payer.publicKey(), ...source }, destination, { ...intent, ...more });
    const out = (destination: Json) =>
      orderOf({ chainId: 8453 }, { chainId: 1500, receiverAddress: payer.publicKey(), ...destination });
    const bad: Readonly<Record<string, () => readonly [Json, string]>> = {
      'with a wrong checksum of the sender': () => [
        into({ senderAddress: flawed(payer.publicKey()) }),
        '/source/senderAddress',
      ],
      'with a wrong checksum of the receiver': () => [
        out({ receiverAddress: flawed(payer.publicKey()) }),
        '/destination/receiverAddress',
      ],
      'into the contract without a sender': () => [orderOf({}, {}, intent), '/source/senderAddress'],
      'into the contract with another token': () => [into({ tokenSymbol: 'USDT' }), '/source/tokenSymbol'],
      'into the contract from another chain': () => [into({ chainId: 8453 }), '/source/chainId'],
      'with an amount of any amount': () => [into({}, {}, { type: 'anyAmount' }), '/destination/amount'],
      'with eight decimals': () => [
        into({ amount: '1.12345678' }, { amount: undefined }, { type: 'exactIn' }),
        '/source/amount',
      ],
      'with a memo of 29 bytes': () => [out({ receiverMemo: 'x'.repeat(29) }), '/destination/receiverMemo'],
    };
    for (const [name, make] of Object.entries(bad)) {
      it(name, async () => {
        const [body, pointer] = make();
        const refused = await sandbox.create(body);
        assert.equal(refused.status, 400, JSON.stringify(refused.body));
        assert.deepEqual(
          refused.body.errors.map((each: Json) => each['pointer']),
          [pointer],
        );
      });
    }
  });
});
