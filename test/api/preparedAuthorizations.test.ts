/** Authorizations that the service prepares for an account: limits of the endpoint, and refusals by their field. */
import assert from 'node:assert/strict';
import type { WalletAuthorizations } from '../../commands/relayPorts.ts';
import type { RateName } from '../../src/api/rateLimits.ts';
import { accountIn } from '../../src/chains/evm/addresses.ts';
import { createPaymentSecrets } from '../../src/security/masterKey.ts';
import { baseUsdc, depositAddress } from '../support/payments.ts';
import { paymentId, relayDesk } from '../support/relayDesk.ts';
import { anyPayer } from '../support/x402.ts';
import { startWorld, type World } from './world.ts';

const secrets = createPaymentSecrets(Buffer.alloc(32, 3));
const path = `/pay/${secrets.secretOf(paymentId)}/authorization`;
const account = anyPayer().address;

describe('authorizations that are prepared for an account', () => {
  let world: World;
  let desk: Awaited<ReturnType<typeof relayDesk>>;
  let prepared: string[];
  let waiting: Promise<void>;
  let full: RateName | null;
  beforeEach(async () => {
    desk = await relayDesk();
    [prepared, waiting, full] = [[], Promise.resolve(), null];
    const wallets: WalletAuthorizations = {
      readTerms: async () => null,
      async prepare({ payer, amount, payTo, token }) {
        assert.deepEqual([amount, payTo, token.address], [10_010000n, depositAddress, baseUsdc.token.address]);
        prepared.push(payer);
        await waiting;
        return { transaction: 'AQID' };
      },
    };
    world = await startWorld({
      relays: desk.relays,
      relayOn: () => ({ accountOf: accountIn, wallets }),
      networks: new Map([['eip155:8453', 8453]]),
      paymentSecrets: secrets,
      clock: desk.clock,
      rates: {
        count: async (name) => ({
          name,
          requestsMax: 1,
          window_s: 60,
          allowed: name !== full,
          remaining: 1,
          reset_s: 7,
        }),
      },
    });
  });
  afterEach(() => world.stop());

  const read = (query = '') => fetch(`${world.url}${path}${query}`);

  it('are beside the typed data, and cost nothing without an account', async () => {
    const [bare, named] = [await (await read()).json(), await (await read(`?account=${account}`)).json()];
    assert.deepEqual(prepared, [account]);
    assert.deepEqual(bare.authorizations.length, 1);
    const { typedData: _, ...common } = bare.authorizations[0];
    assert.deepEqual(named.authorizations, [bare.authorizations[0], { ...common, transaction: 'AQID' }]);
    assert.deepEqual((await (await read('?account=nobody')).json()).authorizations, bare.authorizations);
  });

  it('have the limits of wallets, by address and by payment', async () => {
    for (const name of ['wallet', 'walletPayment'] as const) {
      full = name;
      const answer = await read(`?account=${account}`);
      assert.deepEqual([answer.status, answer.headers.get('retry-after')], [429, '7']);
      assert.equal((await read()).status, 200);
    }
    assert.deepEqual(prepared, []);
  });

  it('are at most 4 at a time, with 32 that wait', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting = promise;
    const refused: Response[] = [];
    let running = 0;
    const asked = Array.from({ length: 40 }, async () => {
      const answer = await read(`?account=${account}`);
      if (answer.status === 503 && refused.push(answer) === 4) {
        running = prepared.length;
        resolve();
      }
      return answer.status;
    });
    await promise;
    assert.equal(running, 4);
    assert.deepEqual(new Set(refused.map(({ headers }) => headers.get('retry-after'))), new Set(['2']));
    const statuses = await Promise.all(asked);
    assert.deepEqual(
      [200, 503].map((status) => statuses.filter((each) => each === status).length),
      [36, 4],
    );
  });

  it('name the field of a refusal, and nothing is stored', async () => {
    const good = await desk.signed();
    const wrong: readonly (readonly [more: object, status: number, pointer: string])[] = [
      [{ value: '1' }, 400, '/value'],
      [{ to: account }, 400, '/to'],
      [{ signature: `0x${'11'.repeat(65)}` }, 400, '/signature'],
      [{ validBefore: '1' }, 400, '/validBefore'],
      [{ validAfter: good.validBefore }, 400, '/validAfter'],
      [{ chainId: 1 }, 400, '/chainId'],
    ];
    const hand = async (body: object) => {
      const answer = await fetch(`${world.url}${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
      return [answer.status, (await answer.json()).errors?.[0]?.pointer];
    };
    for (const [more, ...expected] of wrong)
      assert.deepEqual(await hand({ ...good, ...more }), expected, JSON.stringify(more));
    assert.deepEqual(await hand({ chainId: 8453, transaction: 'AQID' }), [400, '/transaction']);
    assert.deepEqual(await hand({ chainId: 8453, entry: 'AQID', signature: 'AQID' }), [400, '/entry']);
    assert.deepEqual(await hand({ chainId: 8453, entry: 'AQID' }), [400, '/signature']);
    assert.deepEqual(await hand({ chainId: 8453, transaction: '%' }), [400, '/transaction']);
    assert.equal(await desk.relay(1), null);
    assert.deepEqual(await desk.typesIn('relayGas-2026-11-21T09'), []);
  });
});
