import assert from 'node:assert/strict';
import features from '@eventstore/db-client/generated/serverfeatures_pb.js';
import { status } from '@grpc/grpc-js';
import { readServerVersion, serverVersion } from '../../tools/doctor/stores.ts';
import { fakeServer } from './fakeServer.ts';

describe('the version of the event store', () => {
  it('is the one that the server reports, on any form of URL', async () => {
    const answer = new features.SupportedMethods().setEventStoreServerVersion('26.0.3');
    const { url, stop } = await fakeServer({ getSupportedMethods: (_call, callback) => callback(null, answer) });
    assert.equal(await readServerVersion(url), '26.0.3');
    assert.equal(await readServerVersion(url.replace(/^esdb:/, 'kurrentdb:')), '26.0.3');
    stop();
  });

  it('is unknown where the server does not know the call', async () => {
    const { url, stop } = await fakeServer({
      getSupportedMethods: (_call, callback) => callback({ code: status.UNIMPLEMENTED }),
    });
    assert.equal(await readServerVersion(url), null);
    stop();
  });

  it('has a meaning: tried, out of support, or not tried', () => {
    const verdictOf = (version: string | null) => serverVersion(version).verdict;
    assert.equal(verdictOf('24.6.0'), 'fine');
    assert.equal(verdictOf('26.0.3'), 'fine');
    for (const version of ['24.10.4', '25.1.0', '26.1.1', '22.10.5', 'unknown', null])
      assert.equal(verdictOf(version), 'look');
    assert.match(serverVersion('24.10.4').todo ?? '', /upgrade to 26\.0/);
    assert.match(serverVersion('24.6.0').said, /no fixes/);
  });
});
