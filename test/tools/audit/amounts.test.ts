/** Amounts that the log states without a bound: what left, what dust is, how many decimals a token has, what accounts cost. */
import assert from 'node:assert/strict';
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
  settled,
  signed,
  solanaUsdc,
  treasuryAccount,
} from '../../support/payments.ts';
import {
  books,
  cost,
  createdAs,
  gas,
  honest,
  instead,
  landedData,
  moved,
  on,
  paymentA,
  payout,
  showing,
  shown,
  thief,
  usdc,
} from './honest.ts';
import { audit, type Ground, pointed, type Said, type Shown, written } from './world.ts';

const tell = async (said: readonly Said[], grounds: readonly Ground[] = shown) =>
  pointed(await audit({ log: written(said), grounds }));
const funding = (said: object) => instead(honest, paymentA, 'PaymentFunded', () => said);
const units = (amount: string) => BigInt(digits(amount));

describe('the audit finds', () => {
  it('an outflow above the order, though the log states it', async () => {
    const said = instead(honest, paymentA, 'PayoutConfirmed', () => ({ cost: { ...cost, left: digits('500.00') } }));
    const [ethereum, base] = showing(shown, 1, moved(payout.hash, 200, '-500.00', merchantWallet));
    const holds = { ...ethereum.holds, [usdc.address]: units('440.00') };
    assert.deepEqual(await tell(said, [{ ...ethereum, holds }, base]), [`costWrong ${paymentA} 6`]);
  });

  it('dust above the destination’s smallest unit', async () => {
    const more = payin({ amount: '11.01' });
    const kept = { received: digits('11.01'), dust: digits('1.00') };
    const said = instead(funding(kept), paymentA, 'PayinConfirmed', () => ({ transfer: more }));
    assert.ok((await tell(said)).includes(`splitWrong ${paymentA} 3`));
  });

  it('a payment that is paid out short without a policy, or shorter than what came', async () => {
    const short = { rule: 'short', payout: digits('1.00'), dust: digits('9.00') };
    assert.ok((await tell(funding(short))).includes(`payoutWrong ${paymentA} 3`));
    const policy = {
      tolerance: { basisPoints: 100, most_microUsd: '1000000' },
      ...{ under: 'hold', over: 'hold', late: 'hold', lateWithin_minutes: 0, wrongToken: 'hold', wrongChain: 'hold' },
      leastPayout: '1',
    };
    const forgiving = (how: object, came: string, by: object) => {
      const transfer = payin({ amount: came });
      const terms = instead(honest, paymentA, 'PaymentCreated', () => ({ policy: { ...policy, ...how } }));
      const seen = ['PayinDetected', 'PayinConfirmed'].reduce(
        (log: readonly Said[], type) => instead(log, paymentA, type, () => ({ transfer })),
        terms,
      );
      const said = instead(seen, paymentA, 'PaymentFunded', () => ({
        rule: 'short',
        received: digits(came),
        sourceAmount: digits(came),
        ...by,
      }));
      return tell(said).then((found) => found.filter((each) => each.endsWith(`${paymentA} 3`)));
    };
    const tolerated = { payout: digits('9.95') };
    assert.deepEqual(await forgiving({}, '9.96', tolerated), []);
    assert.deepEqual(await forgiving({}, '9.90', { payout: digits('9.89') }), [`payoutWrong ${paymentA} 3`]);
    assert.deepEqual(await forgiving({ under: 'accept' }, '5.00', { payout: digits('4.99') }), []);
    const kept = { payout: digits('4.00'), dust: digits('0.99') };
    assert.deepEqual(await forgiving({ under: 'accept' }, '5.00', kept), [`payoutWrong ${paymentA} 3`]);
  });

  it('an amount for credit that differs from the paid one', async () => {
    assert.deepEqual(await tell(funding({ sourceAmount: digits('100.00') })), [`splitWrong ${paymentA} 3`]);
  });

  it('a token with other decimals than the catalogue’s, wherever an event states it', async () => {
    const wrong = { ...baseUsdc.token, decimals: 4 };
    const said = instead(honest, paymentA, 'PaymentCreated', ({ source }: { source: object }) => ({
      source: { ...source, token: wrong },
    }));
    assert.ok((await tell(said)).includes(`schemaWrong ${paymentA} 0`));
    const order = instead(honest, paymentA, 'PayoutRequested', () => ({ token: { ...usdc, decimals: 18 } }));
    assert.ok((await tell(order)).includes(`schemaWrong ${paymentA} 4`));
    const other = instead(honest, 'operation-w1', 'OperationOrdered', () => ({ token: { ...usdc, symbol: 'USDT' } }));
    assert.ok((await tell(other)).includes('schemaWrong operation-w1 0'));
  });
});

