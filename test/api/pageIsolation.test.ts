/** The dashboard shows and changes only its visitor's apps. Another person, and other ids, are tried on every page of an app. */
import assert from 'node:assert/strict';
import { Jar, type PageAnswered } from './desk.ts';
import { servedRoutes, startTwoApps, type Theirs } from './twoApps.ts';
import type { World } from './world.ts';

const served = servedRoutes().filter((route) => route.includes('/dashboard/apps/'));

/** Values that every form accepts. */
const fields: Readonly<Record<string, Record<string, string>>> = {
  '/keys': { name: 'mine now', scope: 'admin' },
  '/keys/:keyId/rename': { name: 'mine now' },
  '/links/new': { amount: '1.00', sourceChainId: '8453', sourceTokenSymbol: 'USDC', orderId: 'their-order' },
  '/links/reusable': { amount: '1.00' },
  '/test-payment': { nonce: '8f14e45f-ceea-467f-a9d5-1b2c3d4e5f60' },
  '/cashback': { amount: '0.10' },
  '/cashback/withdraw': { amount: '0.10', withdrawalId: '8f14e45f-ceea-467f-a9d5-1b2c3d4e5f60' },
  '/settlement': { chainId: '1', tokenSymbol: 'USDC', receiverAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' },
  '/payments/:paymentId/fund-refund': {
    sender: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    amount: '1.00',
    key: '8f14e45f-ceea-467f-a9d5-1b2c3d4e5f60',
  },
  '/payments/:paymentId/confirm-address': {
    transferId: '8453:0x1:0',
    address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  },
  '/payments/:paymentId/confirm-address/withdraw': { number: '1' },
  '/webhooks/types': { payment_held: 'true' },
  '/webhooks/url': { webhookUrl: 'https://mine.example/hooks' },
  '/webhooks/endpoints': { url: 'https://mine.example/books', payment_held: 'true' },
  '/webhooks/endpoints/:endpointId/types': { payment_held: 'true' },
  '/webhooks/:deliveryId/redeliver': { acknowledged: 'yes' },
  '/webhooks/again': { acknowledged: 'yes', deliveries: '0198f3c2-0000-8000-8000-000000000777' },
  '/branding': { name: 'mine now' },
  '/policy': {
    percent: '0',
    most: '0',
    under: 'hold',
    over: 'refund',
    late: 'hold',
    lateWithinMinutes: '0',
    wrongToken: 'hold',
    wrongChain: 'hold',
  },
  '/notifications': { 'mail-moneyHeld': 'true' },
  '/pay-from': { 'from-8453-USDC': 'true' },
  '/team': { email: 'mine@shop.example', role: 'developer' },
  '/team/:memberId/role': { role: 'readOnly' },
  '/team/:memberId/transfer/confirm': { challenge: 'c'.repeat(64), code: '123456' },
  '/embedding': { sites: 'https://mine.example' },
};

/** Pages that contain only a question, or that only the browser can end. */
const tellsNothing = [
  '/reports',
  '/reports/month',
  '/reports/accounting',
  '/webhooks/rotate',
  '/links/new',
  '/links/reusable',
  '/live',
  '/test-payment',
  '/branding/preview',
  '/notifications',
  '/team',
  '/team/leave',
  '/team/:memberId/remove',
  '/team/:memberId/transfer',
  '/webhooks/remove',
  '/settlement',
  '/settlement/cancel',
];

describe('data of another owner', () => {
  let world: World;
  let theirs: Theirs;
  before(async () => {
    ({ world, theirs } = await startTwoApps());
  });
  after(() => world.stop());

  const signedIn = (who: 'ann' | 'bob'): Jar => {
    const jar = new Jar(world.url);
    jar.cookies.set('__Host-session', `${who}.session.token`);
    return jar;
  };
  const pathOf = (route: string, appId: string): string =>
    (route.split(' ')[1] ?? '')
      .replace(':appId', appId)
      .replace(':paymentId', theirs.id)
      .replace(':deliveryId', theirs.deliveryId)
      .replace(':endpointId', theirs.endpointId)
      .replace(':keyId', theirs.keyId)
      .replace(':linkId', theirs.linkId)
      .replace(':memberId', 'dora');
  const ask = (jar: Jar, route: string, path: string): Promise<PageAnswered> => {
    const [method = '', pattern = ''] = route.split(' ');
    const form = fields[pattern.replace('/dashboard/apps/:appId', '')] ?? {};
    const query = pattern.includes('/reports/') ? '?month=2026-11&form=full' : '';
    if (method === 'GET') return jar.get(path + (pattern.endsWith('/month') ? '?month=2026-11' : query));
    if (!pattern.endsWith('/logo')) return jar.post(path, form);
    const body = new FormData();
    body.set('logo', new Blob(['picture']), 'logo.png');
    return jar.ask('POST', path, { body, headers: { origin: world.url } });
  };
  const given = ({ text }: PageAnswered, path: string) =>
    theirs.marks.filter((mark) => text.includes(mark) && !path.includes(mark));
  const stateOfTheirs = async () => {
    const { getSettings, listKeys, listChanges } = world.people;
    return {
      settings: await getSettings('wallet_closed'),
      keys: await listKeys('wallet_closed'),
      changes: await listChanges('wallet_closed', { limit: 100 }),
      links: await world.people.links.list('wallet_closed', { limit: 100 }),
    };
  };

  it('is on pages that this spec tries', () => {
    assert.ok(served.length >= 25, served.join('\n'));
  });

  for (const route of served) {
    it(`is out of reach: ${route}`, async () => {
      const before = await stateOfTheirs();
      const path = pathOf(route, 'wallet_closed');
      const refused = await ask(signedIn('ann'), route, path);
      assert.equal(refused.status, 404, path);
      assert.deepEqual(given(refused, path), []);
      const nobodys = await ask(signedIn('ann'), route, pathOf(route, 'wallet_of_nobody'));
      assert.deepEqual([nobodys.status, shape(nobodys)], [404, shape(refused)], 'like an app that does not exist');

      const stranger = await ask(new Jar(world.url), route, path);
      assert.deepEqual([stranger.status, stranger.to?.split('?')[0], stranger.text], [303, '/dashboard/sign-in', '']);

      if (/:(paymentId|deliveryId|keyId|linkId)/.test(route)) {
        const guessed = pathOf(route, 'wallet_demo');
        const answer = await ask(signedIn('ann'), route, guessed);
        assert.equal(answer.status, 404, guessed);
        assert.deepEqual(given(answer, guessed), []);
      }
      assert.deepEqual(await stateOfTheirs(), before, 'nothing has changed');
    });

    if (route.startsWith('GET') && !tellsNothing.some((path) => route.endsWith(path))) {
      it(`is shown to its owner: ${route}`, async () => {
        const path = pathOf(route, 'wallet_closed');
        const shown = await ask(signedIn('bob'), route, path);
        assert.equal(shown.status, 200, path);
        assert.notDeepEqual(given(shown, path), [], 'the attempts above would find something');
      });
    }
  }

  it('is out of reach with an API key in place of a session', async () => {
    for (const key of Object.values(world.keys)) {
      const jar = new Jar(world.url);
      assert.equal((await jar.get('/dashboard/apps/wallet_closed/payments', key)).status, 303);
      jar.cookies.set('__Host-session', key['X-API-Key'] ?? '');
      assert.equal((await jar.get('/dashboard/apps/wallet_closed/payments')).status, 303);
    }
  });

  it('is in no list of a person’s own payments, however it is searched', async () => {
    for (const q of [theirs.id, 'their-order', ...theirs.marks]) {
      const path = `/dashboard/apps/wallet_demo/payments?${new URLSearchParams({ q })}`;
      const answer = await signedIn('ann').get(path);
      assert.equal(answer.status, 200);
      assert.deepEqual(given(answer, q), []);
    }
  });

  it('is not reached from another app’s cursor', async () => {
    const path = `/dashboard/apps/wallet_demo/payments?cursor=${theirs.cursor}`;
    const answer = await signedIn('ann').get(path);
    assert.deepEqual(given(answer, path), []);
  });
});

/** Removes from an error page the text that differs between requests. */
const shape = ({ text }: PageAnswered): string => text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'id');
