/** A refund and then a withdrawal, while the real process is killed at each point of both: each is sent once and reported once. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Address, getAddress, parseAbiItem, parseUnits } from 'viem';
import { verifyChain } from '../../commands/codec.ts';
import { chainOf, findToken } from '../../domain/chains.ts';
import { keepKeys } from '../../sandbox/keys.ts';
import { patientFetch } from '../../sandbox/patientFetch.ts';
import { accountOf } from '../../src/chains/evm/signer/signer.ts';
import { Jar } from '../api/desk.ts';
import { chainClient } from '../support/anvil.ts';
import { tableOf } from '../support/csv.ts';
import { codeMailedFromNow } from '../support/mailedCode.ts';
import { type Answer, createSandbox, type SandboxOptions } from '../support/sandbox.ts';

/** In the order of a transfer's life. */
const pointsOf = (kind: 'refund' | 'withdrawal', confirmed: 'RefundConfirmed' | 'OperationConfirmed') => [
  ...[`${kind}.beforeSign`, `${kind}.afterSign`, `${kind}.beforeBroadcast`, `${kind}.afterBroadcast`],
  `${confirmed}.afterAppend`,
];
export const transferPoints = {
  refund: pointsOf('refund', 'RefundConfirmed'),
  withdrawal: pointsOf('withdrawal', 'OperationConfirmed'),
};

export interface TransferCrashOptions extends Pick<SandboxOptions, 'eventStoreUrl'> {
  readonly points: { readonly refund: readonly string[]; readonly withdrawal: readonly string[] };
}
const settings = { TREASURY_ADDRESS_COOLDOWN_HOURS: '0', POLL_MS_1: '50', POLL_MS_8453: '50' };
const payer = getAddress('0x0000000000000000000000000000000000bac001');
const bank = getAddress('0x00000000000000000000000000000000000ba4c0');
const { address: usdc } = findToken(chainOf(1), 'USDC') ?? assert.fail();

