/** Transactions that both networks get: payments, calls of contracts, and those that fail or are refused. */
import {
  Account,
  Asset,
  Contract,
  Keypair,
  Memo,
  MuxedAccount,
  Operation,
  TransactionBuilder,
  xdr,
} from '@stellar/stellar-sdk';
import { addressArg, i128Arg, muxed, payCall, stringArg } from '../../support/stellar.ts';
import { type AnyTransaction, type Envelope, type Make, type Op, passphrase, type StellarPair } from './pair.ts';

export interface Scenario {
  readonly title: string;
  readonly make: Make;
  readonly isCall?: boolean;
}

/** Each scenario that lands has a sender of its own, so that all of them fit into one ledger. */
export const senderOf = (title: string): string => `sender: ${title}`;

type Title = string;
type Making = (sender: Keypair, pair: StellarPair) => Make;

const receiver = 'receiver';
const stranger = 'stranger';

const to = (pair: StellarPair, name = receiver): string => pair.account(name).publicKey();
const pay = (pair: StellarPair, amount = '1', destination = to(pair), asset = pair.token): Op =>
  Operation.payment({ destination, asset, amount });
const nobody = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 7)).publicKey();
const newcomer = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 8)).publicKey();

const bump = (inner: AnyTransaction, payer: Keypair, fee: string, signers = [payer]): AnyTransaction => {
  if ('innerTransaction' in inner) throw new Error('a fee bump holds no fee bump');
  const outer = TransactionBuilder.buildFeeBumpTransaction(payer, fee, inner, passphrase);
  outer.sign(...signers);
  return outer;
};

/** Ledgers hold them. Some fail there. */
const landing: Readonly<Record<Title, Making>> = {
  'a payment with a text memo': (sender, pair) => pair.signed(sender, [pay(pair)], { memo: Memo.text('pay_1') }),
  'a payment with an id memo': (sender, pair) => pair.signed(sender, [pay(pair)], { memo: Memo.id('5') }),
  'a payment with a hash memo': (sender, pair) =>
    pair.signed(sender, [pay(pair)], { memo: Memo.hash('ab'.repeat(32)) }),
  'a payment with a return memo': (sender, pair) =>
    pair.signed(sender, [pay(pair)], { memo: Memo.return('cd'.repeat(32)) }),
  'a payment of lumens': (sender, pair) => pair.signed(sender, [pay(pair, '2', to(pair), Asset.native())]),
  'a payment to a muxed account': (sender, pair) =>
    pair.signed(sender, [pay(pair, '1', muxed(to(pair), 7n))], { memo: Memo.text('beside') }),
  'a payment of a muxed operation source': (sender, pair) =>
    pair.signed(sender, [
      Operation.payment({
        destination: to(pair),
        asset: pair.token,
        amount: '1',
        source: muxed(sender.publicKey(), 9n),
      }),
    ]),
  'a payment of a muxed transaction source': (sender, pair) => async (side) => {
    const used = (await pair.build(side, sender.publicKey(), [])).sequence;
    const account = new MuxedAccount(new Account(sender.publicKey(), (BigInt(used) - 1n).toString()), '11');
    const builder = new TransactionBuilder(account, { fee: '1000', networkPassphrase: passphrase }).setTimeout(120);
    const transaction = builder.addOperation(pay(pair)).build();
    transaction.sign(sender);
    return transaction;
  },
  'a payment to oneself': (sender, pair) => pair.signed(sender, [pay(pair, '1', sender.publicKey())]),
  'two payments': (sender, pair) => pair.signed(sender, [pay(pair), pay(pair, '2')]),
  'a payment to the issuer': (sender, pair) => pair.signed(sender, [pay(pair, '1', pair.issuer.publicKey())]),
  'a payment without a trustline there': (sender, pair) => pair.signed(sender, [pay(pair, '1', to(pair, stranger))]),
  'a payment without a trustline here': (_sender, pair) => pair.signed(pair.account('untrusting'), [pay(pair)]),
  'a payment to nobody': (sender, pair) => pair.signed(sender, [pay(pair, '1', nobody)]),
  'a payment of too much': (sender, pair) => pair.signed(sender, [pay(pair, '100000')]),
  'a payment of the reserve': (sender, pair) => pair.signed(sender, [pay(pair, '999.5', to(pair), Asset.native())]),
  'payments of which one fails': (sender, pair) => pair.signed(sender, [pay(pair), pay(pair, '1', nobody), pay(pair)]),
  'a payment in a fee bump': (sender, pair) => async (side) =>
    bump(await pair.signed(sender, [pay(pair)], { memo: Memo.text('fb') })(side), pair.account('bumper'), '3000'),
  'a payment that fails in a fee bump': (sender, pair) => async (side) =>
    bump(await pair.signed(sender, [pay(pair, '1', nobody)])(side), pair.account('bumper'), '3000'),
  'a payment in its sender’s own fee bump': (sender, pair) => async (side) =>
    bump(await pair.signed(sender, [pay(pair)])(side), sender, '3000'),
  'a path payment that sends': (sender, pair) =>
    pair.signed(sender, [
      Operation.pathPaymentStrictSend({
        sendAsset: pair.token,
        sendAmount: '1',
        destination: to(pair),
        destAsset: pair.token,
        destMin: '1',
        path: [],
      }),
    ]),
  'a path payment that receives, with a memo': (sender, pair) =>
    pair.signed(sender, [pathTo(pair, pair.token, '2')], { memo: Memo.text('path') }),
  'a path payment above its limit': (sender, pair) => pair.signed(sender, [pathTo(pair, pair.token, '0.5')]),
  'a path payment without offers': (sender, pair) => pair.signed(sender, [pathTo(pair, Asset.native(), '2')]),
  'an account’s creation': (sender, pair) =>
    pair.signed(sender, [Operation.createAccount({ destination: newcomer, startingBalance: '5' })]),
  'an existing account’s creation': (sender, pair) =>
    pair.signed(sender, [Operation.createAccount({ destination: to(pair), startingBalance: '5' })]),
  'a trustline’s new limit': (sender, pair) =>
    pair.signed(sender, [Operation.changeTrust({ asset: pair.token, limit: '600' })]),
  'a limit below the balance': (sender, pair) =>
    pair.signed(sender, [Operation.changeTrust({ asset: pair.token, limit: '1' })]),
  'a data entry': (sender, pair) =>
    pair.signed(sender, [Operation.manageData({ name: 'config.memo_required', value: '1' })]),
  'a missing data entry’s removal': (sender, pair) =>
    pair.signed(sender, [Operation.manageData({ name: 'nothing', value: null })]),
  'a used sequence number': (sender, pair) => pair.signed(sender, [Operation.bumpSequence({ bumpTo: '0' })]),
  'a new signer': (sender, pair) =>
    pair.signed(sender, [Operation.setOptions({ signer: { ed25519PublicKey: to(pair), weight: 1 } })]),
};