describe('the audit of payouts on EVM finds', () => {
  const coin = (amount: bigint): Shown => {
    const own = moved(payout.hash, 200, '-10.00', merchantWallet);
    return { ...own, changes: [...own.changes, { asset: 'coin', amount: -amount, counterparty: thief }] };
  };

  it('coin that left with a payout, whether or not the log calls it rent', async () => {
    const [ethereum, base] = showing(shown, 1, coin(900_000n));
    const grounds = [{ ...ethereum, holds: { ...ethereum.holds, coin: 100_000n - 3n * gas } }, base];
    const said = instead(honest, paymentA, 'PayoutConfirmed', () => ({ cost: { ...cost, rent: '900000' } }));
    const found = await tell(said, grounds);
    assert.ok(found.includes(`costWrong ${paymentA} 5`), found.join());
    const unsaid = await tell(honest, grounds);
    assert.ok(
      unsaid.some((each) => each.startsWith('outflowElsewhere')),
      unsaid.join(),
    );
  });
});

const asset = solanaUsdc.token.address;
const rentOfAccount = 2_039_280n;
const came = { ...payin({ in: solanaUsdc, tx: 'solana' }), to: depositAddress };
const paid = attempt(1, { to: solanaUsdc, nonce: null });
const swept = hashOf('swept');
const withRent = (rent: bigint) => ({
  ...settled(paid),
  data: { ...settled(paid).data, cost: { ...cost, rent: rent.toString() } },
});
const logOf = (rent: bigint, arrived = '10.01'): Said[] => [
  ...books(501, { [asset]: digits('100.00'), coin: '10000000000' }),
  ...on(
    paymentA,
    { ...createdAs(paymentA), data: { ...createdAs(paymentA).data, ...routeOnSolana(), webhookUrl: null } },
    confirmed(came),
    funded([came], { source: solanaUsdc, destination: solanaUsdc }),
    payoutRequested('10.00', solanaUsdc),
    signed(paid),
    withRent(rent),
  ),
  ...on(
    'operation-s1',
    {
      type: 'OperationOrdered',
      data: {
        ...{
          kind: 'sweep',
          chainId: 501,
          account: treasuryAccount,
          token: solanaUsdc.token,
          receiver: treasuryAccount,
        },
        ...{ receiverMemo: null, amount: digits(arrived), value_microUsd: '0', approvals: 0, reason: 'a sweep' },
        form: { kind: 'flush', deposits: [{ address: depositAddress, salt: '0x01' }] },
        ...{ by: 'worker:sweeps', orderedAt: minute(10) },
      },
    },
    {
      type: 'OperationSigned',
      data: { ...attempt(1, { to: solanaUsdc, nonce: null, receiver: treasuryAccount, amount: arrived }), hash: swept },
    },
    {
      type: 'OperationConfirmed',
      data: { ...landedData({ hash: swept }, 300), cost: { ...cost, rent: (-rentOfAccount).toString() } },
    },
  ),
];
function routeOnSolana() {
  const { source, destination } = createdAs(paymentA).data as never as { source: object; destination: object };
  const on501 = { chainId: 501, token: solanaUsdc.token };
  return { source: { ...source, ...on501 }, destination: { ...destination, ...on501 } };
}
type Change = Shown['changes'][number];
const shownAs = (txHash: string, number: number, changes: readonly Change[], over: Partial<Shown> = {}): Shown => ({
  ...moved(txHash, number, '-1.00', thief),
  changes,
  ...over,
});
const tokens = (amount: string, counterparty: string | null): Change => ({
  asset,
  amount: amount.startsWith('-') ? -units(amount.slice(1)) : units(amount),
  counterparty,
});
const rentTo = (amount: bigint): Change => ({ asset: 'coin', amount: -amount, counterparty: 'an account of a token' });
const fromDeposit: Partial<Shown> = { account: depositAddress, outgoing: false, fee: 0n };

