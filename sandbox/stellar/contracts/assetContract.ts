/** The built-in contract of each Stellar asset: SEP-41's transfers and views, and the issuer's mint. */
import { Asset, StrKey, xdr } from '@stellar/stellar-sdk';
import { assetName, transferEvent } from '../events.ts';
import { HostError } from '../host/errors.ts';
import type { Invocation, Runner } from '../host/invocation.ts';
import { storageOf } from '../host/storage.ts';
import { addBalance, BalanceError, type BalanceFault, readBalance } from '../ledger/balances.ts';
import { instanceVal } from '../ledger/entries.ts';
import { addressOf, addressVal, i128, i128Of, inMap, issuerOf, same, symbol, symbolMap } from '../xdr.ts';

type Function = (invocation: Invocation, asset: Asset, args: xdr.ScVal[]) => xdr.ScVal;

/** The asset contract's own error numbers. */
const errors = {
  negativeAmount: 8,
  allowance: 9,
  balance: 10,
  deauthorized: 11,
  trustlineMissing: 13,
  accountMissing: 6,
};
const faultCodes: Record<BalanceFault, number> = {
  noAccount: errors.accountMissing,
  noTrustline: errors.trustlineMissing,
  notAuthorized: errors.deauthorized,
  underfunded: errors.balance,
  lineFull: errors.balance,
};

const functions: Readonly<Record<string, { readonly parameters: number; readonly run: Function }>> = {
  transfer: { parameters: 3, run: transfer },
  transfer_from: { parameters: 4, run: transferFrom },
  approve: { parameters: 4, run: approve },
  allowance: { parameters: 2, run: allowance },
  burn: { parameters: 2, run: burn },
  mint: { parameters: 2, run: mint },
  balance: { parameters: 1, run: balance },
  decimals: { parameters: 0, run: () => xdr.ScVal.scvU32(7) },
  name: { parameters: 0, run: (_invocation, asset) => xdr.ScVal.scvString(assetName(asset)) },
  symbol: { parameters: 0, run: (_invocation, asset) => xdr.ScVal.scvString(asset.getCode()) },
};

export const runAsset: Runner = (invocation, instance) => {
  const { name, args } = invocation.frame();
  const called = functions[name];
  if (!called) throw new HostError('Value', 'InvalidInput', `the asset contract has no function ${name} here`);
  if (args.length !== called.parameters) {
    throw new HostError(
      'Context',
      'UnexpectedSize',
      `${name} takes ${called.parameters} arguments, not ${args.length}`,
    );
  }
  try {
    return called.run(invocation, assetOf(instance), args);
  } catch (error) {
    if (error instanceof BalanceError) throw new HostError('Contract', faultCodes[error.fault], error.message);
    throw error;
  }
};

function transfer(invocation: Invocation, asset: Asset, [from, to, amount]: xdr.ScVal[]): xdr.ScVal {
  const sender = addressArgument(from);
  const { holder, id } = receiver(to);
  invocation.requireAuth(sender);
  move(invocation, asset, { from: sender, to: holder, amount: amountArgument(amount), toId: id });
  return xdr.ScVal.scvVoid();
}

function mint(invocation: Invocation, asset: Asset, [to, amount]: xdr.ScVal[]): xdr.ScVal {
  if (asset.isNative()) throw new HostError('Contract', errors.balance, 'lumens have no issuer');
  const issuer = issuerOf(asset);
  invocation.requireAuth(issuer);
  move(invocation, asset, { from: issuer, to: addressArgument(to), amount: amountArgument(amount) });
  return xdr.ScVal.scvVoid();
}

/** Maximum ledgers of an allowance: 180 days. */
const allowanceMax_ledgers = 3_110_400;

const allowanceKey = (from: string, spender: string): xdr.ScVal =>
  xdr.ScVal.scvVec([symbol('Allowance'), symbolMap({ from: addressVal(from), spender: addressVal(spender) })]);

function allowed(invocation: Invocation, from: string, spender: string): bigint {
  const stored = storageOf(invocation, 'temporary').get(allowanceKey(from, spender));
  const until = stored && inMap(stored, 'live_until_ledger')?.u32();
  const amount = stored && inMap(stored, 'amount')?.i128();
  return amount !== undefined && (until ?? 0) >= invocation.ledger.sequence ? i128Of(amount) : 0n;
}

function allow(invocation: Invocation, from: string, spender: string, amount: bigint, until: number): void {
  const value = symbolMap({ amount: i128(amount), live_until_ledger: xdr.ScVal.scvU32(until) });
  storageOf(invocation, 'temporary').put(allowanceKey(from, spender), value);
}

function approve(invocation: Invocation, asset: Asset, [from, spender, amount, until]: xdr.ScVal[]): xdr.ScVal {
  const [owner, other, units] = [addressArgument(from), addressArgument(spender), amountArgument(amount)];
  const last = until?.switch().name === 'scvU32' ? until.u32() : -1;
  invocation.requireAuth(owner);
  const { sequence } = invocation.ledger;
  if (last > sequence + allowanceMax_ledgers || (units > 0n && last < sequence))
    throw new HostError('Contract', errors.allowance, 'the allowance ends in the past, or after its maximum');
  allow(invocation, owner, other, units, last);
  const topics = [symbol('approve'), addressVal(owner), addressVal(other), xdr.ScVal.scvString(assetName(asset))];
  invocation.publish(topics, xdr.ScVal.scvVec([i128(units), xdr.ScVal.scvU32(last)]));
  return xdr.ScVal.scvVoid();
}

