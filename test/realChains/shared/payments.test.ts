/** Payments of every kind on real nodes, and the tools that an operator uses beside them. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Keypair as SolanaKeypair } from 'solana-web3-v1';
import { getAddress, parseUnits } from 'viem';
import { type ChainId, chainOf, findToken, type TokenSymbol } from '../../../domain/chains.ts';
import { excessIsRefunded, type Overpaid } from '../../e2e/refunds.ts';
import { describeOnReal } from '../../support/realNodes.ts';
import type { Answer, Json, Sandbox } from '../../support/sandbox.ts';
import {
  realChainIds,
  sharedRealSandbox,
  sharedSettings,
  startSharedRealSandbox,
} from '../../support/sharedSandbox.ts';
import { muxed } from '../../support/stellar.ts';
import { walletOrders } from '../../support/walletOrders.ts';

interface Kind {
  readonly title: string;
  readonly from: ChainId;
  readonly to: ChainId;
  readonly type?: 'exactIn' | 'exactOut' | 'anyAmount';
  readonly pays?: TokenSymbol;
  readonly gets?: TokenSymbol;
  /** Intent of the order's source, when the payer on Stellar is known. */
  readonly intent?: 'stellar_payin_contracts';
  /** Pays by a plain payment with the memo where the order offers the contract, too. */
  readonly plainly?: boolean;
  /** Pays in two transfers. */
  readonly inTwo?: boolean;
  readonly receiver?: (sandbox: Sandbox) => Promise<string>;
}

const kinds: readonly Kind[] = [
  { title: 'USDC from Base, exactOut', from: 8453, to: 1 },
  { title: 'USDT without return values, exactIn', from: 1, to: 8453, type: 'exactIn', pays: 'USDT' },
  { title: 'USDT with 18 decimals, any amount', from: 56, to: 1, type: 'anyAmount', pays: 'USDT', gets: 'USDT' },
  { title: 'in two transfers', from: 8453, to: 56, inTwo: true },
  { title: 'on one chain', from: 1, to: 1 },
  { title: 'Solana to Base', from: 501, to: 8453 },
  { title: 'Solana to Solana', from: 501, to: 501 },
  { title: 'any amount from Solana to BNB Chain', from: 501, to: 56, type: 'anyAmount' },
  { title: 'Base to a Solana wallet without a token account', from: 8453, to: 501 },
  { title: 'the contract on Stellar', from: 1500, to: 8453, intent: 'stellar_payin_contracts' },
  { title: 'the contract’s memo, paid plainly', from: 1500, to: 1, intent: 'stellar_payin_contracts', plainly: true },
  { title: 'a memo on Stellar', from: 1500, to: 501 },
  { title: 'Base to Stellar', from: 8453, to: 1500 },
  {
    title: 'Ethereum to a muxed account on Stellar',
    from: 1,
    to: 1500,
    receiver: async (sandbox) => muxed((await sandbox.stellarAccount()).publicKey(), 42n),
  },
];

/** One of each family. */
const overpaid: readonly Overpaid[] = [
  { chainId: 8453, by: 'api' },
  { chainId: 501, by: 'operator' },
  { chainId: 1500, by: 'dashboard' },
];

