/** Texts before paying: the purchase, its full price, each chain's amount, and the amount that must arrive from an exchange. */
import assert from 'node:assert/strict';
import type { VNode } from 'preact';
import { documentOf } from '../../web/parts/html.ts';
import { type Language, languages } from '../../web/parts/language.ts';
import { readWanted, wantedAmount } from '../../web/pay/choice.ts';
import { costText } from '../../web/pay/language.ts';
import { sayIn } from '../../web/pay/messages/index.ts';
import { payPage } from '../../web/pay/page.ts';
import { orderShown } from '../../web/pay/parts.ts';
import { receiptPage } from '../../web/pay/receipt.ts';
import { visitor } from '../support/chromium.ts';
import { cutOff, obstacles, standingOut } from '../support/obstacles.ts';
import { gateCases } from '../support/suite.ts';
import { servePages } from './pageServer.ts';
import { payModel, payPages, type StoryName, stories } from './samples/payPages.ts';

const textOf = (page: VNode): string =>
  documentOf(page)
    .replaceAll(/<svg.*?<\/svg>/gs, '')
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll(/\s+/g, ' ');
const page = (name: StoryName, language: Language = 'en') => payPage(payModel(stories[name], language));
const receipt = (name: StoryName) => receiptPage(payModel(stories[name], 'en'));

describe('the purchase', () => {
  it('is the largest text after the amount, with its description; the order is small', () => {
    const written = documentOf(page('waiting'));
    assert.match(written, /<h2><bdi>Two pounds of Darjeeling<\/bdi><\/h2>\s*<p class="muted"><bdi>First flush<\/bdi>/);
    assert.match(written, /<span class="small muted">Order <bdi>A-1042<\/bdi><\/span>/);
    assert.ok(written.indexOf('Two pounds') < written.indexOf('class="amount"'));
  });

  it('is on the page in every situation, and on the receipt', () => {
    for (const name of Object.keys(stories) as StoryName[])
      assert.match(textOf(page(name)), /Two pounds of Darjeeling/, name);
    assert.match(textOf(receipt('completed')), /Two pounds of Darjeeling ?First flush/);
  });

  it('lists its lines; a long list is folded, and whole on a receipt', () => {
    assert.match(textOf(page('itemised')), /2 × Darjeeling First Flush, 250 g, in a tin ?9\.00 USDC ?Shipping/);
    assert.doesNotMatch(documentOf(page('itemised')), /items-all/);
    assert.match(documentOf(page('itemisedLong')), /<details class="items-all"><summary>All <bdi>12<\/bdi> items/);
    assert.equal(textOf(page('itemisedLong')).match(/0\.50 USDC/g)?.length, 11);
    assert.doesNotMatch(documentOf(receipt('itemisedLong')), /items-all/);
    assert.match(textOf(receipt('itemisedLong')), /part 11 ?0\.50 USDC/);
  });

  it('has no order if a reusable link named it', () => {
    const metadata = { linkId: 'l'.repeat(36) };
    assert.equal(orderShown({ orderId: 'link-399d9c9d58444399bc53', metadata }), null);
    assert.equal(orderShown({ orderId: 'link-399d9c9d58444399bc53', metadata: null }), 'link-399d9c9d58444399bc53');
    assert.equal(orderShown({ orderId: 'A-1042', metadata }), 'A-1042');
  });
});

describe('the price', () => {
  it('for an exactIn payment is the total alone: the merchant’s fee is on no page of the buyer', () => {
    for (const name of ['exactIn', 'exactInElsewhere', 'exactInCompleted'] as const)
      for (const shown of [page(name), receipt(name)]) {
        assert.doesNotMatch(textOf(shown), /18\.47|0\.0285|Fee ?\d|\d fee\b/, name);
      }
    assert.match(textOf(page('exactInCompleted')), /You sent18\.50 USDC on Base/);
    assert.match(textOf(receipt('exactInCompleted')), /Tea House was paid ?on Ethereum/);
  });

  it('for an exactOut payment states the order’s part and the fee', () => {
    assert.match(textOf(page('waiting')), /10\.00 for the order, 0\.01 fee/);
    assert.match(textOf(receipt('completed')), /Fee0\.01 USDC/);
  });
});

describe('the choice of chain', () => {
  it('is grouped by wallets, with a mark, the usual time and the cost of each', () => {
    const written = documentOf(page('exactIn'));
    const groups = [...written.matchAll(/role="group" aria-labelledby="from-(\w+)"/g)].map(([, family]) => family);
    assert.deepEqual(groups, ['evm', 'solana', 'stellar']);
    assert.equal(written.match(/<svg class="chain"/g)?.length, 6);
    assert.match(textOf(page('exactIn')), /Ethereum USDT.*final in about 3 minutes, network cost about \$0\.34/);
    assert.match(textOf(page('exactIn')), /Solana USDC.*final in about 15 seconds, network cost less than \$0\.01/);
  });

  it('states no unknown cost', () => {
    const model = { ...payModel(stories.exactIn, 'en'), networkOf: () => ({ final_ms: 1_000, cost_microUsd: null }) };
    assert.match(textOf(payPage(model)), /final in about 5 seconds/);
    assert.doesNotMatch(textOf(payPage(model)), /, network cost/);
  });

  it('rounds costs up to cents, in each language', () => {
    const say = sayIn('en');
    assert.deepEqual(costText(say, 2n), { sign: '< $0.01', words: 'less than $0.01' });
    assert.equal(costText(say, 10_000n).sign, '< $0.01');
    assert.equal(costText(say, 10_001n).sign, '≈ $0.02');
    assert.equal(costText(say, 1_239_999n).words, 'about $1.24');
    for (const language of languages) assert.match(costText(sayIn(language), 340_000n).sign, /0[.,]34/);
  });
});

