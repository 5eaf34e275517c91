/** Refunds of overpaid money on every chain, ordered by the API, in the dashboard, and by the operator. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { base58 } from '@scure/base';
import { Keypair } from '@stellar/stellar-sdk';
import { Keypair as SolanaKeypair } from 'solana-web3-v1';
import { privateKeyToAccount } from 'viem/accounts';
import { type ChainId, chainOf, findToken } from '../../domain/chains.ts';
import { parseAmount } from '../../domain/money.ts';
import { keepKeys } from '../../sandbox/keys.ts';
import { patientFetch } from '../../sandbox/patientFetch.ts';
import { Jar } from '../api/desk.ts';
import { codeMailedFromNow, mailedCode } from '../support/mailedCode.ts';
import { outputOfTool, runToolBeside } from '../support/operatorTools.ts';
import type { Answer, Sandbox } from '../support/sandbox.ts';

export interface Overpaid {
  readonly chainId: ChainId;
  readonly by: 'api' | 'dashboard' | 'operator';
}

/**
 * Specs of a running sandbox in which payments are overpaid and the excess is refunded, in each of the ways.
 * @param isAudited whether the audit follows; otherwise another spec of the same world runs it
 */
export function excessIsRefunded(all: readonly Overpaid[], sandbox: Sandbox, { isAudited = true } = {}): void {
  const paidIds: string[] = [];
  const admin = () => sandbox.file().merchant.adminKey;
  const refunds = (id: string) => sandbox.call('GET', `/payment-api/payments/${id}/refunds`, { key: admin() });
  const operator = (...args: string[]) => outputOfTool(sandbox.dataDir, 'refunds', ...args);
  const audit = (...args: string[]) => runToolBeside(sandbox.dataDir, 'audit', args);

  /** A completed payment that was overpaid by two dollars. */
  async function overpaid(chainId: ChainId): Promise<Answer['body']> {
    const created = await sandbox.create(
      {
        type: 'exactOut',
        display: { title: 'Tea' },
        source: { chainId, tokenSymbol: 'USDC' },
        destination: { amount: '3.00' },
      },
      sandbox.file().merchant.ordersKey,
    );
    assert.equal(created.status, 201, JSON.stringify(created.body));
    paidIds.push(created.body.id);
    await sandbox.pay(created.body, (Number(created.body.source.amount) + 2).toFixed(6));
    await sandbox.follow(created.body.id);
    return created.body;
  }

  /** Returns an account of the chain that has received nothing yet. */
  async function receiverOn(chainId: ChainId): Promise<string> {
    if (chainId === 1500) return (await sandbox.stellarAccount()).publicKey();
    if (chainId === 501) return SolanaKeypair.generate().publicKey.toBase58();
    return privateKeyToAccount(`0x${createHash('sha256').update(`back ${chainId}`).digest('hex')}`).address;
  }

  async function signedByCustomer(chainId: ChainId, text: string): Promise<string> {
    const keys = keepKeys(sandbox.dataDir);
    if (chainId === 1500) {
      const digest = createHash('sha256').update(`Stellar Signed Message:\n${text}`).digest();
      return Keypair.fromSecret(keys.stellar.customer).sign(digest).toString('base64');
    }
    if (chainId === 501) {
      const seed = base58.decode(keys.solana.customer).slice(0, 32);
      return base58.encode(Keypair.fromRawEd25519Seed(Buffer.from(seed)).sign(Buffer.from(text)));
    }
    return privateKeyToAccount(keys.customer).signMessage({ message: text });
  }

  /** Sets the refund address like a payer without scripts: the address, the text, its signature. */
  async function sayAddress({ id, paymentLink, source }: Answer['body'], to: string): Promise<void> {
    const chainId = Number(source.chainId) as ChainId;
    const from = sandbox.file().customer[String(chainId)]?.address ?? '';
    const page = `${paymentLink}/refund`;
    const shown = await (await patientFetch(`${page}?${new URLSearchParams({ from, to, lang: 'en' })}`)).text();
    const text =
      /<pre[^>]*>([^<]+)<\/pre>/.exec(shown)?.[1]?.replaceAll('&quot;', '"') ??
      assert.fail(`no text to sign for ${id}: ${shown}`);
    const signature = await signedByCustomer(chainId, text);
    const saved = await patientFetch(page, {
      method: 'POST',
      headers: { origin: sandbox.file().baseUrl },
      body: new URLSearchParams({ from, to, number: '1', signature, lang: 'en' }),
      redirect: 'manual',
    });
    assert.equal(saved.status, 303, await saved.text());
  }

  const mails = () => sandbox.file().mailbox.folder;

  async function arrived(code: () => string | undefined): Promise<string> {
    await sandbox.until(() => code() !== undefined);
    return code() ?? assert.fail('no code was mailed');
  }

  let owner: Promise<Jar> | undefined;
  const signedIn = () => {
    owner ??= signIn();
    return owner;
  };
  async function signIn(): Promise<Jar> {
    const jar = new Jar(sandbox.file().baseUrl, patientFetch);
    const code = codeMailedFromNow(mails(), { words: 'sign-in code' });
    await jar.post('/dashboard/sign-in', { email: sandbox.file().demoEmail });
    await jar.post('/dashboard/code', { code: await arrived(code) });
    return jar;
  }

  const order = {
    async api(id: string) {
      const { status, body } = await sandbox.call('POST', `/payment-api/payments/${id}/refunds`, {
        key: admin(),
        body: { scope: 'excess', idempotencyKey: id },
      });
      assert.equal(status, 200, JSON.stringify(body));
    },
    async dashboard(id: string) {
      const jar = await signedIn();
      const page = `/dashboard/apps/${sandbox.file().merchant.appId}/payments/${id}/refund`;
      const { text } = await jar.post(page, { scope: 'all' });
      const hidden = [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
      const asked = Object.fromEntries(hidden.map(([, name, value]) => [name, value]));
      const ordered = await jar.post(`${page}/confirm`, {
        ...asked,
        code: await arrived(() => mailedCode(mails(), { words: id })),
      });
      assert.equal(ordered.status, 303, ordered.text);
    },
    async operator(id: string) {
      assert.match(await operator('list', id), /held: 2\.00/);
      assert.match(await operator('order', id, '--excess', '--reason', 'paid too much'), /Ordered/);
    },
  };

  async function goesBack({ chainId, by }: Overpaid): Promise<void> {
    const payment = await overpaid(chainId);
    const unproven = await sandbox.call('POST', `/payment-api/payments/${payment.id}/refunds`, {
      key: admin(),
      body: {},
    });
    assert.deepEqual([unproven.status, unproven.body.error], [409, 'refundAddressUnproven']);
    const to = await receiverOn(chainId);
    await sayAddress(payment, to);
    await order[by](payment.id);
    const {
      refunds: [refund],
    } = await sandbox.follow(payment.id, ({ refunds: [first] }) => first?.status === 'completed');
    const { decimals } = findToken(chainOf(chainId), 'USDC') ?? assert.fail();
    const units = (text: string) => parseAmount(text, decimals) as bigint;
    assert.equal(refund.receiverAddress, to);
    assert.equal(units(refund.amount) + units(refund.networkFee), units('2.00'));
    assert.equal(await sandbox.balance(chainId, 'USDC', to), units(refund.amount));
    const after = await refunds(payment.id);
    assert.equal(after.status, 200, JSON.stringify(after.body));
    assert.deepEqual([after.body.held, after.body.data[0].txHash], [[], refund.txHash]);
    assert.ok(refund.txHash);
  }

  it('is refunded on every chain to the payer’s signed address, ordered by API, dashboard and operator', () =>
    Promise.all(all.map(goesBack)));

  it('is followed by a refund of the price, which the merchant funds by a payment of their own', async () => {
    const [id = ''] = paidIds;
    const jar = await signedIn();
    const home = `/dashboard/apps/${sandbox.file().merchant.appId}/payments`;
    const known = await sandbox.read(id);
    const chainId = Number(known.source.chainId) as ChainId;
    const to = known.refunds[0].receiverAddress;
    const before = await sandbox.balance(chainId, 'USDC', to);
    const { text } = await jar.get(`${home}/${id}/fund-refund`);
    const key = /name="key" value="([^"]+)"/.exec(text)?.[1] ?? assert.fail(text);
    const sender = sandbox.file().customer[String(chainId)]?.address ?? '';
    const form = { sender, key, amount: '2.50', reason: 'the cup was broken' };
    const ordered = await jar.post(`${home}/${id}/fund-refund`, form);
    assert.equal(ordered.status, 303, ordered.text);
    const again = await jar.post(`${home}/${id}/fund-refund`, form);
    assert.equal(again.to, ordered.to, 'the same form is the same refund');
    const funding = await sandbox.read(ordered.to?.split('/').at(-1) ?? '');
    assert.deepEqual([funding.destination.receiverAddress, funding.destination.amount], [to, '2.50']);
    assert.match((await jar.get(`${home}/${id}`)).text, /Waits for your payment/);
    await sandbox.pay(funding);
    await sandbox.follow(funding.id);
    assert.equal((await sandbox.balance(chainId, 'USDC', to)) - before, 2_500_000n);
    await sandbox.until(async () => /Refund paid to the payer/.test((await jar.get(`${home}/${id}`)).text));
    assert.deepEqual(sandbox.webhooks(funding.id), [], 'no shop takes it for a sale');
  });

  it('is in the table for spreadsheets, and the operator sees that nothing is left', async () => {
    const jar = await signedIn();
    const { text } = await jar.get(`/dashboard/apps/${sandbox.file().merchant.appId}/payments.csv`);
    assert.match(text, /"refund_network_fees","refund_tx_hashes"/);
    assert.match(await operator(), /Nothing is held/);
    await assert.rejects(operator('order', 'nonsense', '--all', '--reason', 'x'), /paymentNotFound/);
  });

  if (!isAudited) return;

  it('leaves log, chains and read models without a finding of the audit, also after a sweep', async () => {
    await outputOfTool(sandbox.dataDir, 'sweep', '8453', '--even-at-a-loss');
    const audited = await audit('--json', '--patience', '0');
    const report = JSON.parse(audited.stdout);
    assert.deepEqual([report.findings, report.readModels.findings], [[], []]);
    assert.ok(report.transactions >= 3 * all.length, audited.stdout);
    // The local chains keep few old states, in which failed transactions and cancels could be hidden: the audit reports this gap.
    const honest = [
      'no node remembers all that it sent: ask an archive node',
      // The worker reads each account at its own interval.
      'the log tells nothing of it: its books are not open',
      'its books are not open: no balance is compared',
    ];
    const reasons = new Set(report.gaps.map(({ why }: { why: string }) => why));
    assert.deepEqual(
      [...reasons].filter((why) => !honest.includes(String(why))),
      [],
    );
    assert.equal(audited.code, reasons.size > 0 ? 2 : 0);
    const told = await audit('payment', paidIds[0] ?? '');
    assert.match(told.stdout, /Log and chains say the same\.$/m);
    assert.match(told.stdout, /PayoutConfirmed\n {4}event \d+ \S+, hash [0-9a-f]{64}/);
  });
}
