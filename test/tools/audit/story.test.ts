/** `npm run audit -- payment <id>`: one payment's story, with the evidence of each step. */
import assert from 'node:assert/strict';
import { linkOf } from '../../../commands/codec.ts';
import type { StoredEvent } from '../../../domain/decider.ts';
import { auditStory, storyLines } from '../../../tools/audit/story.ts';
import { hashOf, merchantWallet, minute } from '../../support/payments.ts';
import { honest as alone, shown as groundsOfAlone, hook, instead, paymentA as paidAlone } from './honest.ts';
import { asked, both, deposits, grounds, honest, paymentA, stream, transaction, twice } from './paidTogether.ts';
import { believed, type Ground, type Said, witnessOf, written } from './world.ts';

async function tell(payment: string, said: readonly Said[], shown: readonly Ground[]) {
  const log = written(said);
  const read = async (of: string, { from, max }: { from: bigint; max: number }) =>
    log.filter((event) => event.stream === of && event.revision >= from).slice(0, max);
  const story = await auditStory(payment.slice('payment-'.length), {
    log: { read } as never,
    believed,
    witnesses: shown.map(witnessOf),
    settledBefore: minute(10_000),
    signal: new AbortController().signal,
  });
  assert.ok(story);
  return { log, story, text: storyLines(story).join('\n') };
}

const found = ({ findings }: Awaited<ReturnType<typeof tell>>['story']) =>
  findings.map(({ code, stream: of, revision }) => `${code} ${of} ${revision}`);
const linesOf = (text: string, event: StoredEvent | undefined) => {
  assert.ok(event);
  return text.includes(`event ${event.revision} ${event.id}, hash ${linkOf(event)}`);
};

describe('the story of a payment', () => {
  it('has every event with its hash, and beside each transaction its chain’s data', async () => {
    const { log, story, text } = await tell(paidAlone, alone, groundsOfAlone);
    assert.deepEqual(story.findings, []);
    for (const event of log.filter(({ stream: of }) => of === paidAlone || of === hook))
      assert.ok(linesOf(text, event));
    assert.match(text, /the chain: block 200 0x/);
    assert.match(text, /Log and chains say the same\.$/);
  });

  it('has its batch for a payout made with others: its transaction, block, events and hashes', async () => {
    const { log, story, text } = await tell(paymentA, honest, grounds(transaction(both.hash, 200, twice)));
    assert.deepEqual(found(story), []);
    const batch = log.filter((event) => event.stream === stream);
    assert.equal(batch.length, 4);
    for (const event of batch) assert.ok(linesOf(text, event), event.type);
    const paid = story.transactions.find(({ claims }) => claims.some(({ kind }) => kind === 'batch'));
    assert.deepEqual(paid?.claims.map(({ kind, txHash, block }) => `${kind} ${txHash} ${block}`).sort(), [
      `attempt ${both.hash} 200`,
      `batch ${both.hash} 200`,
    ]);
    assert.deepEqual(
      paid?.shown.map(({ txHash, block, blockHash }) => [txHash, block, blockHash]),
      [[both.hash, '200', hashOf('block', 200)]],
    );
    assert.match(text, new RegExp(`^Ethereum ${both.hash}$`, 'm'));
    assert.match(text, /2 payouts in one transaction, settled/);
  });

  it('reports that the transaction of its batch paid it less, and that the batch has another amount', async () => {
    const less = transaction(both.hash, 200, [
      [merchantWallet, '9.00'],
      [merchantWallet, '10.00'],
    ]);
    assert.ok(
      found((await tell(paymentA, honest, grounds(less))).story).some((each) => each.startsWith('outflowElsewhere')),
    );
    const [first, second] = asked;
    const members = [{ ...first, amount: '9000000' }, second];
    const said = instead(honest, stream, 'BatchOpened', () => ({ members }));
    const told = await tell(paymentA, said, grounds(transaction(both.hash, 200, twice)));
    assert.ok(found(told.story).includes(`payoutWrong ${stream} 2`), found(told.story).join());
  });

  it('reports a webhook about an event that did not happen', async () => {
    const said = instead(alone, hook, 'WebhookSendStarted', () => ({ eventRevision: '5' }));
    assert.deepEqual(found((await tell(paidAlone, said, groundsOfAlone)).story), [`webhookWrong ${hook} 0`]);
  });

  it('states the facts that it could not check', async () => {
    const { story, text } = await tell(paymentA, honest, [{ chainId: 8453, transactions: deposits, holds: {} }]);
    assert.deepEqual(story.gaps, [{ of: 'chain 1', why: 'it is not configured here' }]);
    assert.match(text, /not looked at: chain 1/);
  });

  it('does not exist for an unknown payment', async () => {
    const deps = { log: { read: async () => [] }, believed, witnesses: [], settledBefore: minute(0) };
    assert.equal(await auditStory('nobody', { ...deps, signal: new AbortController().signal }), null);
  });
});
