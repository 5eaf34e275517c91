/** A payment's evidence from the real product, for a reader without access to it. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { patientFetch } from '../../../sandbox/patientFetch.ts';
import { type File, verifyEvidence } from '../../clients/verify/verifier.ts';
import { outputOfTool } from '../../support/operatorTools.ts';
import { headEveryEvents, sharedSandbox, startSharedSandbox } from '../../support/sharedSandbox.ts';
import { temporaryDirectory } from '../../support/temporaryDirectory.ts';
import { walletOrders } from '../../support/walletOrders.ts';

describe('the evidence of a payment', () => {
  const sandbox = sharedSandbox();
  const { order, create } = walletOrders(sandbox);
  before(startSharedSandbox);

  const fetched = async (path: string): Promise<File> => {
    const answer = await patientFetch(`${sandbox.file().baseUrl}/payment-api/proof/${path}`);
    return { name: path, text: await answer.text() };
  };
  const tool = (paymentId: string, out: string) =>
    outputOfTool(sandbox.dataDir, 'evidence', paymentId, '--out', out, '--data', sandbox.dataDir);

  it('is exported while the service runs, and proves the payment under a published head', async () => {
    const receiverAddress = '0x2222222222222222222222222222222222222222';
    const ordered = () => create(order('exactOut', { chainId: 8453 }, { chainId: 1, receiverAddress, amount: '4.00' }));
    const payment = await ordered();
    await sandbox.pay(payment);
    assert.equal((await sandbox.follow(payment.id)).status, 'payment_payout_completed');
    // The next head needs as many events.
    for (let events = 0; events < headEveryEvents; events += 1) await ordered();
    const file = join(temporaryDirectory(), 'pack.json');
    await sandbox.until(async () => {
      const told = await tool(payment.id, file).catch(() => null);
      return told !== null && readFileSync(file, 'utf8').includes('PayoutConfirmed');
    });
    const { data } = JSON.parse((await fetched('keys')).text);
    const pack = { name: 'pack.json', text: readFileSync(file, 'utf8') };
    await verifyEvidence([pack, await fetched('heads?limit=100')], { key: data[0].publicKey });
  });
});
