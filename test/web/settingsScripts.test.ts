/** Example sentences of the money policy follow its fields, and agree with the server's. */
import assert from 'node:assert/strict';
import { holdAll, shownPolicy } from '../../domain/payment/amountPolicy.ts';
import { policyForm, policyPage } from '../../web/dashboard/policy.ts';
import type { Frame } from '../../web/parts/frame.ts';
import { visitor } from '../support/chromium.ts';
import { servePages } from './pageServer.ts';

const frame: Frame = {
  ...{ mode: 'sandbox', person: 'ada@teahouse.example', flash: null, logoUrl: null, apps: [] },
  app: { appId: 'merchant_teahouse', name: 'Tea House' },
};

describe('the page of the money policy', () => {
  it('says what counts as paid, with and without scripts alike', async () => {
    const cases = [
      ['0.50', '1.00', 'accept', '90', 'receives 99.50 counts', 'up to 90 minutes'],
      ['10', '0.25', 'accept', '1', 'receives 99.75 counts', 'up to 1 minutes'],
      ['0', '0', 'hold', '0', '99.99 does not count', 'does not count as paid'],
      ['2.25', '0', 'refund', '60', '99.99 does not count', 'does not count as paid'],
    ] as const;
    const empty = policyForm(shownPolicy(holdAll));
    const pageOf = (values: Readonly<Record<string, string>>) =>
      policyPage({ ...frame, fees: [], form: { values: { ...empty.values, ...values }, errors: {} } });
    const filled = cases.map(([percent, most, late, lateWithinMinutes]) => ({
      percent,
      most,
      late,
      lateWithinMinutes,
    }));
    await using server = await servePages({
      start: pageOf({}),
      ...Object.fromEntries(filled.map((values, at) => [`filled${at}`, pageOf(values)])),
    });
    const scripted = await visitor(server.url(''), {});
    const plain = await visitor(server.url(''), { javaScriptEnabled: false });
    const said = ({ page }: typeof plain) => page.locator('.example').allTextContents();
    await scripted.page.goto('start');
    for (const [at, [percent, most, late, minutes, tolerance, inTime]] of cases.entries()) {
      await scripted.page.getByLabel('Tolerance', { exact: true }).fill(percent);
      await scripted.page.getByLabel('Tolerance, at most').fill(most);
      await scripted.page.getByLabel('Money after the end of the payment').selectOption(late);
      await scripted.page.getByLabel('Soon enough').fill(minutes);
      await plain.page.goto(`filled${at}`);
      const sentences = await said(scripted);
      assert.deepEqual(sentences, await said(plain), String(at));
      assert.ok(sentences[0]?.includes(tolerance) && sentences[1]?.includes(inTime), sentences.join());
    }
    await scripted.leave();
    await plain.leave();
  });
});
