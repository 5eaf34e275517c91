/**
 * Whatever changes where money is, in the log or on its chains, is found: also by edits that no list of frauds names. What money did is
 * read from log and chains by a few lines here, which know nothing of the audit.
 */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { minute } from '../support/payments.ts';
import { isFull } from '../support/suite.ts';
import { honest, shown, thief, vault } from './honest.ts';
import { audit, type Ground, pointed, type Said, type Shown, witnessOf, written } from './world.ts';

interface Town {
  readonly said: readonly Said[];
  readonly grounds: readonly Ground[];
}

const town: Town = { said: honest, grounds: shown };

/** Fields of events that say how much money of what goes where. */
const amounts = ['amount', 'received', 'payout', 'excess', 'fee', 'dust', 'networkFee'];
const receivers = ['receiver', 'receiverAddress', 'to', 'from', 'account'];
const assets = ['chainId', 'token'];

/** Events that move money, or decide that it moves. */
const moving =
  /^(PaymentCreated|PayinConfirmed|PaymentFunded|PayoutRequested|(Payout|Refund|Operation)(Signed|Confirmed)|RefundRequested|OperationOrdered|BooksOpened)$/;

/** Where money is, by the log: each event that moves money, with whom, what and how much. Events of a stream count in their order. */
const moneyInLog = (said: readonly Said[]): string =>
  JSON.stringify(
    [...Map.groupBy(said, ({ stream }) => stream)]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([stream, events]) => [
        stream,
        events.filter(({ event }) => moving.test(event.type)).map(({ event }) => [event.type, event.data]),
      ])
      .filter(([, events]) => events?.length),
  );

/** The same by the chains: which transactions there are, and what each did to whom. */
const moneyOnChains = (grounds: readonly Ground[]): string =>
  JSON.stringify(
    grounds.map(({ transactions, holds }) => [
      transactions
        .map(({ account, txHash, succeeded, changes }) => [account, txHash, succeeded, changes.map(textOf)])
        .toSorted(),
      Object.entries(holds).map(([asset, amount]) => [asset, String(amount)]),
    ]),
  );
const textOf = ({ asset, amount, counterparty }: Shown['changes'][number]) => `${amount} ${asset} ${counterparty}`;

type Edit = (town: Town) => Town;
type Json = Readonly<Record<string, unknown>>;

/** Paths to the fields of these names. */
function pathsIn(
  data: unknown,
  names: readonly string[],
  path: readonly string[] = [],
): readonly (readonly string[])[] {
  if (typeof data !== 'object' || data === null) return [];
  return Object.entries(data).flatMap(([name, value]) => [
    ...(names.includes(name) && value !== null && !Array.isArray(value) ? [[...path, name]] : []),
    ...pathsIn(value, names, [...path, name]),
  ]);
}

function changedAt(
  data: unknown,
  [name = '', ...rest]: readonly string[],
  change: (value: unknown) => unknown,
): unknown {
  const own = data as Json;
  const value = own[name];
  const changed = rest.length === 0 ? change(value) : changedAt(value, rest, change);
  return Array.isArray(data) ? Object.assign([...data], { [name]: changed }) : { ...own, [name]: changed };
}

const otherAsset = (value: unknown): unknown => {
  if (typeof value === 'number') return value === 1 ? 8453 : 1;
  const token = value as Json;
  return typeof token === 'object' ? { ...token, address: vault } : value;
};

/** Another value of one field of the log, where there is such a field. */
const inField = (names: readonly string[], change: (value: unknown) => unknown): fc.Arbitrary<Edit> =>
  fc.tuple(fc.nat(), fc.nat()).map(([at, which]) => ({ said, grounds }) => {
    const fields = said.flatMap(({ event }, n) =>
      moving.test(event.type) ? pathsIn(event.data, names).map((path) => ({ n, path })) : [],
    );
    const field = fields[(at * 31 + which) % fields.length];
    if (!field) return { said, grounds };
    return {
      grounds,
      said: said.map((each, n) =>
        n === field.n
          ? { ...each, event: { ...each.event, data: changedAt(each.event.data, field.path, change) as object } }
          : each,
      ),
    };
  });

/** Omits, doubles or swaps events that move money. */
const inOrder: fc.Arbitrary<Edit> = fc
  .tuple(fc.constantFrom('omit', 'double', 'swap'), fc.nat(), fc.nat())
  .map(([how, a, b]) => ({ said, grounds }) => {
    const places = said.flatMap(({ event }, n) => (moving.test(event.type) ? [n] : []));
    const [at = 0, other = 0] = [places[a % places.length], places[b % places.length]];
    const [one, two] = [said[at], said[other]];
    if (!one || !two) return { said, grounds };
    if (how === 'omit') return { grounds, said: said.toSpliced(at, 1) };
    if (how === 'double') return { grounds, said: said.toSpliced(at, 0, one) };
    return { grounds, said: said.map((each, n) => (n === at ? two : n === other ? one : each)) };
  });

