/** Lines of an app's month: sales, refunds with new money, refunds of held money; and no line of another app. */
import assert from 'node:assert/strict';
import { tableFromIPC } from 'apache-arrow';
import { readParquet } from 'parquet-wasm/node';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import {
  type AccountingCsv,
  type AccountingLine,
  accountingCsv,
  accountingLines,
  bookingsOf,
  converted,
  readFiatRates,
} from '../../queries/accounting.ts';
import { exactSum, monthNamed } from '../../queries/monthlyReport.ts';
import { accountingParquet } from '../../src/api/reports.ts';
import { tableOf } from '../support/csv.ts';
import { append } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { givenReadModels } from './given.ts';

const november = monthNamed('2026-11') ?? assert.fail();
const december = monthNamed('2026-12') ?? assert.fail();
type Created = Extract<PaymentEvent, { type: 'PaymentCreated' }>;
const named = (history: readonly PaymentEvent[], change: Partial<Created['data']>): readonly PaymentEvent[] => {
  const [first, ...rest] = history as readonly [Created, ...PaymentEvent[]];
  return [{ ...first, data: { ...first.data, ...change } }, ...rest];
};
const refund = p.refundAttempt(1, '7.45');
const sentBack = [
  ...p.unpaid,
  p.confirmed(p.payin({ amount: '7.50' })),
  p.bounced('amountTooLow', '7.50'),
  p.refundRequested('7.45', { networkFee: '0.05' }),
  p.refundSigned(1, refund),
  p.refundSettled(1, refund),
];
const hostile = '=HYPERLINK("http://evil.example")';

