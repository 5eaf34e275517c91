/** A buyer's credit from the view of buyer and merchant: earned by a payment, spent by a signed message, received by the merchant; through crashes. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { patientFetch } from '../../sandbox/patientFetch.ts';
import { isCutOff } from '../support/customers.ts';
import { createSandbox, type Sandbox } from '../support/sandbox.ts';
import { poll_ms } from '../support/suite.ts';

const program = fileURLToPath(new URL('../../sandbox/cashback.ts', import.meta.url));
const run = promisify(execFile);
const receiver = '0x1111111111111111111111111111111111111111';

/** The steps of a credit's life. */
export const crashPoints = [
  'CreditEarned.afterAppend',
  'CreditSpent.afterAppend',
  'CashbackReceived.afterAppend',
  'withdrawal.afterDecided',
] as const;
type CrashPoint = (typeof crashPoints)[number];

export interface CashbackCrashes {
  readonly eventStoreUrl?: () => string;
  /** A sandbox with Base that has not run yet. Default: a new one. */
  readonly sandbox?: Sandbox;
  /** Default: all. */
  readonly points?: readonly CrashPoint[];
}

/** Specs of one world whose service dies at steps of a credit's life. */
export function cashbackSurvivesCrashes({ points = crashPoints, ...options }: CashbackCrashes = {}): void {
  const { sandbox = createSandbox({ chains: [8453], eventStoreUrl: options.eventStoreUrl }) } = options;
  after(() => (options.sandbox ? sandbox.kill() : sandbox.destroy()));

  /** Restarts the service so that it dies at a point. Does nothing for points outside the given ones. */
  async function prepareCrash(point: CrashPoint): Promise<void> {
    if (!points.includes(point)) return;
    await sandbox.kill();
    await sandbox.start({ CRASH_AT: point });
  }

  async function afterCrash(point: CrashPoint): Promise<void> {
    if (!points.includes(point)) return;
    await sandbox.ended();
    await sandbox.start();
  }

  /** Acts like a buyer: the command signs as the sandbox's customer. */
  async function signed(...options: readonly string[]) {
    const env = { ...process.env, DATA_DIR: sandbox.dataDir };
    const { stdout } = await run(process.execPath, [program, 'sign', '--to', 'demo', ...options], { env });
    return JSON.parse(stdout);
  }
  const post = async (body: object) => {
    const url = `${sandbox.file().baseUrl}/v1/cashbacksign`;
    const headers = { 'Content-Type': 'application/json' };
    return (await patientFetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).json();
  };
  async function merchantSees() {
    const { baseUrl, merchant } = sandbox.file();
    const response = await patientFetch(`${baseUrl}/merchant-api/me/cashback`, {
      headers: { 'X-API-Key': merchant.adminKey },
    });
    return response.json();
  }
  async function until<T>(ask: () => Promise<T>, good: (answer: T) => boolean): Promise<T> {
    for (;;) {
      const answer = await ask();
      if (good(answer)) return answer;
      await sleep(poll_ms);
    }
  }
  const credit_cents = async () =>
    Number((await sandbox.query<{ cents: string }>('SELECT cents FROM credit_accounts'))[0]?.cents ?? 0);

  it('is earned once by a completed payment, though the service dies while it records it', async () => {
    const dies = points.includes('CreditEarned.afterAppend');
    assert.equal(await sandbox.start(dies ? { CRASH_AT: 'CreditEarned.afterAppend' } : {}), 'ready');
    const created = await sandbox.create({
      appId: sandbox.file().wallet.appId,
      type: 'exactOut',
      display: { title: 'Coffee', currency: 'USD' },
      source: { chainId: 8453, tokenSymbol: 'USDC' },
      destination: { chainId: 8453, tokenSymbol: 'USDC', amount: '10.00', receiverAddress: receiver },
    });
    await sandbox.pay(created.body);
    await afterCrash('CreditEarned.afterAppend');
    await until(credit_cents, (cents) => cents > 0);
    assert.equal(await credit_cents(), 10);
  });

  it('pays a merchant once by a signed message, though the service dies before its answer', async () => {
    const body = await signed('--cents', '7', '--order', 'order-1', '--about', 'Käse "frisch"', '--local', '0.065');
    await prepareCrash('CreditSpent.afterAppend');
    const dies = points.includes('CreditSpent.afterAppend');
    // Another port means another URL: a signature for the first service is invalid here.
    if (dies) assert.equal((await post(body)).payment_status, 'NOT_VALID_SIGN');
    const mine = await signed('--cents', '7', '--order', 'order-1', '--about', 'Käse "frisch"', '--local', '0.065');
    const posted = post(mine);
    if (dies) await assert.rejects(posted, (error) => isCutOff(error) || /terminated|closed/.test(String(error)));
    else assert.equal((await posted).payment_status, 'SUCCESS');
    await afterCrash('CreditSpent.afterAppend');
    const again = await signed(
      '--cents',
      '7',
      '--order',
      'order-1',
      '--about',
      'Käse "frisch"',
      '--local',
      '0.065',
      '--send',
    );
    assert.deepEqual([again.status, again.order_id, again.payment_status], ['success', 'order-1', 'SUCCESS']);
    assert.equal((await signed('--cents', '4', '--send')).payment_status, 'OUT_OF_CREDIT');
  });

  it('arrives at the merchant once, though the service dies on the way', async () => {
    await until(merchantSees, ({ balance_usd_cents }) => balance_usd_cents === 7);
    await prepareCrash('CashbackReceived.afterAppend');
    await signed('--cents', '2', '--send').catch(() => {});
    await afterCrash('CashbackReceived.afterAppend');
    const seen = await until(merchantSees, ({ balance_usd_cents }) => balance_usd_cents === 9);
    assert.deepEqual(
      seen.payments.map(({ amount_usd_cents, order_id, about }: Record<string, unknown>) => [
        amount_usd_cents,
        order_id,
        about,
      ]),
      [
        [2, null, null],
        [7, 'order-1', 'Käse "frisch"'],
      ],
    );
    assert.equal(await credit_cents(), 1);
  });

  it('is withdrawn to the merchant’s wallet once, though the service dies between decision and payment', async () => {
    const { merchant } = sandbox.file();
    const { receiverAddress, tokenSymbol } = merchant.settlement;
    const held = () => sandbox.balance(8453, tokenSymbol as 'USDC', receiverAddress);
    const before = await held();
    /** A service that has just started may not know the cost of a payout yet. It says so, and the request is repeated. */
    const withdraw = async () => {
      for (;;) {
        const answer = await sandbox.call('POST', '/merchant-api/me/cashback/withdraw', {
          key: sandbox.file().merchant.adminKey,
          body: { withdrawal_id: 'november', amount_usd_cents: 9 },
        });
        if (answer.status !== 503) return answer;
        assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]/);
        await sleep(200);
      }
    };
    await prepareCrash('withdrawal.afterDecided');
    await withdraw().catch(() => {});
    await afterCrash('withdrawal.afterDecided');
    const { status, body } = await withdraw();
    assert.equal(status, 200);
    assert.equal(body.balance_usd_cents, 0);
    await sandbox.follow(body.payment_id, ({ status }) => status === 'payment_payout_completed');
    assert.equal((await withdraw()).body.payment_id, body.payment_id);
    // 9 cents minus the fee: a cent, and a thousandth of the payout.
    const paid = (await held()) - before;
    assert.ok(paid > 79_000n && paid < 80_000n, `${paid}`);
    const seen = await merchantSees();
    assert.deepEqual([seen.balance_usd_cents, seen.withdrawn_usd_cents], [0, 9]);
  });

  it('is in the log once, each event once', async () => {
    await sandbox.stop();
    const streams = await sandbox.history();
    const types = [...streams].flatMap(([stream, events]) =>
      /^(credit|cashback)-/.test(stream) ? events.map(({ type }) => type) : [],
    );
    assert.deepEqual(types.toSorted(), [
      'CashbackReceived',
      'CashbackReceived',
      'CashbackWithdrawn',
      'CreditEarned',
      'CreditSpent',
      'CreditSpent',
      'WithdrawalOrdered',
    ]);
  });
}
