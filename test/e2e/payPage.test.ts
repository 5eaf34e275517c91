/** A payer with a browser: the page follows the money by itself, from waiting to completed, without being loaded again. */
import assert from 'node:assert/strict';
import { visitor } from '../support/chromium.ts';
import { createSandbox } from '../support/sandbox.ts';

const receiver = '0x2222222222222222222222222222222222222222';

describe('the page of a payment, in a browser', function () {
  this.timeout(120_000);
  const sandbox = createSandbox({ chains: [8453, 137] });
  before(() => sandbox.start());
  after(() => sandbox.destroy());

  const create = async () => {
    const { body } = await sandbox.create({
      appId: sandbox.file().wallet.appId,
      type: 'exactOut',
      display: { title: 'Tea', currency: 'USD' },
      source: { chainId: 8453, tokenSymbol: 'USDC' },
      destination: { chainId: 137, tokenSymbol: 'USDC', amount: '3.00', receiverAddress: receiver },
    });
    return body;
  };

  it('goes from waiting to completed while somebody pays, and then has the receipt', async () => {
    const payment = await create();
    const { page, leave } = await visitor(sandbox.file().baseUrl, { viewport: { width: 360, height: 740 } });
    let loads = 0;
    page.on('load', () => {
      loads += 1;
    });
    await page.goto(payment.paymentLink);
    await page.getByText('Waiting for your payment').waitFor();
    assert.match(
      (await page.locator('.scan a').getAttribute('href')) ?? '',
      /^ethereum:0x\w+@8453\/transfer\?address=0x/,
    );
    await sandbox.pay(payment);
    await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor();
    await page.getByText('has your money').waitFor({ timeout: 60_000 });
    assert.equal(loads, 1);
    assert.equal(await page.locator('.scan').count(), 0);
    await page.getByRole('link', { name: 'Receipt to print' }).click();
    const done = await sandbox.follow(payment.id);
    await page.getByText(done.destination.txHash).waitFor();
    await page.getByText(done.source.txHash).waitFor();
    await leave();
  });

  it('says what is missing of too little, and takes the rest', async () => {
    const payment = await create();
    const { page, leave } = await visitor(sandbox.file().baseUrl);
    await page.goto(`${payment.paymentLink}?lang=es`);
    await page.getByText('Esperando su pago').waitFor();
    await sandbox.pay(payment, '1.00');
    await page.getByText('Envíe el resto a tiempo').waitFor();
    const left = payment.source.amount.replace(/^3/, '2');
    assert.match((await page.locator('.amount').textContent()) ?? '', new RegExp(`${left}\\s*USDC`));
    await sandbox.pay(payment, left);
    await page.getByText('ha recibido su dinero').waitFor({ timeout: 60_000 });
    await leave();
  });

  it('works without scripts: it is loaded again by itself', async () => {
    const payment = await create();
    const { page, leave } = await visitor(sandbox.file().baseUrl, { javaScriptEnabled: false });
    await page.goto(payment.paymentLink);
    await page.getByText('Waiting for your payment').waitFor();
    await sandbox.pay(payment);
    await page.getByText('has your money').waitFor({ timeout: 60_000 });
    await leave();
  });
});