interface Solana {
  readonly payout?: readonly Change[];
  readonly left?: readonly Change[];
  readonly arrived?: readonly Change[];
}

function solana({
  payout: paidAs = [tokens('-10.00', merchantWallet), rentTo(rentOfAccount)],
  left = [tokens('-10.01', treasuryAccount)],
  arrived = [tokens('10.01', depositAddress), { asset: 'coin', amount: rentOfAccount, counterparty: depositAddress }],
}: Solana): readonly Ground[] {
  const transactions = [
    shownAs(came.txHash, 100, [tokens('10.01', customerWallet)], fromDeposit),
    shownAs(paid.hash, 200, paidAs),
    shownAs(swept, 300, left, fromDeposit),
    shownAs(swept, 300, arrived),
  ];
  const held = (of: string) =>
    transactions
      .filter(({ account }) => account === treasuryAccount)
      .flatMap(({ changes }) => changes)
      .reduce((sum, change) => (change.asset === of ? sum + change.amount : sum), 0n);
  const holds = { [asset]: units('100.00') + held(asset), coin: 10_000_000_000n + held('coin') - 2n * gas };
  return [{ chainId: 501, transactions, holds }];
}

describe('the audit of Solana', () => {
  it('finds nothing in an honest payout that opens an account, and in an honest sweep', async () => {
    assert.deepEqual(await tell(logOf(rentOfAccount), solana({})), []);
  });

  it('finds a payout that was divided between its merchant and another receiver', async () => {
    const divided = [tokens('-0.01', merchantWallet), tokens('-9.99', thief), rentTo(rentOfAccount)];
    assert.deepEqual(await tell(logOf(rentOfAccount), solana({ payout: divided })), [`outflowElsewhere ${paymentA} 4`]);
    const unnamed = [tokens('-10.00', null), rentTo(rentOfAccount)];
    assert.deepEqual(await tell(logOf(rentOfAccount), solana({ payout: unnamed })), [`outflowElsewhere ${paymentA} 4`]);
  });

  it('finds a deposit that was swept in part', async () => {
    const left = [tokens('-0.01', treasuryAccount), tokens('-10.00', thief)];
    const arrived = [
      tokens('0.01', depositAddress),
      { asset: 'coin', amount: rentOfAccount, counterparty: depositAddress },
    ];
    const found = await tell(logOf(rentOfAccount, '0.01'), solana({ left, arrived }));
    assert.deepEqual(found, [`sweptElsewhere deposit ${depositAddress} -`]);
    const unnamed = await tell(logOf(rentOfAccount, '0.01'), solana({ left: [tokens('-10.01', null)], arrived }));
    assert.deepEqual(unnamed, [`sweptElsewhere deposit ${depositAddress} -`]);
    const hidden = solana({ left: [tokens('-10.01', treasuryAccount)], arrived });
    assert.deepEqual(await tell(logOf(rentOfAccount, '0.01'), hidden), [`sweptElsewhere deposit ${depositAddress} -`]);
  });

  it('finds a sweep whose money came from another account', async () => {
    const back = { asset: 'coin', amount: rentOfAccount, counterparty: depositAddress };
    const found = await tell(logOf(rentOfAccount), solana({ arrived: [tokens('10.01', thief), back] }));
    assert.ok(found.includes('outflowElsewhere operation-s1 1'), found.join());
  });

  it('finds rent of more than one account for one payout, and coin that leaves with a sweep', async () => {
    const much = 9_000_000_000n;
    const found = await tell(logOf(much), solana({ payout: [tokens('-10.00', merchantWallet), rentTo(much)] }));
    assert.ok(found.includes(`costWrong ${paymentA} 4`), found.join());
    const arrived = [tokens('10.01', depositAddress), rentTo(much)];
    const away = await tell(logOf(rentOfAccount), solana({ arrived }));
    assert.ok(
      away.some((each) => each.startsWith('outflowElsewhere') || each.startsWith('costWrong')),
      away.join(),
    );
  });
});