describeOnReal(['GETH', 'SOLANA', 'STELLAR'], 'payments', () => {
  const sandbox = sharedRealSandbox();
  const { order, create } = walletOrders(sandbox);
  before(startSharedRealSandbox);

  const tool = async (name: string, ...args: string[]) => {
    const env = { ...process.env, ...sharedSettings, DATA_DIR: sandbox.dataDir };
    const ran = promisify(execFile)(process.execPath, [`tools/${name}.ts`, ...args], { env });
    return ran.then(
      ({ stdout }) => ({ code: 0, said: stdout }),
      ({ code, stdout, stderr }) => ({ code, said: `${stdout}${stderr}` }),
    );
  };

  const payments = new Map<Kind, Answer['body']>();
  let receivers = 0;

  async function newReceiver(chainId: ChainId): Promise<string> {
    receivers += 1;
    if (chainId === 1500) return (await sandbox.stellarAccount()).publicKey();
    if (chainId === 501) return SolanaKeypair.generate().publicKey.toBase58();
    return getAddress(`0x${(0x5ea1_0000 + receivers).toString(16).padStart(40, '0')}`);
  }

  async function payOne(kind: Kind): Promise<void> {
    const { from, to, type = 'exactOut', pays = 'USDC', gets = 'USDC', intent, receiver } = kind;
    const receiverAddress = receiver ? await receiver(sandbox) : await newReceiver(to);
    const amount = type === 'anyAmount' ? {} : { amount: '3.25' };
    const sender = sandbox.file().customer['1500']?.address;
    const source: Json = {
      chainId: from,
      tokenSymbol: pays,
      ...(type === 'exactIn' && amount),
      ...(intent && { senderAddress: sender }),
    };
    const destination: Json = { chainId: to, tokenSymbol: gets, receiverAddress, ...(type === 'exactOut' && amount) };
    const payment = await create(order(type, source, destination, intent ? { intent } : {}));
    const asked = kind.plainly ? { ...payment, source: { ...payment.source, receiverAddressContract: null } } : payment;
    if (kind.inTwo) {
      await sandbox.pay(asked, '1');
      await sandbox.pay(asked, (Number(payment.source.amount) - 1).toFixed(6));
    } else await sandbox.pay(asked, payment.source.amount ?? '4.5');
    payments.set(kind, payment);
  }

  it('for every kind of token and intent are paid', async () => {
    // One payer a chain: its nonces and sequence numbers follow one another.
    const lines = Map.groupBy(kinds, ({ from }) => from);
    await Promise.all(
      [...lines.values()].map(async (line) => {
        for (const kind of line) await payOne(kind);
      }),
    );
  });

  for (const kind of kinds) {
    it(`reach their receiver once: ${kind.title}`, async () => {
      const { from, to, gets = 'USDC' } = kind;
      const { id } = payments.get(kind) ?? assert.fail('not paid');
      const done = await sandbox.follow(id);
      assert.equal(done.status, from === to ? 'payment_completed' : 'payment_payout_completed');
      assert.equal(done.source.amountReceived, done.source.amount ?? '4.5');
      if (kind.receiver) return;
      const { decimals } = findToken(chainOf(to), gets) ?? assert.fail();
      const got = await sandbox.balance(to, gets, done.destination.receiverAddress);
      assert.equal(got, parseUnits(done.destination.amount, decimals));
    });
  }

  it('are taken from another chain that the order offers, paid without a choice', async () => {
    const destination = { chainId: 56, receiverAddress: await newReceiver(56), amount: '2.5' };
    const offered = { payFrom: [{ chainId: 1, tokenSymbol: 'USDC' }] };
    const payment = await create(order('exactOut', { chainId: 8453 }, destination, offered));
    await sandbox.transfer(1, 'USDC', payment.source.receiverAddress, payment.source.amount);
    const done = await sandbox.follow(payment.id);
    assert.deepEqual([done.status, done.source.chainId], ['payment_payout_completed', '1']);
  });

  describe('with too much money', () => excessIsRefunded(overpaid, sandbox, { isAudited: false }));

  describe('and the operator’s tools', () => {
    const withdrawals = [1, 501, 1500] as const;
    const receiversOf = new Map<ChainId, string>();

    describe('while they sweep deposits', () => {
      let sweep: ReturnType<typeof tool>;
      before(() => {
        sweep = tool('sweep', 'all', '--even-at-a-loss');
      });

      it('withdraw from the treasury on each family', async () => {
        for (const id of withdrawals) receiversOf.set(id, await newReceiver(id));
        await Promise.all(
          withdrawals.map(async (id) => {
            const to = receiversOf.get(id) ?? assert.fail();
            const added = await tool('treasury', 'addresses', 'add', String(id), to, '--label', 'ours');
            assert.equal(added.said, 'Done.\n');
            const { said } = await tool('treasury', 'withdraw', String(id), 'USDC', '7.5', '--to', to, '--json');
            assert.match(said, /"id"/);
          }),
        );
      });

      it('check-chain finds everything that the product needs on each chain', async () => {
        const checked = await Promise.all(realChainIds.map((id) => tool('checkChain', String(id))));
        for (const { code, said } of checked) assert.equal(code, 0, said);
      });

      // Nodes on Stellar do not remember the ledgers before their first checkpoint.
      it('rescan reads a chain again from its beginning', async () => {
        const begins = { 8453: '1', 501: '1', 1500: '10' } as const;
        const read = await Promise.all(Object.entries(begins).map(([id, from]) => tool('rescan', id, '--from', from)));
        for (const { code, said } of read) assert.equal(code, 0, said);
      });

      it('sweep the deposits to the treasury on each family', async () => {
        const { code, said } = await sweep;
        assert.equal(code, 0, said);
      });
    });

    // Mocha runs a suite's own specs before the suites inside it.
    describe('after that', () => {
      it('have paid each withdrawal', async () => {
        for (const [id, to] of receiversOf) {
          const due = parseUnits('7.5', findToken(chainOf(id), 'USDC')?.decimals ?? 0);
          await sandbox.until(async () => (await sandbox.balance(id, 'USDC', to)) === due);
        }
      });

      it('doctor finds nothing broken', async () => {
        const { code, said } = await tool('doctor');
        assert.equal(code, 0, said);
      });

      it('audit proves the whole history of each account and finds nothing, once the books of all chains are open', async () => {
        const opened = () =>
          sandbox.query("SELECT DISTINCT chain_id FROM treasury_movements WHERE kind = 'opening' AND asset <> ''");
        await sandbox.until(async () => (await opened()).length === realChainIds.length);
        const { said } = await tool('audit', '--json', '--patience', '60');
        const report = JSON.parse(said);
        assert.deepEqual([report.findings, report.readModels.findings], [[], []]);
        assert.deepEqual(report.gaps, []);
        assert.ok(report.transactions >= kinds.length + 3 * overpaid.length, said);
        const story = await tool('audit', 'payment', String([...payments.values()][0]?.id));
        assert.match(story.said, /Log and chains say the same\.$/m);
      });
    });
  });
});
