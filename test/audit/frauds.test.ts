/** Frauds that are planted into an honest log, its chains, or both: each is found, and the right stream is named. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashOfHead } from '../../commands/heads/chain.ts';
import { coinOf } from '../../domain/coins.ts';
import type { DomainEvent, StoredEvent } from '../../domain/decider.ts';
import type { HeadsEvent } from '../../domain/heads/events.ts';
import { deliveryIdOf } from '../../domain/webhook.ts';
import { openOf } from '../../src/audit/sums.ts';
import {
  attempt,
  baseUsdc,
  confirmed,
  created,
  customerWallet,
  depositAddress,
  detected,
  digits,
  ethereumUsdc,
  funded,
  hashOf,
  merchantWallet,
  minute,
  payin,
  payoutRequested,
  refundAttempt,
  refundRequested,
  refundSettled,
  refundSigned,
  settled,
  signed,
  treasuryAccount,
} from '../support/payments.ts';
import { anchored, audit, block, type Ground, head, type Said, type Shown, told, written } from './world.ts';

const thief = '0x1111111111111111111111111111111111111111';
const vault = '0x2222222222222222222222222222222222222222';
const [paymentA, paymentB] = [
  'payment-0198f3c2-0000-8000-8000-000000000001',
  'payment-0198f3c2-0000-8000-8000-00000000000b',
];
const treasuryStream = `treasury-1-${treasuryAccount}`;
const eventId = '0198f3c2-0000-7000-8000-000000000005';
const usdc = ethereumUsdc.token;
const gas = 21_000n;
const cost = { payer: treasuryAccount, fee: gas.toString() };

const withCost = (event: DomainEvent): DomainEvent => ({ ...event, data: { ...event.data, cost } });
const on = (stream: string, ...events: readonly DomainEvent[]): Said[] => events.map((event) => ({ stream, event }));

const late = payin({ tx: 'late', amount: '12.01', block: 120 });
const payout = attempt(1);
const back = refundAttempt(1, '2.00', { nonce: '8' });
const withdrawal = attempt(1, { nonce: '9', amount: '50.00', receiver: vault });
const own = { chainId: 1, address: vault, memo: null, by: 'ada' };
const at = minute(1);

const books = (chainId: number, balances: object): Said[] =>
  on(`books-${chainId}-${treasuryAccount}`, {
    type: 'BooksOpened',
    data: {
      chainId,
      account: treasuryAccount,
      blockNumber: '10',
      blockHash: hashOf('block', 10),
      balances,
      openedAt: minute(0),
    },
  });

/** A payment that was overpaid by another payer, a refund of the excess, a sweep of nothing, a withdrawal, a webhook. */
const honest: readonly Said[] = [
  ...books(1, { [usdc.address]: digits('1000.00'), coin: '1000000' }),
  ...books(8453, { [baseUsdc.token.address]: digits('1000.00'), coin: '1000000' }),
  ...on('addressBook-treasury', {
    type: 'AddressAdded',
    data: { ...own, label: 'vault', usableFrom: minute(0), addedAt: minute(0) },
  }),
  ...on(
    paymentA,
    created(),
    detected(),
    confirmed(),
    funded(),
    payoutRequested(),
    signed(payout),
    withCost(settled(payout)),
  ),
  ...on(
    paymentB,
    createdAs(paymentB),
    confirmed(late),
    funded([late], { received: '12.01', excess: '2.00', rule: 'overpaid' }),
    payoutRequested(),
    signed(attempt(1, { nonce: '10' })),
    withCost(settled(attempt(1, { nonce: '10' }), 210)),
    refundRequested('2.00', { reason: 'excess' }),
    refundSigned(1, back),
    withCost(refundSettled(1, back)),
  ),
  ...on(
    'operation-w1',
    {
      type: 'OperationOrdered',
      data: {
        kind: 'withdrawal',
        chainId: 1,
        account: treasuryAccount,
        token: usdc,
        receiver: vault,
        receiverMemo: null,
        amount: digits('50.00'),
        value_microUsd: '50000000',
        approvals: 0,
        reason: 'salaries',
        by: 'ada',
        orderedAt: at,
      },
    },
    { type: 'OperationSigned', data: { ...withdrawal, signedAt: minute(8) } },
    withCost({ type: 'OperationConfirmed', data: { ...landedData(withdrawal, 220) } }),
  ),
  ...on(`webhook-${deliveryIdOf(eventId)}`, webhookStart(deliveryIdOf(eventId))),
];

