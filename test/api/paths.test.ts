/** Pages build their links by web/parts/paths.ts, and the router serves routes. This spec compares both. */
import assert from 'node:assert/strict';
import { appPaths, paths } from '../../web/parts/paths.ts';
import { servedRoutes } from './twoApps.ts';

/** Names of parameters for ids, as in the router. */
const named: Readonly<Record<string, string>> = {
  confirmPending: ':appId',
  discardPending: ':appId',
  endSession: ':sessionId',
  acceptInvitation: ':appId',
  declineInvitation: ':appId',
  cancelPayment: ':paymentId',
  note: ':paymentId',
  cancelInvitation: ':memberId',
  memberRole: ':memberId',
  removeMember: ':memberId',
  transferTo: ':memberId',
  confirmTransfer: ':memberId',
  payment: ':paymentId',
  evidence: ':paymentId',
  refund: ':paymentId',
  fundRefund: ':paymentId',
  confirmAddress: ':paymentId',
  confirmAddressCode: ':paymentId',
  withdrawAddress: ':paymentId',
  confirmRefund: ':paymentId',
  link: ':linkId',
  closeLink: ':linkId',
  renameKey: ':keyId',
  revokeKey: ':keyId',
  delivery: ':deliveryId',
  redeliver: ':deliveryId',
  endpointTypes: ':endpointId',
  rotateEndpoint: ':endpointId',
  removeEndpoint: ':endpointId',
  testEndpoint: ':endpointId',
};

const spelled = (all: Readonly<Record<string, string | ((id: string) => string)>>): readonly string[] =>
  Object.entries(all).map(([name, path]) => {
    const text = typeof path === 'string' ? path : path(named[name] ?? assert.fail(`${name} has no id here`));
    return decodeURIComponent(text.split('?')[0] ?? '');
  });

describe('the paths of the dashboard', () => {
  it('are exactly those that the router serves', () => {
    const served = servedRoutes()
      .map((route) => route.split(' ')[1] ?? '')
      .filter((path) => path.startsWith('/dashboard'));
    // An asset's path has the hash of a file that exists.
    const { asset, ...others } = paths;
    assert.match(asset('look.css'), /^\/dashboard\/assets\/look\.[0-9a-f]{12}\.css$/);
    const linked = [...spelled(others), '/dashboard/assets/:file', ...spelled(appPaths(':appId'))];
    assert.deepEqual([...new Set(linked)].toSorted(), [...new Set(served)].toSorted());
  });
});
