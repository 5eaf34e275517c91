/** Sums over all payments, and per treasury account: balance, receipts and expenses. Bounded by chains, tokens and accounts. */
import type { ChainId } from '../../domain/chains.ts';
import { coinAddress } from '../../domain/money.ts';
import type { AccountColumn, BooksOpening, Entered, Evidence, SumColumn } from './claims.ts';
import { type Finding, findingAt } from './findings.ts';

/** Sums of one token on one chain, in smallest units. */
export type PaymentSums = { readonly chainId: number; readonly asset: string } & { readonly [C in SumColumn]: bigint };

const nothing: { readonly [C in SumColumn]: bigint } = {
  received: 0n,
  paidOut: 0n,
  fees: 0n,
  dust: 0n,
  refunded: 0n,
  networkFees: 0n,
  held: 0n,
  swept: 0n,
  withdrawn: 0n,
};

export interface PaymentLedger {
  sum(chainId: number, asset: string, column: SumColumn, amount: bigint): void;
  rows(): readonly PaymentSums[];
}

export function createPaymentLedger(): PaymentLedger {
  const sums = new Map<string, { chainId: number; asset: string } & { [C in SumColumn]: bigint }>();
  return {
    sum(chainId, asset, column, amount) {
      const key = `${chainId} ${asset}`;
      const row = sums.get(key) ?? { chainId, asset, ...nothing };
      row[column] += amount;
      sums.set(key, row);
    },
    rows: () => [...sums.values()],
  };
}

/** Received money that was not paid out, kept as fee, refunded or held: zero in an honest log. */
export const openOf = ({ received, paidOut, fees, dust, refunded, networkFees, held }: PaymentSums): bigint =>
  received - paidOut - fees - dust - refunded - networkFees - held;

/** One asset of one account, since its books began, according to the chain. */
export interface AccountSums {
  readonly chainId: ChainId;
  readonly account: string;
  readonly asset: string;
  readonly opening: bigint;
  readonly in: bigint;
  readonly out: bigint;
  readonly gas: bigint;
  /** According to the log: opening + received + paid + refunded + fees + moved + besides = holds. Negative for an outgoing amount. */
  readonly entered: { readonly [C in AccountColumn]: bigint };
  /** Effects of transactions without a record: younger ones, and those in the books' sums. Anything else is a finding. */
  readonly besides: bigint;
  readonly holds: bigint;
  /** Unexplained rest; for coin that no node lists, less the books' sums. */
  readonly open: bigint;
}

interface Moved {
  in: bigint;
  out: bigint;
  gas: bigint;
}

const noEntries = { received: 0n, paid: 0n, refunded: 0n, fees: 0n, moved: 0n, besides: 0n };
type Entries = { [C in AccountColumn | 'besides']: bigint };

interface Unclaimed {
  sum: bigint;
  readonly first: Evidence;
}

export interface AccountLedger {
  opening(opening: BooksOpening): void;
  told(account: string, asset: string, amount: bigint): void;
  moved(evidence: Evidence): void;
  unclaimed(evidence: Evidence, asset: string, amount: bigint): void;
  entered(evidence: Evidence, entered: readonly Entered[], besides: ReadonlyMap<string, bigint>): void;
  /** The books of the account's network are closed: later entries belong to the next network. */
  networkClosed(chainId: ChainId, account: string): void;
  openingOf(chainId: ChainId, account: string): BooksOpening | undefined;
  /** @param holds balance at the last block of the history that was read */
  close(of: {
    readonly chainId: ChainId;
    readonly account: string;
    readonly listsCoin: boolean;
    readonly holds: Readonly<{ [asset: string]: bigint }>;
    readonly settledBefore: string;
  }): {
    readonly rows: readonly AccountSums[];
    readonly findings: readonly Finding[];
  };
}