function createdAs(stream: string): DomainEvent {
  const { data } = created();
  return { type: 'PaymentCreated', data: { ...data, paymentId: stream.slice('payment-'.length) } };
}
function landedData({ hash }: { readonly hash: string }, number: number) {
  return { attempt: 1, hash, blockNumber: String(number), blockHash: hashOf('block', number), confirmedAt: minute(9) };
}
function webhookStart(deliveryId: string): DomainEvent {
  return {
    type: 'WebhookSendStarted',
    data: {
      deliveryId,
      kind: 'automatic',
      firstDeliveryId: null,
      ordinal: 0,
      paymentId: paymentA.slice(8),
      appId: 'wallet_demo',
      eventType: 'payment_payout_completed',
      url: 'https://shop.example/hook',
      eventId,
      eventRevision: '6',
      startedAt: minute(10),
    },
  };
}

function testStart(deliveryId: string): DomainEvent {
  const { data } = webhookStart(deliveryId);
  return {
    type: 'WebhookSendStarted',
    data: { ...data, kind: 'test', eventType: 'webhook_test', paymentId: null, eventId: null, eventRevision: null },
  };
}

const moved = (
  txHash: string,
  number: number,
  amount: string,
  counterparty: string,
  over: Partial<Shown> = {},
): Shown => {
  const units = BigInt(digits(amount.replace('-', ''))) * (amount.startsWith('-') ? -1n : 1n);
  return {
    account: treasuryAccount,
    txHash,
    ...block(number),
    nonce: null,
    outgoing: units < 0n,
    succeeded: true,
    fee: units < 0n ? gas : 0n,
    changes: [{ asset: usdc.address, amount: units, counterparty }],
    ...over,
  };
};
const onBase = (shown: Shown): Shown => ({
  ...shown,
  changes: shown.changes.map((change) => ({ ...change, asset: baseUsdc.token.address })),
});

/** What chains show of it. */
const shown: readonly [Ground, Ground] = [
  {
    chainId: 1,
    transactions: [
      moved(payout.hash, 200, '-10.00', merchantWallet),
      moved(attempt(1, { nonce: '10' }).hash, 210, '-10.00', merchantWallet),
      moved(withdrawal.hash, 220, '-50.00', vault),
    ],
    holds: { [usdc.address]: BigInt(digits('930.00')), coin: 1_000_000n - 3n * gas },
  },
  {
    chainId: 8453,
    transactions: [
      onBase(moved(payin().txHash, 100, '10.01', customerWallet, { account: depositAddress })),
      onBase(moved(late.txHash, 120, '12.01', customerWallet, { account: depositAddress })),
      onBase(moved(back.hash, 200, '-2.00', customerWallet)),
    ],
    holds: { [baseUsdc.token.address]: BigInt(digits('998.00')), coin: 1_000_000n - gas },
  },
];

/** The same ground with a transaction instead of the one that had its hash, or besides. */
function showing(
  [ethereum, base]: readonly [Ground, Ground],
  chainId: 1 | 8453,
  extra: Shown,
): readonly [Ground, Ground] {
  const change = (ground: Ground): Ground =>
    ground.chainId === chainId
      ? { ...ground, transactions: [...ground.transactions.filter(({ txHash }) => txHash !== extra.txHash), extra] }
      : ground;
  return [change(ethereum), change(base)];
}

/** The log with another event in the place of the nth of a stream. */
function instead(said: readonly Said[], stream: string, type: string, change: (data: never) => object): Said[] {
  return said.map((each) =>
    each.stream === stream && each.event.type === type
      ? { stream, event: { type, data: { ...each.event.data, ...change(each.event.data as never) } } }
      : each,
  );
}

const without = (said: readonly Said[], stream: string, ...types: readonly string[]): Said[] =>
  said.filter((each) => each.stream !== stream || !types.includes(each.event.type));

