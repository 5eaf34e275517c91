/** Outflows by an operator's decision: adoptions that hide a transfer's receiver, and many small withdrawals. */
import assert from 'node:assert/strict';
import { attempt, digits, hashOf, minute } from '../../support/payments.ts';
import {
  gas,
  honest,
  landedData,
  moved,
  on,
  payout,
  showing,
  shown,
  thief,
  treasuryStream,
  usdc,
  vault,
  withCost,
} from './honest.ts';
import { audit, type Ground, pointed, type Said, type Shown, written } from './world.ts';

const tell = async (said: readonly Said[], grounds: readonly Ground[] = shown) =>
  pointed(await audit({ log: written(said), grounds }));

const adopted = (
  { txHash, blockNumber, blockHash, time, changes }: Shown,
  over: object = {},
  counterparty: string | null | undefined = undefined,
) => ({
  type: 'TransactionAdopted',
  data: {
    ...{ hash: txHash, nonce: '13', blockNumber: blockNumber.toString(), blockHash, time, succeeded: true },
    fee: gas.toString(),
    changes: changes.map((change) => ({
      ...change,
      amount: change.amount.toString(),
      ...(counterparty !== undefined && { counterparty }),
    })),
    ...{ nextNonce: '14', reason: 'a test', adoptedAt: minute(20) },
    ...over,
  },
});

/** @param away sum that left besides the honest outflows @param transactions number of their transactions */
function after(away: string, transactions: bigint, ...extra: readonly Shown[]): readonly Ground[] {
  const [ethereum, base] = extra.reduce((all: readonly [Ground, Ground], each) => showing(all, 1, each), shown);
  const left = BigInt(digits('930.00')) - BigInt(digits(away));
  return [{ ...ethereum, holds: { [usdc.address]: left, coin: 1_000_000n - (3n + transactions) * gas } }, base];
}

describe('the audit of adoptions', () => {
  const away = moved(hashOf('away'), 240, '-100.00', vault);
  const stolen = moved(hashOf('away'), 240, '-100.00', thief);

  it('finds nothing in one to an address of the book, and lists it', async () => {
    const report = await audit({
      log: written([...honest, ...on(treasuryStream, adopted(away))]),
      grounds: after('100.00', 1n, away),
    });
    assert.deepEqual(pointed(report), []);
    assert.deepEqual(
      report.byWord.map(({ stream, what }) => [stream, what]),
      [[treasuryStream, `adopted: ${digits('100.00')} of ${usdc.address} to ${vault}`]],
    );
  });

  it('finds one to an address that is not in the book', async () => {
    const said = [...honest, ...on(treasuryStream, adopted(stolen))];
    assert.deepEqual(await tell(said, after('100.00', 1n, stolen)), [`notInAddressBook ${treasuryStream} 0`]);
  });

  it('finds one that names another receiver than the chain does', async () => {
    for (const receiver of [vault, null]) {
      const said = [...honest, ...on(treasuryStream, adopted(stolen, {}, receiver))];
      const found = await tell(said, after('100.00', 1n, stolen));
      assert.ok(found.includes(`adoptionWrong ${treasuryStream} 0`), found.join());
    }
  });

  it('finds one of a transaction that a payment calls its payout', async () => {
    const other = moved(payout.hash, 200, '-500.00', thief);
    const found = await tell([...honest, ...on(treasuryStream, adopted(other))], after('490.00', 0n, other));
    assert.ok(found.includes(`adoptionWrong ${treasuryStream} 0`), found.join());
  });

  it('finds one that is recorded for another account than the one that paid', async () => {
    const said = [...honest, ...on(`treasury-1-${vault}`, adopted(away))];
    const found = await tell(said, after('100.00', 1n, away));
    assert.ok(found.includes(`moneyMissing ${treasuryStream} -`), found.join());
  });

  it('finds two of one transaction', async () => {
    const said = [...honest, ...on(treasuryStream, adopted(away), adopted(away))];
    assert.ok((await tell(said, after('100.00', 1n, away))).includes(`adoptionWrong ${treasuryStream} 1`));
  });
});