export function createAccountLedger(): AccountLedger {
  const openings = new Map<string, BooksOpening>();
  const told = new Map<string, bigint>();
  const sums = new Map<string, Moved>();
  const unclaimed = new Map<string, Unclaimed>();
  const entries = new Map<string, Entries>();
  const enter = (account: string, asset: string, column: keyof Entries, amount: bigint): void => {
    const key = `${account} ${asset}`;
    const row = entries.get(key) ?? { ...noEntries };
    row[column] += amount;
    entries.set(key, row);
  };
  const add = (account: string, asset: string, column: keyof Moved, amount: bigint): void => {
    const key = `${account} ${asset}`;
    const row = sums.get(key) ?? { in: 0n, out: 0n, gas: 0n };
    row[column] += amount;
    sums.set(key, row);
  };
  return {
    opening: (opening) => void openings.set(`${opening.chainId} ${opening.account}`, opening),
    networkClosed(chainId, account) {
      const key = `${chainId} ${account}`;
      openings.delete(key);
      for (const each of told.keys()) if (each.startsWith(`${key} `)) told.delete(each);
    },
    openingOf: (chainId, account) => openings.get(`${chainId} ${account}`),
    told: (account, asset, amount) =>
      void told.set(`${account} ${asset}`, (told.get(`${account} ${asset}`) ?? 0n) + amount),
    moved({ chainId, account: own, block, changes, fee }) {
      const account = `${chainId} ${own}`;
      const opening = openings.get(account);
      if (!opening || BigInt(block) <= BigInt(opening.block)) return;
      for (const { asset, amount } of changes)
        add(account, asset, BigInt(amount) > 0n ? 'in' : 'out', BigInt(amount) > 0n ? BigInt(amount) : -BigInt(amount));
      add(account, coinAddress, 'gas', BigInt(fee));
    },
    unclaimed(evidence, asset, amount) {
      const key = `${evidence.chainId} ${evidence.account} ${asset}`;
      const known = unclaimed.get(key);
      if (known) known.sum += amount;
      else unclaimed.set(key, { sum: amount, first: evidence });
    },
    entered({ chainId, account: own, block }, all, besides) {
      const account = `${chainId} ${own}`;
      const opening = openings.get(account);
      if (!opening || BigInt(block) <= BigInt(opening.block)) return;
      for (const { asset, column, amount } of all) enter(account, asset, column, amount);
      for (const [asset, amount] of besides) enter(account, asset, 'besides', amount);
    },
    close(standing) {
      const account = `${standing.chainId} ${standing.account}`;
      const opening = openings.get(account);
      const kept = [coinAddress, ...Object.keys(standing.holds)].map((asset): Kept => {
        const key = `${account} ${asset}`;
        const moved = sums.get(key) ?? { in: 0n, out: 0n, gas: 0n };
        const { besides, ...entered } = entries.get(key) ?? noEntries;
        return { asset, opening, moved, told: told.get(key) ?? 0n, unclaimed: unclaimed.get(key), entered, besides };
      });
      const assets = [...new Map(kept.map((each) => [each.asset, each])).values()];
      const rows = assets.map((each) => rowOf(standing, each));
      const unrecorded = assets.flatMap((each) => unrecordedOf(standing, each));
      return { rows, findings: [...rows.flatMap(openFindings), ...unrecorded] };
    },
  };
}

type Closing = Parameters<AccountLedger['close']>[0];

/** Records of one asset of an account. */
interface Kept {
  readonly asset: string;
  readonly opening: BooksOpening | undefined;
  readonly moved: Moved;
  readonly told: bigint;
  readonly unclaimed: Unclaimed | undefined;
  readonly entered: AccountSums['entered'];
  readonly besides: bigint;
}

/** Unlisted coin is in the books' sums, and not in the chain's lists. */
const isUnlisted = ({ listsCoin }: Closing, { asset }: Kept): boolean => asset === coinAddress && !listsCoin;

function rowOf(standing: Closing, kept: Kept): AccountSums {
  const { chainId, account } = standing;
  const { asset, opening, moved, entered } = kept;
  const began = BigInt(opening?.balances[asset] ?? 0);
  const came = moved.in + (isUnlisted(standing, kept) ? kept.told : 0n);
  const besides = kept.besides + (isUnlisted(standing, kept) ? kept.told : 0n);
  const holds = standing.holds[asset] ?? 0n;
  const open = opening ? holds - (began + came - moved.out - moved.gas) : 0n;
  return {
    chainId,
    account,
    asset,
    opening: began,
    in: came,
    out: moved.out,
    gas: moved.gas,
    entered,
    besides,
    holds,
    open,
  };
}

const booksOf = ({ chainId, account }: Pick<Closing, 'chainId' | 'account'>) => ({
  stream: `books-${chainId}-${account}`,
  revision: null,
  id: null,
});

const openFindings = (row: AccountSums): readonly Finding[] =>
  row.open === 0n
    ? []
    : [
        findingAt(
          'booksOpen',
          booksOf(row),
          `it holds ${row.holds} of ${row.asset}, ${row.open} besides what its transactions make`,
        ),
      ];

/** Receipts without a recorded transaction, less the books' sums. */
function unrecordedOf(standing: Closing, kept: Kept): readonly Finding[] {
  const { sum, first } = kept.unclaimed ?? { sum: 0n, first: null };
  const explained = isUnlisted(standing, kept) ? sum : kept.told;
  if (first === null || sum <= explained || first.time >= standing.settledBefore) return [];
  const place = { chainId: standing.chainId, hash: first.txHash, block: first.block };
  const what = `${sum - explained} of ${kept.asset} came since this transaction, and nothing records it`;
  return [findingAt('inflowUnrecorded', booksOf(standing), what, place)];
}