const pathTo = (pair: StellarPair, sendAsset: Asset, sendMax: string): Op =>
  Operation.pathPaymentStrictReceive({
    sendAsset,
    sendMax,
    destination: to(pair),
    destAsset: pair.token,
    destAmount: '1',
    path: [],
  });

const issuing: Readonly<Record<Title, Making>> = {
  'the issuer’s payment, a mint': (_sender, pair) => pair.signed(pair.issuer, [pay(pair, '3')]),
};

const transferOf = (pair: StellarPair, from: Keypair, destination: string, amount: bigint): Op =>
  new Contract(pair.tokenId).call('transfer', addressArg(from.publicKey()), addressArg(destination), i128Arg(amount));

const dataIn = (envelope: Envelope): xdr.SorobanTransactionData => envelope.v1().tx().ext().sorobanData();

/** Makes the call of another amount than the simulated one. */
function setAmount(envelope: Envelope, amount: bigint): void {
  const [operation] = envelope.v1().tx().operations();
  const invoke = operation?.body().invokeHostFunctionOp();
  const [signed] = invoke?.auth() ?? [];
  for (const target of [invoke?.hostFunction().invokeContract(), signed?.rootInvocation().function().contractFn()])
    target?.args([...target.args().slice(0, 2), i128Arg(amount)]);
}