describe('the audit', () => {
  const first = head(honest);
  const whole = [...honest, first];

  it('finds nothing in an honest log, and its sums close', async () => {
    const report = await audit({ log: written(whole), grounds: shown });
    assert.deepEqual(report.findings, []);
    assert.deepEqual(report.gaps, []);
    for (const row of report.payments.filter(({ received }) => received > 0n)) assert.equal(openOf(row), 0n);
    assert.equal(report.transactions, 6);
    assert.deepEqual(
      report.accounts.map(({ open }) => open),
      [0n, 0n, 0n, 0n],
    );
  });

  describe('looks for the anchor of a head', () => {
    const headHash = hashOfHead(first.event as HeadsEvent);
    const hash = hashOf('anchor');
    const paysNobody = { account: treasuryAccount, receiver: treasuryAccount, amount: '0', token: coinOf(1) };
    const operation = (says: string) =>
      on(
        'operation-anchor-1',
        {
          type: 'OperationOrdered',
          data: {
            ...{ kind: 'anchor', chainId: 1, ...paysNobody, form: { kind: 'anchor', hash: says } },
            ...{ receiverMemo: null, value_microUsd: '0', approvals: 0, reason: 'due', by: 'worker', orderedAt: at },
          },
        },
        { type: 'OperationSigned', data: { ...attempt(1, { nonce: '11' }), ...paysNobody, hash } },
        withCost({ type: 'OperationConfirmed', data: landedData({ hash }, 230) }),
      );
    const onChain = (hashMemo?: string): readonly [Ground, Ground] => {
      const sent = moved(hash, 230, '0.00', treasuryAccount, { outgoing: true, fee: gas, changes: [] });
      const [ethereum, base] = showing(shown, 1, { ...sent, ...(hashMemo && { hashMemo }) });
      return [{ ...ethereum, holds: { ...ethereum.holds, coin: 1_000_000n - 4n * gas } }, base];
    };
    const log = (said: string = headHash) =>
      written([...whole, anchored(first, { headHash: said, transaction: hash, ledger: '230' }), ...operation(said)]);

    it('and finds nothing where its transaction says the hash', async () => {
      assert.deepEqual((await audit({ log: log(), grounds: onChain(headHash) })).findings, []);
    });

    it('and finds one that says another hash, or none, or is not there', async () => {
      for (const memo of ['ab'.repeat(32), undefined])
        assert.deepEqual(told(await audit({ log: log(), grounds: onChain(memo) })), ['anchorWrong heads-log']);
      const found = told(await audit({ log: log(), grounds: shown }));
      assert.ok(found.includes('settlementForged heads-log'), found.join());
    });

    it('and finds one of a head that was not signed', async () => {
      const other = 'ab'.repeat(32);
      assert.deepEqual(told(await audit({ log: log(other), grounds: onChain(other) })), ['headForged heads-log']);
    });

    it('and does not take it for what was signed: a transaction without an attempt is nobody’s', async () => {
      const alone = written([...whole, anchored(first, { headHash, transaction: hash, ledger: '230' })]);
      const found = told(await audit({ log: alone, grounds: onChain(headHash) }));
      assert.ok(found.includes(`outflowUnrecorded ${treasuryStream}`), found.join());
    });
  });

  describe('finds what was done to the log itself', () => {
    const log = written(whole);
    const of = (type: string): number => log.findIndex((event) => event.type === type);
    const tell = async (events: readonly StoredEvent[]) => told(await audit({ log: events, grounds: shown }));

    it('an edited event', async () => {
      const edited = log.map((event, i) =>
        i === of('PayoutRequested') ? { ...event, data: { ...(event.data as object), receiverAddress: thief } } : event,
      );
      const found = await tell(edited);
      assert.ok(found.includes(`sealWrong ${paymentA}`), found.join());
      assert.ok(found.includes(`linkBroken ${paymentA}`), found.join());
    });

    it('a deleted event', async () => {
      const found = await tell(log.filter((_, i) => i !== of('PayinDetected')));
      assert.ok(found.includes(`revisionMissing ${paymentA}`), found.join());
    });

    it('a reordered stream', async () => {
      const [a, b] = [of('PayinDetected'), of('PayinConfirmed')];
      const swapped = log.map((event, i) => ({
        ...event,
        position: log[i === a ? b : i === b ? a : i]?.position ?? 0n,
      }));
      const found = await tell(swapped.toSorted((x, y) => Number(x.position - y.position)));
      assert.ok(found.includes(`orderBroken ${paymentA}`), found.join());
    });

    it('a forged head', async () => {
      const forged = whole.map((each) =>
        each === first
          ? { ...first, event: { ...first.event, data: { ...first.event.data, root: 'ab'.repeat(32) } } }
          : each,
      );
      const found = await tell(written(forged));
      assert.deepEqual(found, ['headForged heads-log', 'headRootWrong heads-log']);
    });

    it('a log that was sealed anew by whoever has the master key, under a head that was signed before', async () => {
      const resealed = instead(whole, paymentA, 'PayinDetected', () => ({ transfer: { ...payin(), from: thief } }));
      assert.deepEqual(await tell(written(resealed)), ['headRootWrong heads-log']);
    });

    it('a truncated stream, and one that was rewritten, once an audit has seen them', async () => {
      const directory = mkdtempSync(join(tmpdir(), 'audit-'));
      try {
        assert.deepEqual(told(await audit({ log: written(honest), grounds: shown, directory })), []);
        const truncated = without(honest, `webhook-${deliveryIdOf(eventId)}`, 'WebhookSendStarted');
        assert.deepEqual(told(await audit({ log: written(truncated), grounds: shown, directory })), [
          `streamTruncated webhook-${deliveryIdOf(eventId)}`,
        ]);
        const rewritten = instead(honest, 'operation-w1', 'OperationOrdered', () => ({ reason: 'rent' }));
        assert.deepEqual(told(await audit({ log: written(rewritten), grounds: shown, directory })), [
          'streamChanged operation-w1',
        ]);
      } finally {
        rmSync(directory, { recursive: true });
      }
    });
  });

  describe('finds what whoever holds every key has done, by the chains', () => {
    const tell = async (said: readonly Said[], grounds: readonly Ground[] = shown) =>
      told(await audit({ log: written(said), grounds }));

    it('a second payout from the treasury’s key', async () => {
      const second = moved(hashOf('again'), 230, '-10.00', merchantWallet);
      const found = await tell(honest, showing(shown, 1, second));
      assert.ok(found.includes(`outflowUnrecorded ${treasuryStream}`), found.join());
    });

    it('a payout to another address than the terms say, although both log and chain say so', async () => {
      const elsewhere = attempt(1, { receiver: thief });
      const said = [
        ...without(honest, paymentA, 'PayoutRequested', 'PayoutSigned', 'PayoutConfirmed'),
        ...on(
          paymentA,
          { ...payoutRequested(), data: { ...payoutRequested().data, receiverAddress: thief } },
          signed(elsewhere),
          withCost(settled(elsewhere)),
        ),
      ];
      const grounds = showing(
        [{ ...shown[0], transactions: shown[0].transactions.slice(1) }, shown[1]],
        1,
        moved(elsewhere.hash, 200, '-10.00', thief),
      );
      assert.deepEqual(await tell(said, grounds), [`payoutWrong ${paymentA}`]);
    });

    it('a payout that the log says went to the merchant, and the chain to somebody else', async () => {
      const found = await tell(honest, showing(shown, 1, moved(payout.hash, 200, '-10.00', thief)));
      assert.deepEqual(found, [`outflowElsewhere ${paymentA}`]);
    });

    it('an uncredited deposit', async () => {
      const extra = onBase(moved(hashOf('forgotten'), 130, '7.00', customerWallet, { account: depositAddress }));
      assert.deepEqual(await tell(honest, showing(shown, 8453, extra)), [`inflowUnrecorded deposit ${depositAddress}`]);
    });

    it('held money that vanishes: a payin that is said to have left its chain', async () => {
      const gone = { type: 'PayinOrphaned', data: { transferId: `8453:${late.txHash}:0`, blockHash: late.blockHash } };
      const found = await tell(
        [
          ...without(
            honest,
            paymentB,
            'PaymentFunded',
            'PayoutRequested',
            'PayoutSigned',
            'PayoutConfirmed',
            'RefundRequested',
            'RefundSigned',
            'RefundConfirmed',
          ),
          ...on(paymentB, gone),
        ],
        [
          {
            ...shown[0],
            transactions: shown[0].transactions.filter((_, i) => i !== 1),
            holds: { [usdc.address]: BigInt(digits('940.00')), coin: 1_000_000n - 2n * gas },
          },
          {
            ...shown[1],
            transactions: shown[1].transactions.slice(0, 2),
            holds: { [baseUsdc.token.address]: BigInt(digits('1000.00')), coin: 1_000_000n },
          },
        ],
      );
      assert.deepEqual(found, [`payinDisowned ${paymentB}`]);
    });

    it('a fee that is too high by one unit', async () => {
      const said = instead(honest, paymentB, 'PaymentFunded', () => ({
        fee: digits('0.010001'),
        excess: digits('1.999999'),
      }));
      const found = await tell(said);
      assert.ok(found.includes(`feeWrong ${paymentB}`), found.join());
      const hidden = instead(
        instead(honest, paymentA, 'PaymentCreated', (data: { fee: object }) => ({
          fee: { ...data.fee, amount: digits('0.010001') },
        })),
        paymentA,
        'PaymentFunded',
        () => ({ fee: digits('0.010001') }),
      );
      assert.deepEqual(
        (await tell(hidden)).filter((each) => each.startsWith('fee')),
        [`feeWrong ${paymentA}`],
      );
    });

    it('a webhook that was sent twice', async () => {
      const again = '0198f3c2-0000-8000-8000-0000000000ff';
      const found = await tell([...honest, ...on(`webhook-${again}`, webhookStart(again))]);
      assert.ok(found.includes(`webhookTwice webhook-${again}`), found.join());
      const twice = await tell([
        ...honest,
        ...on(`webhook-${deliveryIdOf(eventId)}`, webhookStart(deliveryIdOf(eventId))),
      ]);
      assert.ok(twice.includes(`webhookTwice webhook-${deliveryIdOf(eventId)}`), twice.join());
    });

    it('a refund beyond what came in', async () => {
      const more = refundAttempt(1, '2.50', { nonce: '11' });
      const said = [
        ...honest,
        ...on(
          paymentB,
          refundRequested('2.50', { refund: 2, reason: 'excess' }),
          refundSigned(2, more),
          withCost(refundSettled(2, more)),
        ),
      ];
      const found = await tell(said, showing(shown, 8453, onBase(moved(more.hash, 201, '-2.50', customerWallet))));
      assert.ok(found.includes(`refundBeyondCap ${paymentB}`), found.join());
    });

    it('a payin that no transaction of the chain brings', async () => {
      const forged = payin({ tx: 'invented', block: 140 });
      const stream = 'payment-0198f3c2-0000-8000-8000-00000000000c';
      const found = await tell([...honest, ...on(stream, createdAs(stream), confirmed(forged), funded([forged]))]);
      assert.deepEqual(found, [`payinForged ${stream}`]);
    });

    it('one transfer that is credited to two payments', async () => {
      const stream = 'payment-0198f3c2-0000-8000-8000-00000000000d';
      const found = await tell([...honest, ...on(stream, createdAs(stream), confirmed(), funded())]);
      assert.deepEqual(found, [`payinTwice ${stream}`]);
    });

    it('a payout that is said to be settled by a transaction that failed', async () => {
      const failed = { ...moved(payout.hash, 200, '-10.00', merchantWallet), succeeded: false, changes: [] };
      const found = await tell(honest, showing(shown, 1, failed));
      assert.ok(found.includes(`settledByFailed ${paymentA}`), found.join());
    });

    it('a payout that is said to be settled by a transaction that is nowhere', async () => {
      const [ethereum, base] = shown;
      const found = await tell(honest, [{ ...ethereum, transactions: ethereum.transactions.slice(1) }, base]);
      assert.ok(found.includes(`settlementForged ${paymentA}`), found.join());
    });

    it('an attempt that the log calls dead and that paid all the same', async () => {
      const other = attempt(2, { nonce: '12' });
      const dead = { type: 'PayoutDied', data: { attempt: 1, proof: { reason: 'declared', detail: 'it was not' } } };
      const said = [
        ...without(honest, paymentA, 'PayoutConfirmed'),
        ...on(paymentA, dead, signed(other), withCost(settled(other, 205))),
      ];
      const found = await tell(said, showing(shown, 1, moved(other.hash, 205, '-10.00', merchantWallet)));
      assert.ok(found.includes(`paidTwice ${paymentA}`), found.join());
    });

    it('a deposit whose money went somewhere else than the treasury', async () => {
      const out = onBase(moved(hashOf('swept'), 300, '-10.01', thief, { account: depositAddress, fee: 0n }));
      assert.deepEqual(await tell(honest, showing(shown, 8453, out)), [`sweptElsewhere deposit ${depositAddress}`]);
    });

    it('gas that is not what the chain charged', async () => {
      const said = instead(honest, paymentA, 'PayoutConfirmed', () => ({ cost: { ...cost, fee: '20999' } }));
      assert.deepEqual(await tell(said), [`costWrong ${paymentA}`]);
    });

    it('a withdrawal without the approval that it needs', async () => {
      const said = instead(honest, 'operation-w1', 'OperationOrdered', () => ({ approvals: 1 }));
      assert.deepEqual(await tell(said), ['approvalMissing operation-w1']);
      const large = instead(honest, 'operation-w1', 'OperationOrdered', () => ({ value_microUsd: '1000000001' }));
      assert.deepEqual(await tell(large), ['approvalMissing operation-w1']);
    });

    it('a withdrawal to an address that was not usable yet, or not any more', async () => {
      const early = instead(honest, 'addressBook-treasury', 'AddressAdded', () => ({ usableFrom: minute(9) }));
      assert.deepEqual(await tell(early), ['notInAddressBook operation-w1']);
      const { by, ...place } = own;
      const gone = { type: 'AddressRemoved', data: { ...place, by, removedAt: minute(7) } };
      assert.deepEqual(await tell([...honest, ...on('addressBook-treasury', gone)]), ['notInAddressBook operation-w1']);
    });

    it('an adoption that hides where money went', async () => {
      const stolen = moved(hashOf('stolen'), 240, '-100.00', thief);
      const adopted = {
        type: 'TransactionAdopted',
        data: {
          hash: stolen.txHash,
          nonce: '13',
          blockNumber: '240',
          blockHash: stolen.blockHash,
          time: stolen.time,
          succeeded: true,
          fee: gas.toString(),
          changes: [],
          nextNonce: '14',
          reason: 'a test',
          adoptedAt: minute(20),
        },
      };
      const [ethereum, base] = showing(shown, 1, stolen);
      const after = { ...ethereum, holds: { [usdc.address]: BigInt(digits('830.00')), coin: 1_000_000n - 4n * gas } };
      assert.deepEqual(await tell([...honest, ...on(treasuryStream, adopted)], [after, base]), [
        `adoptionWrong ${treasuryStream}`,
      ]);
    });

    it('an account that holds less than its transactions make', async () => {
      const [ethereum, base] = shown;
      const holds = { ...ethereum.holds, [usdc.address]: BigInt(digits('929.00')) };
      assert.deepEqual(await tell(honest, [{ ...ethereum, holds }, base]), [`booksOpen books-1-${treasuryAccount}`]);
    });
  });

  it('without the key, seals are not looked at, and everything else is', async () => {
    const log = written(whole).map((event) => ({ ...event, metadata: { ...event.metadata, seal: 'none' } }));
    assert.deepEqual(told(await audit({ log, grounds: shown, sealed: false })), []);
  });

  it('what is under way is no finding until it is old', async () => {
    const said = without(honest, paymentA, 'PayoutConfirmed');
    const young = await audit({ log: written(said), grounds: shown, now: minute(1) });
    assert.deepEqual(told(young), []);
    assert.deepEqual(told(await audit({ log: written(said), grounds: shown })), [`landedUnrecorded ${paymentA}`]);
  });

  it('follows heads from one to the next, and compares with one that the auditor kept', async () => {
    const more = [
      ...whole,
      ...on('webhook-0198f3c2-0000-8000-8000-0000000000aa', testStart('0198f3c2-0000-8000-8000-0000000000aa')),
    ];
    const log = written([...more, head(more, first.event as HeadsEvent)]);
    assert.deepEqual(told(await audit({ log, grounds: shown })), []);
    const kept = await audit({ log, grounds: shown, keptHeads: [{ number: 1, root: 'cd'.repeat(32) }] });
    assert.deepEqual(told(kept), ['headForged heads-log']);
  });
});
