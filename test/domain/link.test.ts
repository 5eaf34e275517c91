import assert from 'node:assert/strict';
import { fold, isRefusal } from '../../domain/decider.ts';
import {
  amountWith,
  closeLink,
  createLink,
  type Link,
  type LinkEvent,
  type LinkTerms,
  link,
} from '../../domain/link.ts';
import { minute } from '../support/payments.ts';

const terms = (more: Partial<LinkTerms> = {}): LinkTerms => ({
  linkId: 'a'.repeat(36),
  appId: 'merchant_teahouse',
  type: 'exactOut',
  amount_microUsd: '12500000',
  limits_microUsd: null,
  title: null,
  description: null,
  source: null,
  createdAt: minute(0),
  ...more,
});
const open = (min: string, max: string) => terms({ amount_microUsd: null, limits_microUsd: { min, max } });
const created = (more?: LinkTerms): LinkEvent => ({ type: 'LinkCreated', data: more ?? terms() });
const given = (...events: readonly LinkEvent[]) => fold(link, events);
const linkOf = (each: LinkTerms): Link => given(created(each)) ?? assert.fail();
const pointerOf = (decision: unknown) => (isRefusal(decision) ? decision.pointer : decision);

describe('a reusable link', () => {
  it('is created once: later requests with other values change nothing', () => {
    assert.deepEqual(createLink(given(), terms()), [created()]);
    assert.deepEqual(createLink(given(created()), terms({ title: 'another' })), []);
  });

  it('has amounts from 0.02 to 10,000 dollars', () => {
    for (const amount of ['20000', '10000000000']) {
      assert.deepEqual(createLink(null, terms({ amount_microUsd: amount })), [
        created(terms({ amount_microUsd: amount })),
      ]);
    }
    for (const amount of ['0', '19999', '10000000001']) {
      assert.equal(pointerOf(createLink(null, terms({ amount_microUsd: amount }))), '/amount');
    }
  });

  it('lets the payer choose within limits, of which the second is not below the first', () => {
    assert.deepEqual(createLink(null, open('1000000', '1000000')), [created(open('1000000', '1000000'))]);
    assert.equal(pointerOf(createLink(null, open('19999', '1000000'))), '/minAmount');
    assert.equal(pointerOf(createLink(null, open('2000000', '1000000'))), '/maxAmount');
    assert.equal(pointerOf(createLink(null, open('20000', '10000000001'))), '/maxAmount');
  });

  it('accepts the payer’s choice within these limits, and nothing else', () => {
    const chosen = linkOf(open('1000000', '50000000'));
    for (const good of [1_000_000n, 50_000_000n]) assert.equal(amountWith(chosen, good), good);
    for (const bad of [null, 0n, -1n, 999_999n, 50_000_001n])
      assert.equal(pointerOf(amountWith(chosen, bad)), '/amount');
  });

  it('keeps its own amount whatever the payer sends', () => {
    for (const said of [null, 1n, 99_000_000n]) assert.equal(amountWith(linkOf(terms()), said), 12_500_000n);
  });

  it('is closed once, and stays closed', () => {
    const closed: LinkEvent = { type: 'LinkClosed', data: { closedAt: minute(5) } };
    assert.deepEqual(closeLink(given(created()), 'merchant_teahouse', minute(5)), [closed]);
    assert.deepEqual(closeLink(given(created(), closed), 'merchant_teahouse', minute(6)), []);
    assert.equal(given(created(), closed)?.closedAt, minute(5));
  });

  it('is closed by its own app alone: for another one it does not exist', () => {
    const stranger = closeLink(given(created()), 'merchant_other', minute(5));
    assert.deepEqual(stranger, closeLink(given(), 'merchant_other', minute(5)));
    assert.ok(isRefusal(stranger) && stranger.refused === 'notFound');
  });
});
