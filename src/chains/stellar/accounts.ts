/** Accounts and trustlines of the ledger. */
import { type Asset, Keypair, xdr } from '@stellar/stellar-sdk';
import { ledgerEntries } from './reads.ts';
import type { StellarNode } from './rpc.ts';

export interface Account {
  /** Sequence number of the account's last transaction. */
  readonly sequence: bigint;
  /** Balance in stroops. */
  readonly balance: bigint;
  /** Stroops that can pay fees: the balance without reserves and open offers. */
  readonly spendable: bigint;
}

export interface Trustline {
  /** Balance in smallest units. */
  readonly balance: bigint;
  /** Spendable amount in smallest units. */
  readonly spendable: bigint;
  /** Smallest units that it can still receive. */
  readonly room: bigint;
  /** True if the issuer lets it hold and send. */
  readonly authorized: boolean;
}

/** An account and its trustlines at the same ledger. */
export interface Holding {
  readonly account: Account | undefined;
  /** One per requested asset, in order. */
  readonly trustlines: readonly (Trustline | undefined)[];
  /** True if it accepts nothing without a memo. */
  readonly memoRequired: boolean;
  readonly ledger: bigint;
}

/** The network's base reserve, half a lumen (CAP-33). An account needs two, plus one for each entry that it owns. */
const baseReserve = 5_000_000n;
const authorizedFlag = 1;

/** @param assets whose trustlines are read with the account @throws RpcFailed */
export async function holdingOf(node: StellarNode, account: string, assets: readonly Asset[]): Promise<Holding> {
  const ownKey = accountKey(account);
  const lineKeys = assets.map((asset) => trustlineKey(account, asset));
  const memoKey = dataKey(account, memoRequiredName);
  const { found, latestLedger } = await ledgerEntries(node, [ownKey, ...lineKeys, memoKey]);
  const [entry, ...lines] = [ownKey, ...lineKeys].map((key) => found.get(key.toXDR('base64')));
  return {
    account: entry && accountIn(entry.account()),
    trustlines: lines.map((line) => line && trustlineIn(line.trustLine())),
    memoRequired: isSetToOne(found.get(memoKey.toXDR('base64'))),
    ledger: latestLedger,
  };
}

/** Smallest units that a trustline can pay; zero without one. */
export const payableThrough = (trustline: Trustline | undefined): bigint =>
  trustline?.authorized ? trustline.spendable : 0n;

/** Existing accounts among these, all at the same ledger. @throws RpcFailed */
export async function accountsOf(
  node: StellarNode,
  accounts: readonly string[],
): Promise<ReadonlyMap<string, Account>> {
  const keys = accounts.map(accountKey);
  const { found } = await ledgerEntries(node, keys);
  const entries = keys.map((key) => found.get(key.toXDR('base64')));
  return new Map(accounts.flatMap((account, at) => (entries[at] ? [[account, accountIn(entries[at].account())]] : [])));
}

const accountKey = (account: string): xdr.LedgerKey =>
  xdr.LedgerKey.account(new xdr.LedgerKeyAccount({ accountId: Keypair.fromPublicKey(account).xdrAccountId() }));

const trustlineKey = (account: string, asset: Asset): xdr.LedgerKey =>
  xdr.LedgerKey.trustline(
    new xdr.LedgerKeyTrustLine({
      accountId: Keypair.fromPublicKey(account).xdrAccountId(),
      asset: asset.toTrustLineXDRObject(),
    }),
  );

/** An account that requires memos sets this to "1" (SEP-29). */
const memoRequiredName = 'config.memo_required';

const dataKey = (account: string, name: string): xdr.LedgerKey =>
  xdr.LedgerKey.data(
    new xdr.LedgerKeyData({ accountId: Keypair.fromPublicKey(account).xdrAccountId(), dataName: name }),
  );

const isSetToOne = (entry: xdr.LedgerEntryData | undefined): boolean =>
  entry !== undefined && Buffer.from(entry.data().dataValue()).toString('utf8') === '1';

function accountIn(entry: xdr.AccountEntry): Account {
  const more = entry.ext().switch() === 1 ? entry.ext().v1() : undefined;
  const sponsorship = more?.ext().switch() === 2 ? more.ext().v2() : undefined;
  const entries = BigInt(
    entry.numSubEntries() + (sponsorship?.numSponsoring() ?? 0) - (sponsorship?.numSponsored() ?? 0),
  );
  const reserved = (2n + entries) * baseReserve + (more ? more.liabilities().selling().toBigInt() : 0n);
  const balance = entry.balance().toBigInt();
  return { sequence: entry.seqNum().toBigInt(), balance, spendable: notNegative(balance - reserved) };
}

function trustlineIn(line: xdr.TrustLineEntry): Trustline {
  const liabilities = line.ext().switch() === 1 ? line.ext().v1().liabilities() : undefined;
  const [selling, buying] = [liabilities?.selling().toBigInt() ?? 0n, liabilities?.buying().toBigInt() ?? 0n];
  const balance = line.balance().toBigInt();
  return {
    balance,
    spendable: notNegative(balance - selling),
    room: notNegative(line.limit().toBigInt() - balance - buying),
    authorized: (line.flags() & authorizedFlag) !== 0,
  };
}

const notNegative = (value: bigint): bigint => (value < 0n ? 0n : value);
