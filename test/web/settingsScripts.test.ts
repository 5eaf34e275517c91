/** Scripts of the settings: example sentences of the money policy, and the preview of the branding. */
import assert from 'node:assert/strict';
import { holdAll, shownPolicy } from '../../domain/payment/amountPolicy.ts';
import { brandingPage } from '../../web/dashboard/branding.ts';
import { policyForm, policyPage } from '../../web/dashboard/policy.ts';
import type { Frame } from '../../web/parts/frame.ts';
import { visitor } from '../support/chromium.ts';
import { servePages } from './pageServer.ts';

const poll_ms = 25;

const frame: Frame = {
  ...{ mode: 'sandbox', person: 'ada@teahouse.example', flash: null, unread: 0, logoUrl: null, apps: [] },
  app: { appId: 'merchant_teahouse', name: 'Tea House' },
};

describe('the page of the money policy', () => {
  it('states which amounts count as paid, with and without scripts alike', async () => {
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

describe('the page of branding', () => {
  it('shows the whole payment page in its future form, while its fields change, in light and dark', async () => {
    const form = { values: { name: 'Tea House', colour: '#b5432a' }, errors: {} };
    await using server = await servePages({ branding: brandingPage({ ...frame, form, returnUrl: null }) });
    // Without an emulated scheme the frame has the one of its element.
    const { page, leave } = await visitor(server.url(''), { colorScheme: null });
    await page.goto('branding');
    const preview = page.frameLocator('iframe');
    await preview.getByText('Tea House').first().waitFor();
    const accent = () =>
      preview.locator('html').evaluate((root) => getComputedStyle(root).getPropertyValue('--accent').trim());
    const untilAccent = async (holds: (colour: string) => boolean) => {
      while (!holds(await accent())) await page.waitForTimeout(poll_ms);
    };
    await untilAccent((colour) => colour === '#b5432a');
    await page.getByLabel('Choose the colour').fill('#2f6f4f');
    assert.equal(await page.getByLabel('Colour', { exact: false }).first().inputValue(), '#2f6f4f');
    await page.getByLabel('Name').fill('Tea & <b>Cake</b>');
    await preview.getByText('Tea & <b>Cake</b>').first().waitFor();
    await untilAccent((colour) => colour === '#2f6f4f');
    const width = async () => (await page.locator('iframe').boundingBox())?.width ?? 0;
    const phone = await width();
    await page.getByLabel('Desktop').check();
    while ((await width()) <= phone) await page.waitForTimeout(poll_ms);
    await page.getByLabel('Dark').check();
    await untilAccent((colour) => colour !== '#2f6f4f');
    await leave();
  });
});
