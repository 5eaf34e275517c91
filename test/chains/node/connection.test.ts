import assert from 'node:assert/strict';
import { createLines } from '../../../src/chains/node/limiter.ts';
import { connect } from '../../../src/chains/node/nodes.ts';

describe('a node before its verification', () => {
  it('is not called by a read that was aborted before it began, whose failure nobody would handle', async () => {
    let asked = 0;
    const verify = async () => {
      asked += 1;
      throw new Error('nobody hears of this');
    };
    const connection = connect({ url: 'http://127.0.0.1:1', number: 1 }, createLines({ random: () => 0 }), {
      chainId: 1,
      callTimeout_ms: 1_000,
      verify,
    });
    const calledOff = AbortSignal.abort(new Error('called off'));
    await assert.rejects(connection.verified(calledOff), /called off/);
    await assert.rejects(connection.for({ priority: 'head', signal: calledOff }).request('echo', []), /called off/);
    // Node reports an unhandled rejection after all pending work.
    await new Promise(setImmediate);
    assert.equal(asked, 0);
  });
});