/** What a transaction of a chain did, or whether it is there. */
const onChain: fc.Arbitrary<Edit> = fc
  .tuple(
    fc.constantFrom('amount', 'receiver', 'asset', 'omit', 'double', 'fail', 'divide'),
    fc.nat(),
    fc.bigInt(1n, 10n ** 9n),
  )
  .map(([how, a, units]) => ({ said, grounds }) => {
    const all = grounds.flatMap(({ transactions }, ground) => transactions.map((_, n) => ({ ground, n })));
    const place = all[a % all.length];
    const change = (transaction: Shown): readonly Shown[] => {
      const [first, ...rest] = transaction.changes;
      if (!first || how === 'omit') return [];
      const sign = first.amount < 0n ? -1n : 1n;
      const withFirst = (...changes: Shown['changes']) => [{ ...transaction, changes: [...changes, ...rest] }];
      if (how === 'amount') return withFirst({ ...first, amount: first.amount + sign * units });
      if (how === 'receiver') return withFirst({ ...first, counterparty: thief });
      if (how === 'asset') return withFirst({ ...first, asset: thief });
      if (how === 'fail') return [{ ...transaction, succeeded: false, changes: [] }];
      if (how === 'divide')
        return withFirst({ ...first, amount: sign }, { ...first, amount: first.amount - sign, counterparty: thief });
      return [transaction, { ...transaction, txHash: `${transaction.txHash.slice(0, -4)}beef` }];
    };
    return {
      said,
      grounds: grounds.map((each, ground) =>
        ground === place?.ground
          ? { ...each, transactions: each.transactions.flatMap((one, n) => (n === place.n ? change(one) : [one])) }
          : each,
      ),
    };
  });

const plus = fc
  .bigInt(1n, 10n ** 9n)
  .chain((units) =>
    inField(amounts, (value) =>
      typeof value === 'string' && /^\d+$/.test(value) ? String(BigInt(value) + units) : value,
    ),
  );
const edits = fc.oneof(
  plus,
  inField(receivers, () => thief),
  inField(assets, otherAsset),
  inOrder,
  onChain,
);

/** A thief who holds the keys makes balances fit what the chains show. */
function balanced({ said, grounds }: Town): Town {
  return {
    said,
    grounds: grounds.map((ground, at) => {
      const before = town.grounds[at] ?? ground;
      const holds = Object.fromEntries(
        Object.entries(ground.holds).map(([asset, held]) => [
          asset,
          held + movedIn(ground, asset) - movedIn(before, asset),
        ]),
      );
      return { ...ground, holds };
    }),
  };
}

const movedIn = ({ transactions, chainId }: Ground, asset: string): bigint =>
  transactions
    .filter(({ account }) => account === accountOf.get(chainId))
    .reduce(
      (sum, { changes, fee }) =>
        changes.reduce(
          (own, each) => (each.asset === asset ? own + each.amount : own),
          asset === 'coin' ? sum - fee : sum,
        ),
      0n,
    );
const accountOf = new Map<number, string>();

/** For people: what was edited. */
const differenceOf = ({ said, grounds }: Town): string => {
  const events = (all: readonly Said[]) => all.map(({ stream, event }) => `${stream} ${JSON.stringify(event)}`);
  const transactions = (all: readonly Ground[]) =>
    all.flatMap((ground) =>
      ground.transactions.map((each) => `${each.txHash} ${each.succeeded} ${each.changes.map(textOf)}`),
    );
  const [was, is] = [
    [...events(town.said), ...transactions(town.grounds)],
    [...events(said), ...transactions(grounds)],
  ];
  const [gone, come] = [was.filter((each) => !is.includes(each)), is.filter((each) => !was.includes(each))];
  return JSON.stringify({ gone, come, count: [was.length, is.length] });
};

describe('the audit conserves money:', () => {
  before(async () => {
    for (const ground of town.grounds) {
      const [own] = await witnessOf(ground).accounts(new AbortController().signal);
      accountOf.set(ground.chainId, own?.account ?? '');
    }
  });

  it('of an honest world, what the log entered makes what each account holds', async () => {
    const { accounts, findings } = await audit({ log: written(town.said), grounds: town.grounds });
    assert.deepEqual(findings, []);
    assert.ok(accounts.length > 0);
    for (const { opening, entered, besides, holds } of accounts) {
      const { received, paid, refunded, fees, moved } = entered;
      assert.equal(opening + received + paid + refunded + fees + moved, holds);
      assert.equal(besides, 0n);
    }
  });

  it('an edit that changes where money is is always found', async function () {
    this.timeout(300_000);
    let counted = 0;
    const runs = isFull ? 1_000 : 60;
    await fc.assert(
      fc.asyncProperty(fc.array(edits, { minLength: 1, maxLength: 2 }), async (all) => {
        const edited = balanced(all.reduce((before, edit) => edit(before), town));
        const isSame =
          moneyInLog(edited.said) === moneyInLog(town.said) &&
          moneyOnChains(edited.grounds) === moneyOnChains(town.grounds);
        if (isSame) return;
        counted += 1;
        const report = await audit({ log: written(edited.said), grounds: edited.grounds, now: minute(20_000) });
        const found = [...pointed(report), ...report.gaps.map(({ of }) => `not looked at: ${of}`)];
        assert.notDeepEqual(found, [], `nothing is found: ${differenceOf(edited)}`);
      }),
      { numRuns: runs },
    );
    assert.ok(counted > runs / 2, `${counted} edits changed something`);
  });
});