describe('the books of an app', () => {
  const given = givenReadModels();
  const linesOf = async (appId = 'wallet_demo', month = november): Promise<readonly AccountingLine[]> => {
    const lines: AccountingLine[] = [];
    for await (const page of accountingLines(given.database, { appId, ...month })) lines.push(...page);
    return lines;
  };
  const textOf = async (asked: AccountingCsv): Promise<string> => {
    let text = '';
    for await (const piece of accountingCsv(
      accountingLines(given.database, { appId: 'wallet_demo', ...november }),
      asked,
    ))
      text += piece;
    return text;
  };
  beforeEach(() =>
    given.payments(
      named(p.done, { orderId: hostile }),
      sentBack,
      named(p.done, { refundOf: { paymentId: 'another', refund: 1 } }),
      p.unpaid,
      named(p.done, { appId: 'wallet_other' }),
    ),
  );

  it('have a line for each sale and refund that is final, and add up', async () => {
    const lines = await linesOf();
    assert.deepEqual(
      lines.map(({ kind, gross, fee, net, refund: back }) => [kind, gross, fee, net, back]),
      [
        ['sale', '10.01', '0.01', '10', '0'],
        ['fundedRefund', '0', '0.01', '-10.01', '10'],
        ['heldRefund', '0', '0', '0', '7.45'],
      ],
    );
    for (const line of lines) {
      const sum = exactSum(bookingsOf(line).map(({ amount }) => exactSum([amount])));
      assert.equal(sum, line.net, line.kind);
      assert.match(line.txHash ?? '', /^0x/);
    }
  });

  it('call withdrawn cashback a withdrawal: the sale was the one that the buyer paid with credit', async () => {
    const [paid] = await linesOf();
    assert.ok(paid);
    const withdrawal = {
      ...{ paymentId: paid.paymentId, cents: '1001', chainId: 8453, token: p.baseUsdc.token },
      ...{ receiverAddress: p.merchantWallet, receiverMemo: null, fee: { fixed: '10000', basisPoints: 0 } },
    };
    const withdrawnAt = paid.at;
    const none = { received: 1, received_cents: '1001', withdrawn_cents: '1001', balance_cents: '0', open: [] };
    await append(given.world, 'cashback-wallet_demo', [
      { type: 'CashbackWithdrawn', data: { ...withdrawal, after: { ...none, open: [withdrawal] }, withdrawnAt } },
      { type: 'WithdrawalOrdered', data: { paymentId: paid.paymentId, after: none, orderedAt: withdrawnAt } },
    ]);
    await given.project();
    const lines = await linesOf();
    assert.deepEqual(
      lines.map(({ kind, net }) => [kind, net]),
      [
        ['withdrawal', '10'],
        ['fundedRefund', '-10.01'],
        ['heldRefund', '0'],
      ],
    );
    assert.deepEqual(
      lines.flatMap(bookingsOf).map(({ text }) => text.split(' ')[0]),
      ['Cashback', 'Fee', 'Refund', 'Fee'],
    );
  });

  it('are the app’s own, of the month alone', async () => {
    assert.equal((await linesOf('wallet_other')).length, 1);
    assert.deepEqual(await linesOf('wallet_nobody'), []);
    assert.deepEqual(await linesOf('wallet_demo', december), []);
  });

  it('are numbers in a spreadsheet, and texts of strangers stay texts', async () => {
    const rates = readFiatRates('day,currency,rate\n2026-11-20,EUR,0.8\n2026-11-21,JPY,150\n');
    const rows = tableOf(await textOf({ form: 'full', fiat: { currency: 'EUR', rates } }));
    assert.deepEqual(
      rows.map((row) => [row['kind'], row['gross_usd'], row['net_usd'], row['currency'], row['rate'], row['net']]),
      [
        ['sale', '10.01', '10', 'EUR', '0.8', '8.00'],
        ['refund', '0', '-10.01', 'EUR', '0.8', '-8.01'],
        ['refund of held money', '0', '0', 'EUR', '0.8', '0.00'],
      ],
    );
    assert.equal(rows[0]?.['order_id'], `'${hostile}`);
    for (const form of ['quickbooks', 'xero', 'datev'] as const)
      assert.doesNotMatch(await textOf({ form, fiat: null }), /[",;]=HYPERLINK/, form);
  });

  it('have the columns of QuickBooks, Xero and DATEV', async () => {
    const quickbooks = tableOf(await textOf({ form: 'quickbooks', fiat: null }));
    assert.deepEqual(
      quickbooks.map((row) => [row['Date'], row['Amount']]),
      [
        ['11/21/2026', '10.01'],
        ['11/21/2026', '-0.01'],
        ['11/21/2026', '-10.00'],
        ['11/21/2026', '-0.01'],
      ],
    );
    const xero = tableOf(await textOf({ form: 'xero', fiat: null }));
    assert.deepEqual([xero[0]?.['*Date'], xero[0]?.['*Amount']], ['2026-11-21', '10.01']);
    const rates = readFiatRates('2026-11-21,EUR,0.8631');
    const [head, sale, fee] = (await textOf({ form: 'datev', fiat: { currency: 'EUR', rates } })).split('\r\n');
    assert.match(head ?? '', /^"Umsatz \(ohne Soll\/Haben-Kz\)";"Soll\/Haben-Kennzeichen";"WKZ Umsatz";/);
    assert.match(sale ?? '', /^10,01;"S";"USD";0,8631;8,64;"EUR";;;;2111;"[0-9a-f-]{36}";"Sale '?=/);
    assert.match(fee ?? '', /^0,01;"H";"USD";/);
  });

  it('are empty amounts on a day without a rate, and never a wrong one', async () => {
    const rates = readFiatRates('2026-11-01,EUR,0.8');
    const rows = tableOf(await textOf({ form: 'full', fiat: { currency: 'EUR', rates } }));
    assert.deepEqual([rows[0]?.['rate'], rows[0]?.['gross']], ['', '']);
  });

  it('are exact decimals in Parquet, and too many lines make no file', async () => {
    const bytes = await accountingParquet(accountingLines(given.database, { appId: 'wallet_demo', ...november }));
    assert.ok(bytes);
    const table = tableFromIPC(readParquet(bytes).intoIPCStream());
    const rows = table.toArray().map((row) => row.toJSON());
    const e18 = 10n ** 18n;
    assert.deepEqual(
      rows.map(({ kind, net_usd }) => [kind, BigInt.asIntN(128, BigInt(String(net_usd)))]),
      [
        ['sale', 10n * e18],
        ['fundedRefund', -(1_001n * e18) / 100n],
        ['heldRefund', 0n],
      ],
    );
    assert.equal(table.schema.fields.find(({ name }) => name === 'at')?.type.toString(), 'Timestamp<MILLISECOND, UTC>');
    const [line] = await linesOf();
    assert.ok(line);
    const many = async function* () {
      for (;;) yield Array<AccountingLine>(30_000).fill(line);
    };
    assert.equal(await accountingParquet(many()), null);
  });
});

describe('rates of currencies', () => {
  it('are those of the day, or of the last day within a week', () => {
    const rates = readFiatRates('2026-11-20,EUR,0.8631\n\n2026-11-23,EUR,0.87\r\n2026-11-20,CHF,0.81\n');
    assert.deepEqual(rates.currencies, ['CHF', 'EUR']);
    assert.deepEqual(
      ['2026-11-20', '2026-11-22', '2026-11-23', '2026-11-30', '2026-12-01', '2026-11-19'].map((day) =>
        rates.on('EUR', day),
      ),
      ['0.8631', '0.8631', '0.87', '0.87', null, null],
    );
    assert.equal(rates.on('USD', '2026-11-20'), null);
  });

  it('are refused with the line that is none', () => {
    for (const wrong of [
      '2026-11-20,EUR,0',
      '2026-11-20,eur,1',
      '2026-11-20;EUR;1',
      '2026-11-20,EUR,-1',
      '2026-11-20,EUR,1e3',
    ])
      assert.throws(() => readFiatRates(`2026-11-19,EUR,1\n${wrong}`), /line 2/, wrong);
    assert.throws(() => readFiatRates('\n'.repeat(100_001)), RangeError);
  });

  it('convert exactly, and round halves away from zero', () => {
    const cases = [
      ['10.01', '0.8631', '8.64'],
      ['-0.01', '0.5', '-0.01'],
      ['0.000000000000000001', '0.000000000001', '0.00'],
      ['123456789012345678901234567890', '2', '246913578024691357802469135780.00'],
    ] as const;
    for (const [amount, rate, due] of cases) assert.equal(converted(amount, rate), due);
  });
});
