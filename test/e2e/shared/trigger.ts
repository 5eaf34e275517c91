/** `npm run trigger`: every situation ends as its table states, and `npm run listen` receives its webhooks. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createActs } from '../../../sandbox/acts.ts';
import { fetchPayment, type Transfer } from '../../../sandbox/customer.ts';
import { keepKeys } from '../../../sandbox/keys.ts';
import { bodyOf } from '../../../sandbox/requestBody.ts';
import { situations } from '../../../sandbox/situations.ts';
import { verifyWebhook } from '../../../sandbox/verifyWebhook.ts';
import { onStop } from '../../support/hooks.ts';
import { outputOfTool } from '../../support/operatorTools.ts';
import type { Sandbox } from '../../support/sandbox.ts';

const folder = join(import.meta.dirname, '../../../sandbox');
/** Passing states: the spec only checks that they were reached. */
const passing: readonly string[] = [
  'payment_started',
  'payment_payin_completed',
  'payment_bridging',
  'payment_payout_started',
  'underpaid',
];

export function describeTrigger(sandbox: Sandbox): void {
  describe('npm run trigger', () => {
    const environment = () => ({ ...process.env, DATA_DIR: sandbox.dataDir });
    const trigger = (...args: string[]) => outputOfTool(sandbox.dataDir, 'sandbox/trigger', ...args);

    it('makes each situation end as its table states, and each webhook reaches the listener with a valid signature', async () => {
      const heard: { headers: IncomingHttpHeaders; body: Buffer }[] = [];
      const developer = createServer(async (request, response) => {
        heard.push({ headers: request.headers, body: (await bodyOf(request, 256 * 1024)) ?? Buffer.alloc(0) });
        response.end();
      });
      await once(developer.listen(0, '127.0.0.1'), 'listening');
      onStop(async () => void developer.close());
      const url = `http://127.0.0.1:${(developer.address() as AddressInfo).port}/hooks`;
      const listening = spawn(process.execPath, [join(folder, 'listen.ts'), '--forward', url], { env: environment() });
      onStop(async () => void listening.kill('SIGKILL'));
      await once(listening.stdout, 'data');

      let sending: Promise<unknown> = Promise.resolve();
      const oneByOne = (transfer: Transfer): Promise<string> => {
        const sent = sending.then(transfer.hash);
        sending = sent.catch(() => {});
        return sent;
      };
      const ended = await Promise.all(
        situations.map(async (situation) => {
          const said: string[] = [];
          const acts = createActs(sandbox.file(), keepKeys(sandbox.dataDir), (line) => said.push(line), oneByOne);
          const { id } = await situation.run(acts);
          const { status, errorCode } = await fetchPayment(sandbox.file(), id);
          assert.match(said.join('\n'), new RegExp(`payment ${id}: `));
          const statuses = said.filter((line) => line.startsWith('payment_'));
          assert.deepEqual(statuses, [...new Set(statuses)], situation.name);
          return { situation, id, at: [status, errorCode] };
        }),
      );
      for (const { situation, at } of ended) {
        const { name, ends, errorCode = null } = situation;
        if (!passing.includes(name)) assert.deepEqual(at, [ends, errorCode], name);
      }

      const { merchant, wallet } = sandbox.file();
      const secrets = [merchant.webhookSecret, wallet.webhookSecret];
      const toldOf = (id: string) => heard.filter(({ body }) => JSON.parse(body.toString()).data.id === id);
      for (const { situation, id } of ended) {
        if (passing.includes(situation.name)) continue;
        await sandbox.until(() => toldOf(id).length >= situation.webhooks);
        assert.equal(toldOf(id).length, situation.webhooks, situation.name);
      }
      for (const { headers, body } of heard) {
        const { 'x-service-timestamp': timestamp, 'x-service-signature': signature } = headers;
        const sent = { timestamp: String(timestamp), signature: String(signature) };
        assert.equal(verifyWebhook(sent, body, secrets, Date.now()), 'valid');
      }
      listening.kill('SIGKILL');
    });

    it('shows the operator unmatched money', async () => {
      let listed = '';
      await sandbox.until(async () => {
        listed = await outputOfTool(sandbox.dataDir, 'unmatched');
        return listed.includes('2.00 USDC');
      });
      assert.match(listed, /'1'.*'open'/);
    });

    it('prints each step, with the payment and its page', async () => {
      const printed = await trigger('payment_payout_completed');
      assert.match(printed, /s {2}payment [0-9a-f-]{36}: 2\.00 USDC\n.*its page: http:\/\/127/);
      assert.match(printed, /paid in transaction 0x.*payment_payout_completed\n\n$/s);
    });

    it('lists the situations, and refuses an unknown one', async () => {
      const table = await trigger('--list');
      for (const { name, says } of situations) assert.ok(table.includes(name) && table.includes(says), name);
      await assert.rejects(trigger('nothing_of_the_kind'), /name a situation:.*payment_expired/s);
    });
  });
}