/** Makes a call of "pay" of another amount than the simulated one, in the contract and in the token. */
function setPaid(envelope: Envelope, sender: Keypair, amount: bigint): void {
  const [operation] = envelope.v1().tx().operations();
  const invoke = operation?.body().invokeHostFunctionOp();
  const [signed] = invoke?.auth() ?? [];
  const args = [addressArg(sender.publicKey()), i128Arg(amount), stringArg('memo')];
  invoke?.hostFunction().invokeContract().args(args);
  const below = signed?.rootInvocation().subInvocations()[0]?.function().contractFn();
  signed?.rootInvocation().function().contractFn().args(args);
  below?.args([...below.args().slice(0, 2), i128Arg(amount)]);
}

/** Calls of the token's contract and of the payin contract. */
const calling: Readonly<Record<Title, Making>> = {
  'a transfer by the contract': (sender, pair) => pair.prepared(sender, transferOf(pair, sender, to(pair), 5n)),
  'a transfer by the contract to a muxed account': (sender, pair) =>
    pair.prepared(sender, transferOf(pair, sender, muxed(to(pair), 7n), 5n)),
  'a transfer that fails in the contract': (sender, pair) =>
    pair.prepared(sender, transferOf(pair, sender, to(pair), 5n), (envelope) => setAmount(envelope, 10n ** 15n)),
  'a transfer outside of its footprint': (sender, pair) =>
    pair.prepared(sender, transferOf(pair, sender, to(pair), 5n), (envelope) =>
      dataIn(envelope).resources().footprint().readWrite([]),
    ),
  'a payment by the payin contract': (sender, pair) =>
    pair.prepared(sender, payCall(pair.payinId, sender.publicKey(), 12_0000000n, 'memo')),
  'a payment by the payin contract that fails in the token': (sender, pair) =>
    pair.prepared(sender, payCall(pair.payinId, sender.publicKey(), 12_0000000n, 'memo'), (envelope) =>
      setPaid(envelope, sender, 10n ** 15n),
    ),
  'a transfer in a fee bump': (sender, pair) => async (side) =>
    bump(await pair.prepared(sender, transferOf(pair, sender, to(pair), 5n))(side), pair.account('bumper'), '500000'),
};

