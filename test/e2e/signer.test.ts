/**
 * The treasury's keys in a separate process, which pays payments out. An attacker who holds everything else gets no
 * signature for unpaid money.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Keypair, PublicKey } from 'solana-web3-v1';
import { fundWallet } from '../../sandbox/solana/controls.ts';
import { readTreasuries } from '../../src/chains/families.ts';
import { readConfig } from '../../src/config.ts';
import { createReader } from '../../src/environment/reader.ts';
import { systemClock } from '../../src/process/system.ts';
import { type SignerProcess, startSigner } from '../../src/signerProcess.ts';
import { socketIn, socketUrl } from '../../src/store/wire.ts';
import { testAuthority } from '../signer/authority.ts';
import { onStop } from '../support/hooks.ts';
import { createLocalService } from '../support/localService.ts';
import type { LocalWorld } from '../support/localWorld.ts';
import { textsIn } from '../support/processMemory.ts';
import type { Answer } from '../support/shop.ts';
import { demoOwner } from '../support/signIn.ts';
import { solanaClient } from '../support/solana.ts';
import { programTransaction, untilSettled } from '../support/solanaRelays.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { ask402, headerOf } from '../support/x402.ts';
import { type Forger, openForger } from './signerForger.ts';

const keyNames = [
  'TREASURY_PRIVATE_KEY',
  'SOLANA_TREASURY_PRIVATE_KEY',
  'SOLANA_DEPOSIT_SEED',
  'STELLAR_TREASURY_SECRET',
];
const receiver = '0x1111111111111111111111111111111111111111';

describe('a separate signer', () => {
  const around: { world?: LocalWorld; signer?: SignerProcess; settings?: LocalWorld['settings'] } = {};
  const service = createLocalService([8453, 501, 1500], systemClock, async (world) => {
    around.world = world;
    const { settings, dataDir } = world;
    const authority = await testAuthority();
    const tls = async (name: string) => {
      const { caFile, certFile, keyFile } = await authority.end(name);
      return { SIGNER_CA_FILE: caFile, SIGNER_CERT_FILE: certFile, SIGNER_KEY_FILE: keyFile };
    };
    const { DATABASE_URL: _, ...signing } = settings;
    const eventStore = socketUrl(socketIn(join(dataDir, 'eventstore')));
    const ownDir = temporaryDirectory();
    around.signer = await startSigner(
      readConfig({
        ...signing,
        ...(await tls('signer')),
        ROLES: 'signer',
        SIGNER_PORT: '0',
        SIGNER_MAX_HOUR_USD: '40',
        SIGNER_APP_SHARE_PERCENT: '100',
        EVENTSTORE_URL: eventStore,
        DATA_DIR: ownDir,
      }),
      systemClock,
    );
    const problems: string[] = [];
    const { evm, solana, stellar } = readTreasuries(
      createReader(settings, problems),
      new Set(['evm', 'solana', 'stellar']),
      false,
    );
    const keyless = Object.fromEntries(Object.entries(settings).filter(([name]) => !keyNames.includes(name)));
    around.settings = {
      ...keyless,
      ...(await tls('service')),
      SIGNER_URL: around.signer.serves.url,
      TREASURY_ADDRESS: evm?.address ?? '',
      SOLANA_TREASURY_ADDRESS: solana?.address ?? '',
      SOLANA_REFERENCE_KEY: Buffer.from(solana?.referenceKey ?? []).toString('hex'),
      STELLAR_TREASURY_ADDRESS: stellar?.address ?? '',
    };
    return around.settings;
  });
  before(() => service.open());
  after(async () => {
    await service.close();
    await around.signer?.stop();
  });

  const order = (source: number, destination: object) => ({
    appId: service.wallet().appId,
    type: 'exactOut',
    display: { title: 'Tea' },
    source: { chainId: source, tokenSymbol: 'USDC' },
    destination: { tokenSymbol: 'USDC', amount: '3.00', ...destination },
  });

  for (const [from, source] of [
    ['Base', 8453],
    ['Solana', 501],
    ['Stellar', 1500],
  ] as const)
    it(`pays out the money that arrived on ${from}, for a service that holds no key`, async () => {
      const created = await service.create(order(source, { chainId: 8453, receiverAddress: receiver }));
      assert.equal(created.status, 201, JSON.stringify(created.body));
      await service.pay(created.body);
      await service.follow(created.body.id);
    });

  it('pays out on Solana and Stellar', async () => {
    const account = await service.stellarAccount();
    const wallet = readTreasuries(createReader(around.world?.settings ?? {}, []), new Set(['solana']), false).solana;
    for (const to of [
      { chainId: 1500, receiverAddress: account.publicKey() },
      { chainId: 501, receiverAddress: wallet?.address ?? '' },
    ]) {
      const created = await service.create(order(8453, to));
      assert.equal(created.status, 201, JSON.stringify(created.body));
      await service.pay(created.body);
      await service.follow(created.body.id);
    }
  });

  it('derives deposits on Solana for the service’s relay key, and for the terms of a reusable link', async () => {
    const url = around.world?.rpcUrl(501) ?? '';
    const client = solanaClient(url);
    const payer = Keypair.generate();
    const held = 10_000000n;
    await fundWallet(url, payer.publicKey.toBase58(), { usdc: held });
    await service.until(async () => (await client.balance(payer.publicKey, 'finalized').catch(() => null)) === held);
    const buy = async (link: string) => {
      // The terms omit Solana while the signer is slow; the next request calls the signer again.
      let bill: Answer['body'];
      await service.until(async () => {
        bill = (await ask402(link)).required?.accepts[0];
        return bill !== undefined;
      });
      const [answer] = await untilSettled(
        async () => {
          const { blockhash } = await client.connection.getLatestBlockhash('finalized');
          const { payTo, amount, extra } = bill;
          const terms = { feePayer: extra.feePayer, to: new PublicKey(payTo), amount: BigInt(amount), blockhash };
          return programTransaction({ payer, ...terms });
        },
        async (transaction) => [await ask402(link, headerOf(bill, { transaction }))],
      );
      assert.equal(answer?.status, 200, JSON.stringify(answer));
      return answer;
    };
    const made = await service.call('POST', '/merchant-api/me/links', {
      headers: await demoOwner(service),
      body: { type: 'exactIn', amount: '2.00', source: { chainId: '501', tokenSymbol: 'USDC' } },
    });
    const sold = await buy(`${service.url()}${new URL(made.body.url).pathname}`);
    assert.equal(sold.response.payer, payer.publicKey.toBase58());

    const created = await service.create(order(501, { chainId: 8453, receiverAddress: receiver }));
    const { id, paymentLink } = created.body;
    const answer = await buy(paymentLink);
    const done = await service.follow(id);
    assert.deepEqual(
      [done.source.txHash, answer.response.payer],
      [answer.response.transaction, payer.publicKey.toBase58()],
    );
  });

  describe('called by an attacker with the service, its master key and its log', () => {
    let forger: Forger;
    let paid: string;
    before(async () => {
      forger = openForger(around.settings ?? {}, around.world?.dataDir ?? '');
      const created = await service.create(order(8453, { chainId: 8453, receiverAddress: receiver }));
      await service.pay(created.body);
      paid = (await service.follow(created.body.id)).id;
    });
    after(() => forger.close());

    it('pays no payment without a payin', async () => {
      const invented = await forger.copy(paid, ({ transfer, ...data }, to) => ({
        ...data,
        transfer: { ...transfer, txHash: `0x${'ab'.repeat(32)}`, to },
      }));
      await assert.rejects(forger.sign(invented), { name: 'PayoutBlocked', reason: 'fundingUnproven' });
    });

    it('accepts no money for a payment that went to another’s deposit, or to a deposit that is not the treasury’s', async () => {
      const copied = await forger.copy(paid, (data) => data);
      await assert.rejects(forger.sign(copied), { reason: 'notOrdered', message: /not made to a deposit of payment/ });
      const stranger = await forger.copy(paid, (data) => data, 'kept');
      await assert.rejects(forger.sign(stranger), { reason: 'notOrdered', message: /none of this treasury's/ });
    });

    it('signs no other amount and no other receiver than the log orders', async () => {
      const other = await forger.orderOf(paid);
      for (const changed of [{ amount: other.amount + 1n }, { receiver: around.settings?.['TREASURY_ADDRESS'] ?? '' }])
        await assert.rejects(forger.sign(paid, { ...other, ...changed }), { reason: 'notOrdered' });
    });

    it('pays nothing twice, though the log claims that the first payout died', async () => {
      await assert.rejects(forger.sign(paid), { reason: 'notOrdered', message: /nothing is to be signed/ });
      await forger.bury(paid);
      await assert.rejects(forger.sign(paid), { reason: 'signedBefore', message: /is paid, whatever the log says/ });
    });

    it('spends no more in an hour than its own settings allow', async () => {
      const created = await service.create(order(8453, { chainId: 8453, receiverAddress: receiver, amount: '30.00' }));
      await service.pay(created.body);
      await service.until(async () => String((await service.operations('/metrics')).body).includes('reason="perHour"'));
      assert.equal((await service.read(created.body.id)).destination.txHash, null);
    });
  });

  it('leaves no key in the environment or the memory of the processes that call it', async () => {
    const { settings = {}, world } = around;
    const config = readConfig(settings);
    for (const treasury of Object.values(config.treasuries)) assert.equal(treasury?.key, null);
    const child = spawn(process.execPath, [fileURLToPath(new URL('../../src/main.ts', import.meta.url))], {
      env: {
        PATH: process.env['PATH'],
        ...settings,
        EVENTSTORE_URL: socketUrl(socketIn(join(world?.dataDir ?? '', 'eventstore'))),
        DATA_DIR: temporaryDirectory(),
        LOG_LEVEL: 'silent',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onStop(() => void child.kill('SIGKILL'));
    for await (const line of createInterface({ input: child.stdout })) if (line.includes('"ready"')) break;
    const secrets = keyNames.map((name) => (world?.settings[name] ?? '').replace(/^0x/, '')).filter(Boolean);
    assert.equal(secrets.length, keyNames.length);
    const known = settings['MASTER_KEY'] ?? '';
    const environment = readFileSync(`/proc/${child.pid}/environ`, 'utf8');
    const inMemory = textsIn(child.pid ?? 0, [known, ...secrets]);
    assert.ok(environment.includes(known) && inMemory.has(known), 'what it was given is found');
    for (const secret of secrets) assert.ok(!environment.includes(secret) && !inMemory.has(secret));
    child.kill('SIGTERM');
  });
});