/** Specs of one world whose service dies at each of the points, in this order. */
export function survivesTransferCrashes({ points, eventStoreUrl }: TransferCrashOptions): void {
  const sandbox = createSandbox({ chains: [8453, 1], eventStoreUrl });
  after(() => sandbox.destroy());

  const tool = async (name: string, ...args: string[]) => {
    const env = { ...process.env, ...settings, DATA_DIR: sandbox.dataDir };
    return (await promisify(execFile)(process.execPath, [`tools/${name}.ts`, ...args], { env })).stdout;
  };
  let payment: Answer['body'];

  /** Orders in the first round. The process dies in each round, and the next one continues. */
  function diesAtEach(points: readonly string[], order: () => Promise<unknown>): void {
    for (const [round, point] of points.entries()) {
      it(`dies at ${point}`, async () => {
        const started = await sandbox.start({ ...settings, CRASH_AT: point });
        if (round === 0) {
          assert.equal(started, 'ready', sandbox.printed());
          // Once the order is stored, the tool may be interrupted with the service's event store.
          void order().catch(() => {});
        }
        assert.deepEqual(await sandbox.ended(), { code: null, signal: 'SIGKILL' }, sandbox.printed());
      });
    }
  }

  before(async () => {
    assert.equal(await sandbox.start(settings), 'ready', sandbox.printed());
    assert.equal((await sandbox.follow((await paid()).id)).status, 'payment_payout_completed');
    await tool('treasury', 'pause', 'nobody is paid on Base', '8453');
    payment = await paid();
    await sandbox.follow(payment.id, ({ status }) => status === 'payment_bridging');
    await tool('payouts', 'bounce', payment.id, '--reason', 'the receiver is blocked');
    assert.equal((await sandbox.follow(payment.id)).status, 'payment_bounced');
    await tool('treasury', 'addresses', 'add', '1', bank, '--label', 'the bank');
    await sandbox.kill();
  });

  describe('in the refund of all received money', () => {
    diesAtEach(points.refund, () =>
      tool('refunds', 'order', payment.id, '--all', '--to', payer, '--reason', 'the receiver is blocked'),
    );
  });

  describe('in the withdrawal', () => {
    diesAtEach(points.withdrawal, () => tool('treasury', 'withdraw', '1', 'USDC', '10', '--to', bank));
  });

  describe('and without further crashes', () => {
    let refunded: Answer['body'];
    before(async () => {
      assert.equal(await sandbox.start(settings), 'ready', sandbox.printed());
      refunded = await sandbox.follow(payment.id, ({ status }) => status === 'payment_refunded');
      await sandbox.until(
        async () => (await sandbox.query("SELECT FROM operations WHERE standing = 'done'")).length > 0,
      );
    });

    it('each receiver has the amount once, and nothing else left the treasury', async () => {
      const [refund, ...more] = refunded.refunds;
      assert.deepEqual([refund.status, more], ['completed', []]);
      const units = (amount: string) => parseUnits(amount, 6);
      assert.equal(units(refund.amount) + units(refund.networkFee), units(payment.source.amount));
      const sent = await sentByTreasury();
      assert.deepEqual(
        sent.map(({ to, value }) => [to, value]),
        [
          [payer, units(refund.amount)],
          [bank, units('10')],
        ],
      );
      assert.equal(sent[0]?.hash, refund.txHash);
    });

    it('the payment is refunded: on its page, in the dashboard, and in the table for spreadsheets', async () => {
      // The service has a new port since it returned the link.
      const link = `${sandbox.file().baseUrl}${new URL(payment.paymentLink).pathname}?lang=en`;
      // An overloaded service answers that it cannot show the page now.
      await sandbox.until(async () => {
        const page = await fetch(link, { headers: { accept: 'text/html' } });
        return page.status !== 503 && /Your money was refunded/.test(await page.text());
      });
      const jar = await signedIn();
      const list = `/dashboard/apps/${sandbox.file().merchant.appId}/payments`;
      for (const path of [`${list}?status=payment_refunded`, `${list}/${payment.id}`]) {
        const { status, text } = await jar.get(path);
        assert.equal(status, 200, path);
        assert.ok(text.includes(payment.id), path);
        assert.match(text, /Refunded/, path);
      }
      const [row] = tableOf((await jar.get(`${list}.csv`)).text).filter((each) => each['payment_id'] === payment.id);
      const [refund] = refunded.refunds;
      assert.deepEqual(
        [row?.['status'], row?.['refund_network_fees'], row?.['refund_tx_hashes']],
        ['payment_refunded', `${refund.networkFee} USDC`, refund.txHash],
      );
    });

    it('the log has each order and each confirmation once', async () => {
      assert.deepEqual(await sandbox.stop(), { code: 0, signal: null }, sandbox.printed());
      const history = await sandbox.history();
      const types = [...history].flatMap(([stream, events]) => {
        assert.equal(verifyChain(events), null, stream);
        return events.map(({ type }) => type);
      });
      const all = ['RefundRequested', 'RefundConfirmed', 'OperationOrdered', 'OperationConfirmed'];
      assert.deepEqual(
        types.filter((type) => all.includes(type)),
        all,
      );
    });
  });

  /** A payment from Ethereum to Base. */
  async function paid(): Promise<Answer['body']> {
    const order = {
      type: 'exactOut',
      display: { title: 'Tea' },
      source: { chainId: 1, tokenSymbol: 'USDC' },
      destination: { amount: '5.00' },
    };
    const { body } = await sandbox.create(order, sandbox.file().merchant.ordersKey);
    await sandbox.pay(body);
    return body;
  }

  async function sentByTreasury() {
    const logs = await chainClient(sandbox.file().chains['1']?.rpcUrl ?? '').getLogs({
      address: usdc as Address,
      event: parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)'),
      args: { from: accountOf(keepKeys(sandbox.dataDir).treasury) as Address },
      fromBlock: 0n,
      strict: true,
    });
    return logs.map(({ args: { to, value }, transactionHash: hash }) => ({ to, value, hash }));
  }

  async function signedIn(): Promise<Jar> {
    const jar = new Jar(sandbox.file().baseUrl, patientFetch);
    const { demoEmail, mailbox } = sandbox.file();
    const code = codeMailedFromNow(mailbox.folder, { to: demoEmail });
    await jar.post('/dashboard/sign-in', { email: demoEmail });
    await sandbox.until(() => code() !== undefined);
    await jar.post('/dashboard/code', { code: code() ?? '' });
    return jar;
  }
}
