/** Frauds that are planted into an honest log, its chains, or both: each is found, and the right stream is named. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashOfHead } from '../../commands/heads/chain.ts';
import { coinOf } from '../../domain/coins.ts';
import type { DomainEvent, StoredEvent } from '../../domain/decider.ts';
import type { HeadsEvent } from '../../domain/heads/events.ts';
import { readEntry } from '../../src/audit/entry.ts';
import { headsMax, withHead } from '../../src/audit/heads.ts';
import { openOf } from '../../src/audit/sums.ts';
import {
  attempt,
  baseUsdc,
  confirmed,
  customerWallet,
  depositAddress,
  digits,
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
import {
  at,
  cost,
  createdAs,
  gas,
  honest,
  hook,
  instead,
  landedData,
  late,
  moved,
  on,
  onBase,
  own,
  paymentA,
  paymentB,
  payout,
  showing,
  shown,
  testStart,
  thief,
  treasuryStream,
  usdc,
  withCost,
  without,
} from './honest.ts';
import { anchored, audit, type Ground, head, type Said, told, written } from './world.ts';

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
        const truncated = without(honest, hook, 'WebhookSendStarted');
        assert.deepEqual(told(await audit({ log: written(truncated), grounds: shown, directory })), [
          `streamTruncated ${hook}`,
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
      const changes: readonly DomainEvent[] = [
        { ...payoutRequested(), data: { ...payoutRequested().data, receiverAddress: thief } },
        signed(elsewhere),
        withCost(settled(elsewhere)),
      ];
      const said = changes.reduce(
        (log: readonly Said[], { type, data }) => instead(log, paymentA, type, () => data),
        honest,
      );
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
    const said = without(without(honest, paymentA, 'PayoutConfirmed'), hook, 'WebhookSendStarted');
    const young = await audit({ log: written(said), grounds: shown, now: minute(1) });
    assert.deepEqual(told(young), []);
    assert.deepEqual(told(await audit({ log: written(said), grounds: shown })), [`landedUnrecorded ${paymentA}`]);
  });

  it('finds an older head that was signed over another log than this, under a good one', async () => {
    const other = head(instead(honest, paymentA, 'PaymentFunded', () => ({ fee: '2' })));
    const id = '0198f3c2-0000-8000-8000-0000000000aa';
    const below = [...honest, other, ...on(`webhook-${id}`, testStart(id))];
    const log = written([...below, head(below, other.event as HeadsEvent)]);
    const { findings } = await audit({ log, grounds: shown });
    assert.deepEqual(
      findings.map(({ code, stream, revision }) => `${code} ${stream} ${revision}`),
      ['headRootWrong heads-log 0'],
    );
  });

  it('compares the log with the first head, the newest, and some evenly between them', () => {
    const entries = written(Array.from({ length: 40 }, () => ({ stream: 'heads-log', event: first.event }))).map(
      (event) => readEntry(event, null),
    );
    const kept = entries.reduce(withHead, []);
    const numbers = kept.map(({ revision }) => revision);
    assert.equal(numbers.length, headsMax);
    assert.deepEqual([numbers[0], numbers.at(-1)], [0, 39]);
    assert.ok(numbers.every((number, at) => at === 0 || number - (numbers[at - 1] ?? 0) >= 5));
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
