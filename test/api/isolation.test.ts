/**
 * Two apps on the real commands, read models and queries. No route of the router gives one app access to the other's
 * data. A route without an attempt here fails this spec.
 */
import assert from 'node:assert/strict';
import * as p from '../support/payments.ts';
import type { Answered } from './client.ts';
import { base, deliveryId, servedRoutes, startTwoApps, type Theirs } from './twoApps.ts';
import { goodRequest, type Headers, receiver, type World } from './world.ts';

interface Attempt {
  readonly path: string;
  readonly body?: object;
  /** Statuses for each caller of the other app: its keys, orders and admin, and its signed-in owner. */
  readonly answered: readonly number[];
  /** With the other app's own admin key the answer contains its data, which proves that the attempt would find it. */
  readonly theirsWith?: number;
}

const txHash = p.hashOf('mine');
const me = '/merchant-api/me';
/** No key may do it (401); an owner may do it to their own app (200). */
const ownOnly = [401, 200];
const spending = {
  from_address: p.customerWallet,
  to_handle: 'demo',
  amount_usd_cents: 90,
  timestamp: Date.parse(p.minute(1)),
  order_id: 'their-order',
  signature: '0x00',
};
const deliveriesPath = '/merchant-api/me/webhook/deliveries';

/** Attempts with the id as given, and in capitals. */
const byId = ({ id }: Theirs, rest: string, more: Partial<Attempt>): readonly Attempt[] => [
  { path: `${base}/${id}${rest}`, answered: [404], theirsWith: 200, ...more },
  { path: `${base}/${id.toUpperCase()}${rest}`, answered: [404], ...(more.body && { body: more.body }) },
];
/** Attempts on admin routes: keys of scope orders get 403. */
const byAdmin = (attempts: readonly Attempt[]): readonly Attempt[] =>
  attempts.map((attempt) => ({ ...attempt, answered: [403, ...attempt.answered] }));
const creation = (path: string): Attempt[] => [
  { path, body: goodRequest({ appId: 'wallet_closed', orderId: 'their-order' }), answered: [403], theirsWith: 200 },
  { path, body: goodRequest({ orderId: 'their-order' }), answered: [201, 200] },
];
const open = (path: string): Attempt[] => [{ path, answered: [200] }];

/** Attempts that no key may make. test/accounts covers the view of people on each other. */
const forPeople = (path: string): Attempt[] => [{ path, answered: [401, 200, 404] }];