describe('paying from an exchange', () => {
  it('has a list of the arriving payment: amount, token, network in the exchange’s words, address, memo', () => {
    const text = textOf(page('waitingOnStellar'));
    assert.match(text, /This is what will arrive ?10\.01 USDC, after the fee of the exchange/);
    assert.match(text, /The network is Stellar \(XLM\).*it ends in …K4KZVN.*is 4611686018427387904/);
    assert.match(textOf(page('waiting')), /No memo and no tag/);
    assert.equal(documentOf(page('waiting')).match(/type="checkbox"/g)?.length, 5);
  });

  it('is not offered where only a named account can pay', () => {
    assert.doesNotMatch(documentOf(page('waitingForCall')), /id="exchange"/);
  });
});

describe('any amount', () => {
  const model = payModel(stories.waitingForAny, 'en');
  const wanted = (text: string) => readWanted(model.facts, text);

  it('is read in people’s usual forms, within the limits', () => {
    assert.equal(wantedAmount(wanted('25')), '25.00');
    assert.equal(wantedAmount(wanted(' 25,5 ')), '25.50');
    assert.equal(wantedAmount(wanted('0.02')), '0.02');
    assert.equal(wantedAmount(wanted('10000')), '10000.00');
    for (const text of ['', 'abc', '0.01', '10000.01', '1e3', '-5', '1.0000001', '1,000.00', '٢٥', '9'.repeat(500)])
      assert.equal(wantedAmount(wanted(text)), null, text);
    assert.equal(wantedAmount(readWanted(payModel(stories.waiting, 'en').facts, '25')), null, 'the amount is agreed');
  });

  it('has a field, and a code only for a sum that can be paid', () => {
    assert.match(documentOf(page('waitingForAny')), /<form class="choose any" method="get"/);
    assert.doesNotMatch(documentOf(page('waitingForAny')), /class="qr"/);
    const { anyAmountWanted, anyAmountWrong } = payPages('en');
    assert.ok(anyAmountWanted && anyAmountWrong);
    assert.match(documentOf(anyAmountWanted), /uint256=25000000/);
    assert.match(documentOf(anyAmountWanted), /class="qr"/);
    assert.match(textOf(anyAmountWrong), /Enter an amount from 0\.02 to 10000\.00/);
    assert.doesNotMatch(documentOf(anyAmountWrong), /class="qr"/);
    assert.doesNotMatch(textOf(page('waitingForAny')), /too little or too much/);
  });
});

describe('the refund form', () => {
  it('begins with the account that paid, and states the cost in dollars', () => {
    const { refundAsked } = payPages('en');
    assert.ok(refundAsked);
    assert.match(documentOf(refundAsked), /name="to" type="text" value="0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"/);
    assert.match(textOf(refundAsked), /a network cost of less than \$0\.01, which is deducted/);
  });
});

const widths = [390, 820, 1280];
const shown = ['exactIn', 'itemisedLong', 'waitingOnStellar', 'anyAmountWanted', 'exactInCompleted', 'refundAsked'];

describe('pages with a price in a browser', () => {
  for (const language of languages)
    for (const scheme of ['light', 'dark'] as const) {
      const cases = gateCases(widths, (width) => isInGate(language, scheme, width));
      if (cases.length === 0) continue;
      it(`are accessible in ${language}, ${scheme}, at ${cases.join(', ')} pixels, with all folds open`, async () => {
        await using server = await servePages(payPages(language));
        const { page: tab, leave } = await visitor(server.url(''), { colorScheme: scheme });
        for (const width of cases) {
          await tab.setViewportSize({ width, height: 900 });
          for (const name of shown) {
            await tab.goto(name);
            await tab.locator('details').evaluateAll((all) => {
              for (const each of all) (each as HTMLDetailsElement).open = true;
            });
            assert.deepEqual(await obstacles(tab), [], `${name} at ${width}`);
            assert.deepEqual(await standingOut(tab), [], `${name} scrolls sideways at ${width}`);
            assert.deepEqual(await cutOff(tab), [], `${name} cuts words off at ${width}`);
          }
        }
        await leave();
      });
    }

  it('keep ticked boxes while news arrive, and work by the keyboard', async () => {
    await using server = await servePages(payPages('en'));
    const { page: tab, leave } = await visitor(server.url(''));
    await tab.goto('waiting');
    await server.listened();
    await tab.getByText('Pay from an exchange').focus();
    await tab.keyboard.press('Enter');
    await tab.keyboard.press('Tab');
    await tab.keyboard.press('Space');
    const reading = tab.waitForResponse((answer) => answer.url().endsWith('/waiting'));
    server.tell();
    await reading;
    assert.equal(await tab.getByRole('checkbox', { name: /10\.01 USDC/ }).isChecked(), true);
    assert.equal(await tab.getByRole('checkbox').count(), 5);
    await leave();
  });
});

/** The gate contains each width once, both schemes, and Arabic from right to left. */
function isInGate(language: Language, scheme: 'light' | 'dark', width: number): boolean {
  const chosen: readonly (readonly [Language, string, number])[] = [
    ['ar', 'dark', 390],
    ['de', 'light', 820],
    ['en', 'light', 1280],
  ];
  return chosen.some(([one, by, at]) => one === language && by === scheme && at === width);
}
