/** Every role with every form of the dashboard and every route that changes something for a signed-in person; former members, and attacks. */
import assert from 'node:assert/strict';
import { isRefusal, type Refusal } from '../../domain/decider.ts';
import { type Action, allows, memberRoles, teamRoles } from '../../domain/merchant/roles.ts';
import { Jar, type PageAnswered } from './desk.ts';
import { headersOf } from './owners.ts';
import { servedRoutes, startTwoApps, type Theirs } from './twoApps.ts';
import type { World } from './world.ts';

const appId = 'wallet_closed';
const people = { owner: 'bob', developer: 'dora', operations: 'otto', readOnly: 'rita' } as const;
const by = (developerId: string) => ({ cause: `developer:${developerId}` }) as const;

const toConfirm = { transferId: '8453:0x1:0', address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' };

/** Action of each route, with fields that the command accepts. `asks` only renders a question and changes nothing. */
const forms: Readonly<Record<string, readonly [action: Action | 'asks', fields?: Readonly<Record<string, string>>]>> = {
  '/keys': ['issueAdminKey', { name: 'mine now', scope: 'admin' }],
  '/keys/:keyId/rename': ['renameKey', { name: 'till 2' }],
  '/keys/:keyId/revoke': ['revokeKey'],
  '/links/new': ['createPayment', { amount: '1.00', sourceChainId: '8453', sourceTokenSymbol: 'USDC' }],
  '/links/reusable': ['createLink', { amount: '1.00' }],
  '/links/:linkId/close': ['closeLink'],
  '/payments/:paymentId/refund': ['orderRefund', { scope: 'all' }],
  '/payments/:paymentId/refund/confirm': [
    'orderRefund',
    { scope: 'all', key: '8f14e45f-ceea-467f-a9d5-1b2c3d4e5f60', challenge: 'c'.repeat(64), code: '123456' },
  ],
  '/payments/:paymentId/fund-refund': [
    'fundRefund',
    {
      sender: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      amount: '1.00',
      key: '8f14e45f-ceea-467f-a9d5-1b2c3d4e5f60',
    },
  ],
  '/payments/:paymentId/confirm-address': ['confirmRefundAddress', toConfirm],
  '/payments/:paymentId/confirm-address/code': [
    'confirmRefundAddress',
    { ...toConfirm, challenge: 'c'.repeat(64), code: '123456' },
  ],
  '/payments/:paymentId/confirm-address/withdraw': ['withdrawRefundAddress', { number: '1' }],
  '/cashback': ['asks', { amount: '0.10' }],
  '/cashback/withdraw': ['withdrawCashback', { amount: '0.10', withdrawalId: '8f14e45f-ceea-467f-a9d5-1b2c3d4e5f60' }],
  '/settlement': [
    'requestSettlement',
    { chainId: '1', tokenSymbol: 'USDC', receiverAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' },
  ],
  '/settlement/cancel': ['cancelSettlement'],
  '/webhooks/types': ['setWebhookTypes', { payment_held: 'true' }],
  '/webhooks/url': ['setWebhookUrl', { webhookUrl: 'https://mine.example/hooks' }],
  '/webhooks/remove': ['setWebhookUrl'],
  '/webhooks/rotate': ['rotateSecret'],
  '/webhooks/endpoints': [
    'changeWebhookEndpoints',
    { url: 'https://mine.example/books', payment_payout_completed: 'true' },
  ],
  '/webhooks/endpoints/:endpointId/types': ['changeWebhookEndpoints', { payment_held: 'true' }],
  '/webhooks/endpoints/:endpointId/rotate': ['changeWebhookEndpoints'],
  '/webhooks/endpoints/:endpointId/remove': ['changeWebhookEndpoints'],
  '/webhooks/endpoints/:endpointId/test': ['sendTestWebhook'],
  '/webhooks/test': ['sendTestWebhook'],
  '/webhooks/:deliveryId/redeliver': ['redeliver', { acknowledged: 'yes' }],
  '/branding': ['setProfile', { name: 'mine now' }],
  '/branding/logo': ['setLogo'],
  '/branding/logo/remove': ['setLogo'],
  '/embedding': ['setEmbeddingSites', { sites: 'https://mine.example' }],
  '/notifications': ['setNotifications', { 'mail-moneyHeld': 'true' }],
  '/notifications/read': ['asks'],
  '/pay-from': ['setPayFrom', { 'from-8453-USDC': 'true' }],
  '/policy': [
    'setPolicy',
    {
      percent: '0',
      most: '0',
      under: 'hold',
      over: 'refund',
      late: 'hold',
      lateWithinMinutes: '0',
      wrongToken: 'hold',
      wrongChain: 'hold',
    },
  ],
  '/payments/:paymentId/cancel': ['cancelPayment'],
  '/payments/:paymentId/note': ['annotatePayment', { note: 'call back', tags: '' }],
  // An app of type wallet_ has no test payments. The commands' spec covers createPayment.
  '/test-payment': ['asks'],
  '/webhooks/again': ['redeliver', { acknowledged: 'true', deliveries: '0198f3c2-0000-8000-8000-000000000001' }],
  '/team': ['inviteMember', { email: 'new@shop.example', role: 'readOnly' }],
  '/team/:memberId/cancel': ['cancelInvitation'],
  '/team/:memberId/role': ['setMemberRole', { role: 'readOnly' }],
  '/team/:memberId/remove': ['removeMember'],
  '/team/leave': ['leaveTeam'],
  '/team/:memberId/transfer': ['transferOwnership'],
  '/team/:memberId/transfer/confirm': ['transferOwnership', { challenge: 'c'.repeat(64), code: '123456' }],
};

const routes: Readonly<Record<string, readonly [action: Action, body?: object]>> = {
  '/profile': ['setProfile', { name: 'mine now' }],
  '/logo': ['setLogo'],
  '/logo/remove': ['setLogo'],
  '/settlement': [
    'requestSettlement',
    { chainId: '1', tokenSymbol: 'USDC', receiverAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' },
  ],
  '/settlement/cancel': ['cancelSettlement'],
  '/pay-from': ['setPayFrom', { payFrom: [] }],
  '/policy': [
    'setPolicy',
    {
      tolerance: { basisPoints: 0, most: '0' },
      under: 'hold',
      over: 'refund',
      late: 'hold',
      lateWithinMinutes: 0,
      wrongToken: 'hold',
      wrongChain: 'hold',
    },
  ],
  '/embedding': ['setEmbeddingSites', { sites: [] }],
  '/webhook/types': ['setWebhookTypes', { webhookTypes: ['payment_held'] }],
  '/webhook': ['setWebhookUrl', { webhookUrl: 'https://mine.example/hooks' }],
  '/webhook/rotate': ['rotateSecret'],
  '/webhook/endpoints': [
    'changeWebhookEndpoints',
    { url: 'https://mine.example/books', types: ['payment_payout_completed'] },
  ],
  '/webhook/endpoints/:id/types': ['changeWebhookEndpoints', { types: ['payment_held'] }],
  '/webhook/endpoints/:id/rotate': ['changeWebhookEndpoints'],
  '/webhook/endpoints/:id/remove': ['changeWebhookEndpoints'],
  '/webhook/endpoints/:id/test': ['sendTestWebhook'],
  '/keys': ['issueAdminKey', { name: 'mine now', scope: 'admin' }],
  '/keys/:id/rename': ['renameKey', { name: 'till 2' }],
  '/keys/:id/revoke': ['revokeKey'],
  '/links': ['createLink', { type: 'exactOut', amount: '1.00' }],
  '/links/:id/close': ['closeLink'],
  '/webhook/deliveries/:id/redeliver': ['redeliver', { acknowledged: true }],
  '/webhook/test': ['sendTestWebhook'],
  '/cashback/withdraw': ['withdrawCashback', { withdrawal_id: 'one', amount_usd_cents: 10 }],
  '/members/invite': ['inviteMember', { email: 'new@shop.example', role: 'readOnly' }],
  '/members/:id/cancel-invitation': ['cancelInvitation'],
  '/members/:id/role': ['setMemberRole', { role: 'readOnly' }],
  '/members/:id/remove': ['removeMember'],
  '/leave': ['leaveTeam'],
};

const pagePrefix = '/dashboard/apps/:appId';
const apiPrefix = '/merchant-api/me';
const all = servedRoutes();
const under = (method: string, prefix: string) =>
  all.filter((route) => route.startsWith(`${method} ${prefix}`)).map((route) => route.slice(method.length + 1));

const accepted = <T>(answer: T | Refusal): T => (isRefusal(answer) ? assert.fail(answer.message) : answer);
const refusesRole = ({ text, status }: { readonly text: string; readonly status: number }): boolean =>
  status === 403 && /does not allow you/.test(text);

describe('the roles of a team', () => {
  let world: World;
  let theirs: Theirs;
  beforeEach(async () => {
    ({ world, theirs } = await startTwoApps());
    const { team } = world.people;
    for (const role of memberRoles) {
      accepted(await team.invite(appId, { email: `${people[role]}@shop.example`, role }, by('bob')));
      accepted(await team.accept(appId, by(people[role])));
    }
    accepted(await team.invite(appId, { email: 'ines@shop.example', role: 'developer' }, by('bob')));
  });
  afterEach(() => world.stop());

  const signedIn = (who: string): Jar => {
    const jar = new Jar(world.url);
    jar.cookies.set('__Host-session', `${who}.session.token`);
    return jar;
  };
  const filled = (path: string, memberId: string): string =>
    path
      .replace(':appId', appId)
      .replace(':paymentId', theirs.id)
      .replace(':deliveryId', theirs.deliveryId)
      .replace(':keyId', theirs.keyId)
      .replace(':linkId', theirs.linkId)
      .replace(':memberId', memberId);
  const post = (jar: Jar, path: string, fields: Readonly<Record<string, string>> = {}): Promise<PageAnswered> => {
    if (!path.endsWith('/logo')) return jar.post(path, fields);
    const body = new FormData();
    body.set('logo', new Blob(['picture']), 'logo.png');
    return jar.ask('POST', path, { body, headers: { origin: world.url } });
  };
  const memberFor = (path: string): string => (path.includes('cancel') ? 'ines' : 'dora');
  const state = async () => ({
    settings: await world.people.getSettings(appId),
    keys: await world.people.listKeys(appId),
    changes: await world.people.listChanges(appId, { limit: 100 }),
    links: await world.people.links.list(appId, { limit: 100 }),
    team: await world.people.team.list(appId),
  });

  it('have an action for every form and every route that changes something', () => {
    assert.deepEqual(
      under('POST', pagePrefix)
        .map((path) => path.slice(pagePrefix.length))
        .sort(),
      Object.keys(forms).sort(),
    );
    assert.deepEqual(
      under('POST', apiPrefix)
        .map((path) => path.slice(apiPrefix.length))
        .sort(),
      Object.keys(routes).sort(),
    );
  });

  for (const role of teamRoles) {
    it(`decide about every form: ${role}`, async () => {
      for (const [path, [action, fields]] of Object.entries(forms)) {
        if (action === 'asks') continue;
        const isAllowed = allows(role, action);
        const before = isAllowed ? null : await state();
        const answer = await post(signedIn(people[role]), filled(`${pagePrefix}${path}`, memberFor(path)), fields);
        if (before) {
          assert.ok(refusesRole(answer), `${role} ${path}: ${answer.status}`);
          assert.deepEqual(await state(), before, `${path} has changed nothing`);
        } else {
          assert.equal(refusesRole(answer), false, `${role} ${path}: ${answer.status}`);
          if (path === '/team/leave') accepted(await rejoin(role));
          if (path.endsWith('/transfer/confirm') || path.endsWith('/remove')) accepted(await restore());
        }
      }
    });

    it(`decide about every route: ${role}`, async () => {
      for (const [path, [action, body]] of Object.entries(routes)) {
        const isAllowed = allows(role, action);
        const before = isAllowed ? null : await state();
        const id = path.startsWith('/keys')
          ? theirs.keyId
          : path.startsWith('/links')
            ? theirs.linkId
            : path.startsWith('/webhook')
              ? theirs.deliveryId
              : memberFor(path);
        const headers = { ...headersOf(people[role]), 'X-App-Id': appId };
        const isPicture = path === '/logo';
        const answer = await world.call('POST', `${apiPrefix}${path.replace(':id', id)}`, {
          headers: isPicture ? { ...headers, 'Content-Type': 'image/png' } : headers,
          body: isPicture ? 'picture' : body,
        } as never);
        const isRefused = answer.status === 403 && /does not allow you/.test(String(answer.body.message));
        assert.equal(isRefused, !isAllowed, `${role} ${path}: ${answer.status} ${answer.body?.message}`);
        if (before) assert.deepEqual(await state(), before, `${path} has changed nothing`);
        if (isAllowed && path === '/leave') accepted(await rejoin(role));
        if (isAllowed && path.endsWith('/remove')) accepted(await restore());
      }
    });

    it(`show every page: ${role}`, async () => {
      for (const path of under('GET', pagePrefix)) {
        if (path.endsWith('/live')) continue;
        const where = filled(path, memberFor(path));
        const [owners, members] = [await signedIn('bob').get(where), await signedIn(people[role]).get(where)];
        assert.ok(owners.status < 500, where);
        assert.equal(members.status, owners.status, `${role} ${where}`);
      }
    });
  }

  const rejoin = async (role: (typeof teamRoles)[number]) => {
    const { team } = world.people;
    accepted(await team.invite(appId, { email: `${people[role]}@shop.example`, role: role as never }, by('bob')));
    return team.accept(appId, by(people[role]));
  };
  /** Restores the roles: bob owns the app, and dora is a developer. */
  const restore = async () => {
    const operator = { cause: 'operator:spec' } as const;
    const { team, merchants } = world.people;
    accepted(await merchants.setOwner(appId, 'bob', operator));
    await team.remove(appId, 'dora', by('bob'));
    return rejoin('developer');
  };

  it('end with the removal, for sessions, tokens and invitations', async () => {
    const { team } = world.people;
    const jar = signedIn('dora');
    const headers = { ...headersOf('dora'), 'X-App-Id': appId };
    assert.equal((await jar.get(`/dashboard/apps/${appId}/payments`)).status, 200);
    assert.equal((await world.call('GET', apiPrefix, { headers })).status, 200);
    accepted(await team.remove(appId, 'dora', by('bob')));
    for (const path of under('GET', pagePrefix).filter((each) => !each.endsWith('/live')))
      assert.equal((await jar.get(filled(path, 'otto'))).status, 404, path);
    for (const [path, [, fields]] of Object.entries(forms))
      assert.equal((await post(jar, filled(`${pagePrefix}${path}`, 'otto'), fields)).status, 404, path);
    assert.equal((await world.call('GET', apiPrefix, { headers })).status, 400, 'no app of theirs');
    assert.equal(isRefusal(await team.accept(appId, by('dora'))), true, 'the used invitation');
    assert.equal(isRefusal(await world.people.merchants.setProfile(appId, { name: 'x' }, by('dora'))), true);
  });

  it('are given to the invited person alone, once and in time', async () => {
    const { team } = world.people;
    for (const thief of ['eve', 'rita', 'ann']) {
      const before = await state();
      const answer = await signedIn(thief).post(`/dashboard/invitations/${appId}/accept`, {});
      assert.ok([303, 404].includes(answer.status));
      const stolen = await world.call('POST', `/merchant-api/invitations/${appId}/accept`, {
        headers: headersOf(thief),
      });
      assert.equal(stolen.status, thief === 'rita' ? 200 : 404, thief);
      assert.deepEqual(await state(), before, thief);
    }
    const own = await world.call('GET', '/merchant-api/invitations', { headers: headersOf('ines') });
    assert.deepEqual(
      own.body.data.map((each: { appId: string }) => each.appId),
      [appId],
    );
    world.clock.advance(8 * 24 * 3_600_000);
    assert.equal(isRefusal(await team.accept(appId, by('ines'))), true, 'after its end');
    accepted(await team.invite(appId, { email: 'ines@shop.example', role: 'readOnly' }, by('bob')));
    const joined = await signedIn('ines').post(`/dashboard/invitations/${appId}/accept`, {});
    assert.deepEqual([joined.status, joined.to], [303, `/dashboard/apps/${appId}/`]);
    assert.equal((await team.list(appId)).find(({ developerId }) => developerId === 'ines')?.role, 'readOnly');
  });

  it('need a mailed code for another owner', async () => {
    const path = `/dashboard/apps/${appId}/team/dora/transfer`;
    const asked = await signedIn('bob').post(path, {});
    assert.equal(asked.status, 200);
    assert.match(asked.text, /name="code"/);
    const wrong = await signedIn('bob').post(`${path}/confirm`, { challenge: 'c'.repeat(64), code: '123457' });
    assert.equal(wrong.status, 400);
    assert.equal(wrong.text.includes('123457'), false, 'a code never returns');
    const right = await signedIn('bob').post(`${path}/confirm`, { challenge: 'c'.repeat(64), code: '123456' });
    assert.equal(right.status, 303);
    const team = await world.people.team.list(appId);
    const roleOf = (id: string) => team.find(({ developerId }) => developerId === id)?.role;
    assert.deepEqual([roleOf('dora'), roleOf('bob')], ['owner', 'developer']);
  });

  it('are requested again in a form with its errors', async () => {
    const path = `/dashboard/apps/${appId}/team`;
    const unknown = await signedIn('bob').post(path, { email: 'new@shop.example', role: 'boss' });
    assert.equal(unknown.status, 400);
    assert.match(unknown.text, /value="new@shop\.example"/);
    const known = await signedIn('bob').post(path, { email: 'dora@shop.example', role: 'readOnly' });
    assert.equal(known.status, 409);
    assert.match(known.text, /This person is in the team already/);
    const left = await signedIn('bob').post(`${path}/eve/remove`, {});
    assert.equal(left.status, 404);
  });

  it('are in the audit trail with names, and without addresses of former members', async () => {
    const trail = await signedIn('rita').get(`/dashboard/apps/${appId}/audit`);
    assert.match(trail.text, /Invited dora@people\.example to the team as developer/);
    accepted(await world.people.team.remove(appId, 'dora', by('bob')));
    const later = await signedIn('rita').get(`/dashboard/apps/${appId}/audit`);
    assert.equal(later.text.includes('dora'), false);
    assert.match(later.text, /Removed a former member from the team/);
    const { body } = await world.call('GET', `${apiPrefix}/audit`, {
      headers: { ...headersOf('rita'), 'X-App-Id': appId },
    });
    assert.equal(body.data[0].by, 'bob@people.example');
  });
});