interface Withdrawals {
  readonly approvals?: number;
  /** Minutes from one order to the next. */
  readonly apart?: number;
  readonly by?: string;
  /** Minutes between the events' own times. Default: `apart`. */
  readonly writtenApart?: number;
  /** Minutes between the times in the orders. Default: `apart`. */
  readonly saidApart?: number;
}

describe('the audit of withdrawals', () => {
  /** Withdrawals of some hundred dollars each, one hour apart by default. */
  const withdrawals = (count: number, how: Withdrawals = {}) => {
    const { approvals = 0, apart = 60, by = 'ada' } = how;
    const { writtenApart = apart, saidApart = apart } = how;
    const each = Array.from({ length: count }, (_, n) => {
      const signing = attempt(1, { nonce: String(50 + n), amount: '300.00', receiver: vault });
      const stream = `operation-n${n}`;
      const order = honest.find(({ event }) => event.type === 'OperationOrdered')?.event.data as object;
      const approved = approvals > 0 ? [{ type: 'OperationApproved', data: { by: 'bob', approvedAt: minute(7) } }] : [];
      const said = on(
        stream,
        {
          type: 'OperationOrdered',
          data: {
            ...order,
            ...{
              amount: signing.amount,
              value_microUsd: '300000000',
              approvals,
              by,
              orderedAt: minute(30 + n * saidApart),
            },
          },
        },
        ...approved,
        { type: 'OperationSigned', data: { ...signing, signedAt: minute(38 + n * apart) } },
        withCost({ type: 'OperationConfirmed', data: { ...landedData(signing, 400 + n) } }),
      ).map((each) => ({ ...each, at: minute(30 + n * writtenApart) }));
      return { said, shown: moved(signing.hash, 400 + n, '-300.00', vault) };
    });
    const said = [...honest, ...each.flatMap((one) => one.said)];
    const sum = `${300 * count}.00`;
    return tell(said, after(sum, BigInt(count), ...each.map((one) => one.shown)));
  };

  it('finds several within a day that exceed one operator’s limit, at the one that exceeds it', async () => {
    // The honest log has 50, and each order 300: 950 is within 1,000, 1,250 is not.
    const rich = await withdrawals(4);
    assert.deepEqual(
      rich.filter((each) => each.startsWith('approvalMissing')),
      ['approvalMissing operation-n3 0'],
    );
    assert.deepEqual(
      (await withdrawals(3)).filter((each) => each.startsWith('approvalMissing')),
      [],
    );
  });

  it('finds nothing in several that were approved, or ordered on different days', async () => {
    for (const how of [{ approvals: 1 }, { apart: 24 * 60 }])
      assert.deepEqual(
        (await withdrawals(4, how)).filter((each) => each.startsWith('approvalMissing')),
        [],
      );
  });

  it('finds several within a day whose orders state other days', async () => {
    const found = await withdrawals(4, { saidApart: -24 * 60 });
    assert.deepEqual(
      found.filter((each) => each.startsWith('approvalMissing') || each.startsWith('illegalEvent')),
      [
        'illegalEvent operation-n1 0',
        'illegalEvent operation-n2 0',
        'illegalEvent operation-n3 0',
        'approvalMissing operation-n3 0',
      ],
    );
  });

  it('finds orders that were written into the log with times of days before', async () => {
    const found = await withdrawals(4, { writtenApart: -24 * 60, saidApart: -24 * 60 });
    for (const n of [1, 2, 3]) assert.ok(found.includes(`orderBroken operation-n${n} 0`), found.join());
    const honest = await withdrawals(4, { apart: 24 * 60 });
    assert.deepEqual(
      honest.filter((each) => each.startsWith('orderBroken') || each.startsWith('illegalEvent')),
      [],
    );
  });

  it('finds one that was signed or landed after it was called off', async () => {
    const at = honest.findIndex(({ event }) => event.type === 'OperationSigned');
    const off = { type: 'OperationCalledOff', data: { reason: 'not now', by: 'ada', calledOffAt: minute(7) } };
    const found = await tell(honest.toSpliced(at, 0, ...on('operation-w1', off)));
    assert.ok(found.includes('illegalEvent operation-w1 2'), found.join());
  });
});