const attempts: Readonly<Record<string, (theirs: Theirs) => readonly Attempt[]>> = {
  'POST /payment-api': () => creation('/payment-api'),
  'POST /payment-api/payments': () => creation(base),
  'GET /payment-api/events': () =>
    ['', '?after=0', '?after=latest', '?limit=100&wait=0'].map((query) => ({
      path: `/payment-api/events${query}`,
      answered: [403, 200],
      ...(query !== '?after=latest' && { theirsWith: 200 }),
    })),
  'GET /payment-api/payments': ({ cursor, id }) => [
    { path: base, answered: [403, 200], theirsWith: 200 },
    { path: `${base}?orderId=their-order`, answered: [403, 200], theirsWith: 200 },
    { path: `${base}?cursor=${encodeURIComponent(cursor)}`, answered: [403, 200, 400], theirsWith: 200 },
    { path: `${base}?search=their-order`, answered: [403, 200], theirsWith: 200 },
    { path: `${base}?search=${id}`, answered: [403, 200], theirsWith: 200 },
    { path: `${base}?search=${txHash}`, answered: [403, 200] },
    { path: `${base}?status=payment_payout_completed&limit=100`, answered: [403, 200], theirsWith: 200 },
    { path: `${base}?appId=wallet_closed`, answered: [403, 400] },
  ],
  'GET /payment-api/payments/:id': (theirs) => byId(theirs, '', {}),
  'GET /payment-api/payments/order/:appId/:orderId': () => [
    { path: `${base}/order/wallet_closed/their-order`, answered: [404], theirsWith: 200 },
    { path: `${base}/order/wallet_demo/their-order`, answered: [404, 200] },
    { path: `${base}/order/WALLET_CLOSED/their-order`, answered: [404, 400] },
  ],
  'POST /payment-api/payments/:id/payin': (theirs) =>
    byId(theirs, '/payin', { body: { txHash, fromAddress: receiver }, theirsWith: 409 }),
  'GET /payment-api/payments/:id/refunds': (theirs) =>
    byAdmin(byId(theirs, '/refunds', {})).map(({ theirsWith: _, ...attempt }) => attempt),
  'POST /payment-api/payments/:id/refunds': (theirs) =>
    byAdmin(byId(theirs, '/refunds', { body: { scope: 'all' }, theirsWith: 409 })),
  'GET /payment-api/payments/:id/transactions': (theirs) => byId(theirs, '/transactions', {}),
  'GET /payment-api/payments/:id/evidence': (theirs) => byId(theirs, '/evidence', {}),
  'GET /payment-api/proof/head': () => [{ path: '/payment-api/proof/head', answered: [404, 401] }],
  'GET /payment-api/proof/heads': () => [{ path: '/payment-api/proof/heads?after=0&limit=100', answered: [200, 401] }],
  'GET /payment-api/proof/heads/:number': () => [{ path: '/payment-api/proof/heads/1', answered: [404, 401] }],
  'GET /payment-api/proof/keys': () => [{ path: '/payment-api/proof/keys', answered: [200, 401] }],
  'GET /merchant-api/me/stats': () =>
    ['today', '7d', '30d'].map((period) => ({
      path: `/merchant-api/me/stats?period=${period}`,
      answered: [403, 200],
      theirsWith: 200,
    })),
  'GET /merchant-api/me/payments.csv': ({ id }) =>
    ['', '?period=30d', '?search=their-order', `?search=${id}`, '?status=payment_payout_completed'].map((query) => ({
      path: `/merchant-api/me/payments.csv${query}`,
      answered: [403, 200],
      theirsWith: 200,
    })),
  'GET /merchant-api/me/webhook/deliveries': ({ id }) =>
    ['limit=100', `paymentId=${id}`, 'status=exhausted'].map((query) => ({
      path: `${deliveriesPath}?${query}`,
      answered: [403, 200],
      theirsWith: 200,
    })),
  'GET /merchant-api/me/webhook/deliveries/:id': () => [
    { path: `${deliveriesPath}/${deliveryId}`, answered: [403, 404], theirsWith: 200 },
    { path: `${deliveriesPath}/${deliveryId.toUpperCase()}`, answered: [403, 404], theirsWith: 200 },
  ],
  'POST /merchant-api/me/webhook/deliveries/:id/redeliver': () => [
    { path: `${deliveriesPath}/${deliveryId}/redeliver`, body: { acknowledged: true }, answered: [401, 404] },
  ],
  'POST /merchant-api/me/webhook/test': () => [{ path: '/merchant-api/me/webhook/test', answered: [401, 409] }],
  'POST /merchant-api/register': () => [
    {
      path: '/merchant-api/register',
      body: { email: 'a@b.example', displayName: 'their title', kind: 'wallet', slug: 'closed' },
      answered: [201, 409],
    },
  ],
  'POST /merchant-api/sign-in': () => [
    { path: '/merchant-api/sign-in', body: { email: 'a@b.example' }, answered: [200] },
  ],
  'POST /merchant-api/sign-in/verify': () => [
    { path: '/merchant-api/sign-in/verify', body: { challenge: '0'.repeat(64), code: '000001' }, answered: [400] },
  ],
  'POST /merchant-api/sign-out': () => forPeople('/merchant-api/sign-out'),
  'GET /merchant-api/sessions': () => forPeople('/merchant-api/sessions'),
  'POST /merchant-api/sessions/:id/revoke': ({ id }) => forPeople(`/merchant-api/sessions/${id}/revoke`),
  'POST /merchant-api/sessions/revoke-others': () => forPeople('/merchant-api/sessions/revoke-others'),
  'GET /merchant-api/registrations': () => forPeople('/merchant-api/registrations'),
  'POST /merchant-api/registrations/:appId/confirm': () =>
    forPeople('/merchant-api/registrations/wallet_closed/confirm'),
  'POST /merchant-api/registrations/:appId/discard': () =>
    forPeople('/merchant-api/registrations/wallet_closed/discard'),
  'GET /merchant-api/invitations': () => forPeople('/merchant-api/invitations'),
  'POST /merchant-api/invitations/:appId/accept': () => forPeople('/merchant-api/invitations/wallet_closed/accept'),
  'POST /merchant-api/invitations/:appId/decline': () => forPeople('/merchant-api/invitations/wallet_closed/decline'),
  'GET /merchant-api/me/members': () => [{ path: `${me}/members`, answered: ownOnly }],
  'POST /merchant-api/me/members/invite': () => [
    { path: `${me}/members/invite`, body: { email: 'eve@shop.example', role: 'readOnly' }, answered: ownOnly },
  ],
  'POST /merchant-api/me/members/:id/cancel-invitation': () => [
    { path: `${me}/members/bob/cancel-invitation`, answered: [401, 404] },
  ],
  'POST /merchant-api/me/members/:id/role': () => [
    { path: `${me}/members/bob/role`, body: { role: 'readOnly' }, answered: [401, 404] },
  ],
  'POST /merchant-api/me/members/:id/remove': () => [{ path: `${me}/members/bob/remove`, answered: [401, 404] }],
  'POST /merchant-api/me/leave': () => [{ path: `${me}/leave`, answered: [401, 403] }],
  'GET /merchant-api/me': () => [{ path: me, answered: [403, 200], theirsWith: 200 }],
  'GET /merchant-api/me/apps': () => [{ path: `${me}/apps`, answered: [401, 200] }],
  'GET /merchant-api/me/keys': () => [{ path: `${me}/keys`, answered: [401, 200] }],
  'GET /merchant-api/me/audit': () => [{ path: `${me}/audit?limit=100`, answered: [401, 200] }],
  'POST /merchant-api/me/profile': () => [{ path: `${me}/profile`, body: { colour: '#aabbcc' }, answered: ownOnly }],
  'POST /merchant-api/me/logo': () => [{ path: `${me}/logo`, body: {}, answered: [401, 415] }],
  'POST /merchant-api/me/logo/remove': () => [{ path: `${me}/logo/remove`, answered: ownOnly }],
  'POST /merchant-api/me/settlement': () => [
    {
      path: `${me}/settlement`,
      body: { chainId: '8453', tokenSymbol: 'USDC', receiverAddress: receiver },
      answered: ownOnly,
    },
  ],
  'POST /merchant-api/me/settlement/cancel': () => [{ path: `${me}/settlement/cancel`, answered: [401, 409] }],
  'POST /merchant-api/me/webhook': () => [{ path: `${me}/webhook`, body: { webhookUrl: null }, answered: ownOnly }],
  'POST /merchant-api/me/webhook/types': () => [
    { path: `${me}/webhook/types`, body: { webhookTypes: ['payment_held'] }, answered: ownOnly },
  ],
  'POST /merchant-api/me/webhook/endpoints': () => [
    {
      path: `${me}/webhook/endpoints`,
      body: { url: 'https://mine.example/books', types: ['payment_held'] },
      answered: ownOnly,
    },
  ],
  'POST /merchant-api/me/webhook/endpoints/:id/types': ({ endpointId }) => [
    { path: `${me}/webhook/endpoints/${endpointId}/types`, body: { types: ['payment_held'] }, answered: [401, 404] },
  ],
  'POST /merchant-api/me/webhook/endpoints/:id/rotate': ({ endpointId }) => [
    { path: `${me}/webhook/endpoints/${endpointId}/rotate`, answered: [401, 404] },
  ],
  'POST /merchant-api/me/webhook/endpoints/:id/remove': ({ endpointId }) => [
    { path: `${me}/webhook/endpoints/${endpointId}/remove`, answered: [401, 404] },
  ],
  'POST /merchant-api/me/webhook/endpoints/:id/test': ({ endpointId }) => [
    { path: `${me}/webhook/endpoints/${endpointId}/test`, answered: [401, 404] },
  ],
  'POST /merchant-api/me/webhook/rotate': () => [{ path: `${me}/webhook/rotate`, answered: ownOnly }],
  'POST /merchant-api/me/policy': () => [{ path: `${me}/policy`, body: { over: 'refund' }, answered: ownOnly }],
  'POST /merchant-api/me/pay-from': () => [{ path: `${me}/pay-from`, body: { payFrom: [] }, answered: ownOnly }],
  'POST /merchant-api/me/embedding': () => [{ path: `${me}/embedding`, body: { sites: [] }, answered: ownOnly }],
  'POST /merchant-api/me/keys': () => [{ path: `${me}/keys`, body: { name: 'till' }, answered: [401, 201] }],
  'POST /merchant-api/me/keys/:id/rename': ({ keyId }) => [
    { path: `${me}/keys/${keyId}/rename`, body: { name: 'till' }, answered: [401, 404] },
  ],
  'POST /merchant-api/me/keys/:id/revoke': ({ keyId }) => [
    { path: `${me}/keys/${keyId}/revoke`, answered: [401, 404] },
  ],
  'GET /logos/:digest': () => [{ path: `/logos/${'0'.repeat(64)}`, answered: [404] }],
  'GET /merchant-api/me/links': () => [{ path: `${me}/links?limit=100`, answered: [403, 200], theirsWith: 200 }],
  'POST /merchant-api/me/links': () => [{ path: `${me}/links`, body: { amount: '1.00' }, answered: [401, 403] }],
  'POST /merchant-api/me/links/:id/close': ({ linkId }) => [
    { path: `${me}/links/${linkId}/close`, answered: [401, 404] },
    { path: `${me}/links/merchant_demo/close`, answered: [401, 404] },
  ],
  'GET /merchant-api/me/cashback': () => [
    { path: '/merchant-api/me/cashback?limit=100', answered: [403, 200], theirsWith: 200 },
  ],
  'POST /merchant-api/me/cashback/withdraw': () => [
    {
      path: '/merchant-api/me/cashback/withdraw',
      body: { withdrawal_id: 'w', amount_usd_cents: 1 },
      answered: [403, 400, 409],
    },
  ],
  'POST /v1/cashbacksign': () => [{ path: '/v1/cashbacksign', body: spending, answered: [200] }],
  'GET /x402/supported': () => [{ path: '/x402/supported', answered: [200] }],
  'POST /x402/verify': () => [{ path: '/x402/verify', body: authorization, answered: [200] }],
  'POST /x402/settle': () => [{ path: '/x402/settle', body: authorization, answered: [200] }],
  'GET /healthz': () => open('/healthz'),
  'GET /readyz': () => open('/readyz'),
};

