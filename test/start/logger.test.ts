/** The service's own log as its operator reads it in a terminal. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { hostile, steering } from '../support/hostileText.ts';

const telemetry = new URL('../../src/process/telemetry.ts', import.meta.url).href;

describe('the log of the service', () => {
  it('contains texts of strangers in JSON, and controls no terminal by it', async () => {
    const program = `import { createLogger } from ${JSON.stringify(telemetry)};
      const text = ${JSON.stringify(hostile)};
      createLogger('info').warn({ orderId: text, [text]: 1, err: new Error(text) }, text);`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
    assert.ok(!steering.test(stdout), JSON.stringify(stdout));
    assert.equal(stdout.trimEnd().split('\n').length, 1);
    const { orderId, msg, err, [hostile]: named } = JSON.parse(stdout);
    assert.deepEqual([orderId, msg, err.message, named], [hostile, hostile, hostile, 1]);
  });
});