/** Refused by nodes. None uses its sender's sequence number. */
const refused: Readonly<Record<Title, Making>> = {
  'a payment of nothing': (sender, pair) => async (side) => {
    const envelope = (await pair.build(side, sender.publicKey(), [pay(pair), pay(pair)])).toEnvelope();
    envelope.v1().tx().operations()[1]?.body().paymentOp().amount(xdr.Int64.fromString('0'));
    const transaction = TransactionBuilder.fromXDR(envelope.toXDR('base64'), passphrase);
    transaction.sign(sender);
    return transaction;
  },
  'a sequence number that is too high': (sender, pair) => pair.signed(sender, [pay(pair)], { skip: 5 }),
  'a sequence number that was used': (sender, pair) => pair.signed(sender, [pay(pair)], { skip: -1 }),
  'time bounds that have passed': (sender, pair) =>
    pair.signed(sender, [pay(pair)], { timebounds: { minTime: 0, maxTime: 1_000 } }),
  'time bounds that have not begun': (sender, pair) =>
    pair.signed(sender, [pay(pair)], { timebounds: { minTime: 4_000_000_000, maxTime: 0 } }),
  'no signature': (sender, pair) => (side) => pair.build(side, sender.publicKey(), [pay(pair)]),
  'another account’s signature': (sender, pair) => async (side) => {
    const transaction = await pair.build(side, sender.publicKey(), [pay(pair)]);
    transaction.sign(pair.account(stranger));
    return transaction;
  },
  'a signature too many': (sender, pair) => async (side) => {
    const transaction = await pair.signed(sender, [pay(pair)])(side);
    transaction.sign(pair.account(stranger));
    return transaction;
  },
  'a fee below the least one': (sender, pair) => pair.signed(sender, [pay(pair)], { fee: '50' }),
  'no operations': (sender, pair) => pair.signed(sender, []),
  'an unknown source': (_sender, pair) => async () => {
    const unknown = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 9));
    const account = new Account(unknown.publicKey(), '5');
    const builder = new TransactionBuilder(account, { fee: '100', networkPassphrase: passphrase }).setTimeout(120);
    const transaction = builder.addOperation(pay(pair)).build();
    transaction.sign(unknown);
    return transaction;
  },
  'an operation of an account that did not sign': (sender, pair) =>
    pair.signed(sender, [
      pay(pair),
      Operation.payment({ destination: to(pair), asset: pair.token, amount: '1', source: to(pair, stranger) }),
    ]),
  'an operation of an unknown account': (sender, pair) =>
    pair.signed(sender, [Operation.payment({ destination: to(pair), asset: pair.token, amount: '1', source: nobody })]),
  'a trustline for one’s own asset': (sender, pair) =>
    pair.signed(sender, [Operation.changeTrust({ asset: new Asset('OWN', sender.publicKey()) })]),
  'the creation of oneself': (sender, pair) =>
    pair.signed(sender, [Operation.createAccount({ destination: sender.publicKey(), startingBalance: '5' })]),
  'oneself as a signer': (sender, pair) =>
    pair.signed(sender, [Operation.setOptions({ signer: { ed25519PublicKey: sender.publicKey(), weight: 1 } })]),
  'a data entry without a name': (sender, pair) =>
    pair.signed(sender, [Operation.manageData({ name: '', value: '1' })]),
  'a sequence number below 0': (sender, pair) => pair.signed(sender, [Operation.bumpSequence({ bumpTo: '-1' })]),
  'a fee bump without a signature': (sender, pair) => async (side) =>
    bump(await pair.signed(sender, [pay(pair)])(side), pair.account('bumper'), '3000', []),
  'a fee bump of a wrong sequence number': (sender, pair) => async (side) =>
    bump(await pair.signed(sender, [pay(pair)], { skip: 3 })(side), pair.account('bumper'), '3000'),
  'a fee bump of an unsigned payment': (sender, pair) => async (side) =>
    bump(await pair.build(side, sender.publicKey(), [pay(pair)]), pair.account('bumper'), '3000'),
  'a fee bump of an unknown account': (sender, pair) => async (side) =>
    bump(await pair.signed(sender, [pay(pair)])(side), Keypair.fromRawEd25519Seed(Buffer.alloc(32, 9)), '3000'),
  'a contract call without resources': (sender, pair) => pair.signed(sender, [transferOf(pair, sender, to(pair), 5n)]),
  'a contract call beside a payment': (sender, pair) =>
    pair.signed(sender, [transferOf(pair, sender, to(pair), 5n), pay(pair)]),
  'resources for a payment': (sender, pair) => async (side) => {
    const call = await pair.prepared(sender, transferOf(pair, sender, to(pair), 5n))(side);
    const envelope = (await pair.build(side, sender.publicKey(), [pay(pair)])).toEnvelope();
    envelope.v1().tx().ext(call.toEnvelope().v1().tx().ext());
    const transaction = TransactionBuilder.fromXDR(envelope.toXDR('base64'), passphrase);
    transaction.sign(sender);
    return transaction;
  },
};

const refusedCalls: Readonly<Record<Title, Making>> = {
  'a contract call with a fee below its resources': (sender, pair) =>
    pair.prepared(sender, transferOf(pair, sender, to(pair), 5n), (envelope) => envelope.v1().tx().fee(100)),
  'a contract call with too small a resource fee': (sender, pair) =>
    pair.prepared(sender, transferOf(pair, sender, to(pair), 5n), (envelope) =>
      dataIn(envelope).resourceFee(xdr.Int64.fromString('10')),
    ),
  'a contract call with a memo': (sender, pair) =>
    pair.prepared(sender, transferOf(pair, sender, to(pair), 5n), (envelope) =>
      envelope.v1().tx().memo(xdr.Memo.memoText('memo')),
    ),
};

const listed = (all: Readonly<Record<Title, Making>>, pair: StellarPair, isCall = false): readonly Scenario[] =>
  Object.entries(all).map(([title, making]) => ({ title, make: making(pair.account(senderOf(title)), pair), isCall }));

export const landingScenarios = (pair: StellarPair) => [...listed(landing, pair), ...listed(issuing, pair)];
export const callScenarios = (pair: StellarPair) => listed(calling, pair, true);
export const refusedScenarios = (pair: StellarPair) => [...listed(refused, pair), ...listed(refusedCalls, pair, true)];

/** All accounts that hold the token. */
export const holders: readonly string[] = [
  receiver,
  'bumper',
  'waiting',
  ...[landing, calling, refused, refusedCalls].flatMap((all) => Object.keys(all)).map(senderOf),
];

/** Accounts without a trustline. */
export const bareAccounts: readonly string[] = [stranger, 'untrusting'];
