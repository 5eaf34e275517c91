/** What a transaction did to an account, as its events tell it, and what it paid for it. */
import { Asset, xdr } from '@stellar/stellar-sdk';
import { type AccountTransaction, type Change, coin } from '../ports.ts';
import { type StellarConfig, stellarChain } from './config.ts';
import type { Parties } from './envelopes.ts';
import { amountIn, memoOfTransfer, nativeOf, payment, type SeenEvent } from './payins/movements.ts';
import { seenInMeta } from './payins/transfers.ts';
import type { FoundTransaction } from './reads.ts';
import { assetContractOf, payinToken } from './tokens.ts';

export interface Assets {
  /** Of lumens and each token of the catalogue: by its contract, how it is called among changes. */
  readonly contracts: ReadonlyMap<string, string>;
  readonly lumens: string;
  /** The payin contract, whose events have the memos of its calls; null if there is none. */
  readonly payinContract: string | null;
}

export function assetsOf({
  networkPassphrase,
  payinContract,
}: Pick<StellarConfig, 'networkPassphrase' | 'payinContract'>): Assets {
  const lumens = Asset.native().contractId(networkPassphrase);
  const tokens = stellarChain().tokens.map(
    (token) => [assetContractOf(token, networkPassphrase), token.address] as const,
  );
  return { contracts: new Map([[lumens, coin], ...tokens]), lumens, payinContract };
}

/** One for each event that moved an asset to or from the account. @throws Error when an event cannot be decoded */
export const changesIn = (
  { events }: Pick<FoundTransaction, 'events'>,
  account: string,
  { contracts, payinContract }: Assets,
): readonly Change[] =>
  events.flatMap((operation) => {
    const changes: Change[] = [];
    const isWanted = (contract: string) => contracts.has(contract) || contract === payinContract;
    for (const event of operation.flatMap(seenInMeta(isWanted))) {
      const asset = contracts.get(event.contract);
      if (asset !== undefined) changes.push(...changeIn(event, asset, account));
      else addMemo(changes, event);
    }
    return changes;
  });

/** A call of the payin contract makes two events: the token's transfer, then the contract's own, which has the memo. */
function addMemo(changes: Change[], event: SeenEvent): void {
  const paid = payment(event);
  const at = changes.findLastIndex(
    ({ asset, amount, counterparty }) =>
      asset === payinToken().address && amount === paid?.amount && counterparty === paid.from,
  );
  const change = changes[at];
  if (paid && change && paid.memo !== null) changes[at] = { ...change, memo: paid.memo };
}

function changeIn({ topics, value }: SeenEvent, asset: string, account: string): readonly Change[] {
  const [name, first, second] = topics.map(nativeOf);
  const amount = amountIn(value);
  if (amount === undefined) throw new Error(`an event of ${asset} without an amount`);
  const ends = endsOf(name, first, second);
  if (!ends || ends.from === ends.to || amount === 0n) return [];
  const memo = memoOfTransfer(value);
  const more = memo === null ? {} : { memo };
  if (ends.from === account) return [{ asset, amount: -amount, counterparty: ends.to, ...more }];
  return ends.to === account ? [{ asset, amount, counterparty: ends.from, ...more }] : [];
}

/** What the issuer gives is minted, what is paid to the issuer is burnt. */
function endsOf(name: unknown, first: unknown, second: unknown) {
  const [one, other] = [textOf(first), textOf(second)];
  if (name === 'transfer') return { from: one, to: other };
  if (name === 'mint') return { from: null, to: one };
  return name === 'burn' || name === 'clawback' ? { from: one, to: null } : undefined;
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** What the account paid, in stroops: what was charged first, less what a contract call got back. */
export function feePaidIn({ own }: Pick<FoundTransaction, 'own'>, account: string): bigint {
  const fees = own.map((base64) => {
    const body = xdr.TransactionEvent.fromXDR(base64, 'base64').event().body().v0();
    const [name, payer] = body.topics().map(nativeOf);
    return name === 'fee' && payer === account ? (amountIn(body.data()) ?? 0n) : 0n;
  });
  return fees.reduce((sum, fee) => sum + fee, 0n);
}

/** Whether the account sent a transaction, acts in it or pays for it; the number is the account's that the transaction itself belongs to. */
export function signersIn(
  { source, sequence, payer, acting }: Parties,
  account: string,
  changes: readonly Change[],
): Pick<AccountTransaction, 'nonce' | 'outgoing'> {
  // Where it is not known who acts, an account that something left has acted.
  const acts = acting?.includes(account) ?? changes.some(({ amount }) => amount < 0n);
  return { nonce: source === account ? sequence : null, outgoing: acts || [source, payer].includes(account) };
}