function allowance(invocation: Invocation, _asset: Asset, [from, spender]: xdr.ScVal[]): xdr.ScVal {
  return i128(allowed(invocation, addressArgument(from), addressArgument(spender)));
}

function transferFrom(invocation: Invocation, asset: Asset, [spender, from, to, amount]: xdr.ScVal[]): xdr.ScVal {
  const [other, owner, units] = [addressArgument(spender), addressArgument(from), amountArgument(amount)];
  invocation.requireAuth(other);
  const left = allowed(invocation, owner, other) - units;
  if (left < 0n) throw new HostError('Contract', errors.allowance, 'not enough allowance to spend');
  const stored = storageOf(invocation, 'temporary').get(allowanceKey(owner, other));
  if (units > 0n && stored) allow(invocation, owner, other, left, inMap(stored, 'live_until_ledger')?.u32() ?? 0);
  move(invocation, asset, { from: owner, to: addressArgument(to), amount: units });
  return xdr.ScVal.scvVoid();
}

function burn(invocation: Invocation, asset: Asset, [from, amount]: xdr.ScVal[]): xdr.ScVal {
  const owner = addressArgument(from);
  invocation.requireAuth(owner);
  move(invocation, asset, { from: owner, to: issuerOf(asset), amount: amountArgument(amount) });
  return xdr.ScVal.scvVoid();
}

function balance(invocation: Invocation, asset: Asset, [holder]: xdr.ScVal[]): xdr.ScVal {
  return i128(readBalance(invocation.view(), asset, invocation.frame().contract, addressArgument(holder)));
}

function move(invocation: Invocation, asset: Asset, order: Parameters<typeof transferEvent>[2]): void {
  const { contract } = invocation.frame();
  addBalance(invocation.view(), asset, contract, order.from, -order.amount);
  addBalance(invocation.view(), asset, contract, order.to, order.amount);
  invocation.publishEvent(transferEvent(asset, contract, order));
}

function addressArgument(value: xdr.ScVal | undefined): string {
  if (value?.switch().name !== 'scvAddress') throw new HostError('Value', 'UnexpectedType', 'an address is expected');
  return addressOf(value);
}

function amountArgument(value: xdr.ScVal | undefined): bigint {
  if (value?.switch().name !== 'scvI128') throw new HostError('Value', 'UnexpectedType', 'an i128 is expected');
  const amount = i128Of(value.i128());
  if (amount < 0n) throw new HostError('Contract', errors.negativeAmount, 'negative amount is not allowed');
  return amount;
}

/** Since protocol 23 an M-address receives too: its account gets the money, its id goes into the event. */
function receiver(value: xdr.ScVal | undefined): { holder: string; id: xdr.ScVal | undefined } {
  const text = addressArgument(value);
  if (!value || !StrKey.isValidMed25519PublicKey(text)) return { holder: text, id: undefined };
  const muxed = value.address().muxedAccount();
  return { holder: StrKey.encodeEd25519PublicKey(muxed.ed25519()), id: xdr.ScVal.scvU64(muxed.id()) };
}

const assetInfo = () => xdr.ScVal.scvVec([symbol('AssetInfo')]);

/** The instance of a deployed asset contract: its storage names the asset. */
export function assetInstance(asset: Asset): xdr.ScVal {
  const entry = (key: xdr.ScVal, val: xdr.ScVal) => new xdr.ScMapEntry({ key, val });
  const code = xdr.ScVal.scvString(asset.isNative() ? 'native' : asset.getCode());
  const metadata = symbolMap({
    decimal: xdr.ScVal.scvU32(7),
    name: xdr.ScVal.scvString(assetName(asset)),
    symbol: code,
  });
  const storage = [entry(symbol('METADATA'), metadata), entry(assetInfo(), describe(asset))];
  if (!asset.isNative()) storage.push(entry(xdr.ScVal.scvVec([symbol('Admin')]), addressVal(issuerOf(asset))));
  return instanceVal(xdr.ContractExecutable.contractExecutableStellarAsset(), storage);
}

function describe(asset: Asset): xdr.ScVal {
  if (asset.isNative()) return xdr.ScVal.scvVec([symbol('Native')]);
  const kind = asset.getCode().length > 4 ? 'AlphaNum12' : 'AlphaNum4';
  const issuer = xdr.ScVal.scvBytes(StrKey.decodeEd25519PublicKey(issuerOf(asset)));
  return xdr.ScVal.scvVec([symbol(kind), symbolMap({ asset_code: xdr.ScVal.scvString(asset.getCode()), issuer })]);
}

function assetOf(instance: xdr.ScContractInstance): Asset {
  const info = instance.storage()?.find((entry) => same(entry.key(), assetInfo()));
  const description = info?.val().vec()?.[1];
  if (!description) return Asset.native();
  const code = inMap(description, 'asset_code')?.str().toString() ?? '';
  const issuer = inMap(description, 'issuer')?.bytes() ?? Buffer.alloc(0);
  return new Asset(code, StrKey.encodeEd25519PublicKey(issuer));
}