/** Pays another app's deposit, which the facilitator refuses (facilitator.test.ts). */
const authorization = {
  paymentPayload: {
    x402Version: 2,
    accepted: { scheme: 'exact', network: 'eip155:8453', asset: receiver },
    payload: {
      signature: `0x${'11'.repeat(65)}`,
      authorization: { from: receiver, to: receiver, value: '1', validAfter: '0', validBefore: '1', nonce: txHash },
    },
  },
  paymentRequirements: { network: 'eip155:8453', asset: receiver, amount: '1', payTo: receiver },
};

/** Documentation files and colours contain no app's data. Separate specs try pages with sessions or with links. */
const isElsewhere = (route: string): boolean =>
  /^\w+ \/(docs|openapi|dashboard|pay\/|link\/|colours|embed\.js|favicon\.ico|robots\.txt|llms\.txt|$)/.test(route);

const served = servedRoutes().filter((route) => !isElsewhere(route));

describe('data of another app', () => {
  let world: World;
  let theirs: Theirs;
  before(async () => {
    ({ world, theirs } = await startTwoApps());
  });
  after(() => world.stop());

  const ask = (route: string, { path, body }: Attempt, headers: Headers): Promise<Answered> =>
    world.call(route.split(' ')[0] ?? '', path, { headers, ...(body && { body }) });
  /** The caller knows the request, so only the rest of the answer could leak something. */
  const given = (attempt: Attempt, { text }: Answered) =>
    theirs.marks.filter((mark) => text.includes(mark) && !JSON.stringify(attempt).includes(mark));

  it('is tried on every route that the router serves, and on no other', () => {
    assert.deepEqual(Object.keys(attempts).toSorted(), served.toSorted());
  });

  for (const route of served) {
    it(`is out of reach: ${route}`, async () => {
      for (const attempt of attempts[route]?.(theirs) ?? assert.fail(`${route} has no attempt`)) {
        for (const key of [world.keys.wallet, world.keys.walletAdmin, world.owners.wallet, {}]) {
          const answer = await ask(route, attempt, key);
          const keyless = Object.keys(key).length === 0;
          // Some routes accept only keys.
          const answered = key === world.owners.wallet ? [...attempt.answered, 401] : attempt.answered;
          if (!keyless) assert.ok(answered.includes(answer.status), `${attempt.path}: ${answer.status}`);
          const isPublic = keyless && route === 'GET /payment-api/payments/:id';
          if (!isPublic) assert.deepEqual(given(attempt, answer), [], `${attempt.path} gives something away`);
        }
        if (attempt.theirsWith === undefined) continue;
        const owner = await ask(route, attempt, world.keys.otherAdmin);
        assert.equal(owner.status, attempt.theirsWith, attempt.path);
        if (owner.status === 200)
          assert.notDeepEqual(given(attempt, owner), [], `${attempt.path} finds nothing at all`);
      }
    });
  }
});
