import assert from 'node:assert/strict';
import { Account, Asset, Contract, Keypair, Memo, Operation, TransactionBuilder, xdr } from '@stellar/stellar-sdk';
import { SigningRefused, type TransferOrder, type Unsigned } from '../../../../commands/transferPorts.ts';
import { chainOf } from '../../../../domain/chains.ts';
import { instant } from '../../../../domain/time.ts';
import { buildUnsigned, transferCall } from '../../../../src/chains/evm/payouts/transaction.ts';
import { createEvmSigner } from '../../../../src/chains/evm/signer/signer.ts';
import { createSpending } from '../../../../src/chains/money/spending.ts';
import { innermost, type StellarPayload } from '../../../../src/chains/stellar/payouts/transaction.ts';
import { createStellarSigner } from '../../../../src/chains/stellar/signer/signer.ts';
import { addressArg, i128Arg, usdc } from '../../../support/stellar.ts';
import { orderTo, type PayingWorld, payingWorld, payout, usdcToken, withEnvelope } from '../paying.ts';

type Edit = (builder: TransactionBuilder) => TransactionBuilder;

describe('the Stellar signer', () => {
  let world: PayingWorld;
  let receiver: string;
  let nonce: bigint;
  before(async () => {
    world = await payingWorld();
    receiver = (await world.lab.person(0n)).publicKey();
    nonce = await world.nextNonce();
  });
  after(() => world.lab.stop());

  const prepared = (order = orderTo(receiver)) => world.rail.numbering.prepare(order, nonce);
  const refused = async (unsigned: Unsigned, reason: SigningRefused['reason'], purpose = payout) => {
    const isRefusal = (error: unknown) => error instanceof SigningRefused && error.reason === reason;
    assert.throws(() => world.signer.check(unsigned, purpose), isRefusal, reason);
    await assert.rejects(world.signer.sign(unsigned, purpose), isRefusal);
  };
  /** A hand-built transaction in place of the prepared one. */
  const forged = async (
    edit: Edit,
    more: { source?: string; passphrase?: string; sequence?: bigint; until?: number } = {},
  ) => {
    const unsigned = await prepared();
    const { source = unsigned.account, passphrase = world.lab.passphrase, sequence = nonce } = more;
    const until = more.until ?? Number(unsigned.validUntil);
    const builder = new TransactionBuilder(new Account(source, String(sequence - 1n)), {
      fee: '1000',
      networkPassphrase: passphrase,
      timebounds: { minTime: 0, maxTime: until },
    });
    return withEnvelope(unsigned, edit(builder).build().toEnvelope().toXDR('base64'));
  };
  const paying = (over: Partial<Parameters<typeof Operation.payment>[0]> = {}) =>
    Operation.payment({ destination: receiver, asset: usdc, amount: '5', ...over });

  it('signs the order, the same bytes each time, and an equal transaction built by hand', async () => {
    const unsigned = await prepared();
    const signed = await world.signer.sign(unsigned, payout);
    assert.deepEqual(await world.signer.sign(unsigned, payout), signed);
    assert.deepEqual(await world.signer.sign(await forged((b) => b.addOperation(paying())), payout), signed);
    const transaction = innermost(signed.bytes, world.lab.passphrase);
    assert.equal(transaction.hash().toString('hex'), signed.hash);
    assert.ok(world.treasury.verify(transaction.hash(), transaction.signatures[0]!.signature()));
  });

  it('refuses a transfer to another receiver, of another amount or asset, or with another memo', async () => {
    const other = Keypair.random().publicKey();
    const lookAlike = new Asset('USDC', other);
    for (const over of [
      { destination: other },
      { amount: '5.0000001' },
      { asset: lookAlike },
      { asset: Asset.native() },
    ])
      await refused(await forged((b) => b.addOperation(paying(over))), 'mismatch');
    for (const memo of [Memo.text('x'), Memo.id('7'), Memo.hash('00'.repeat(32))])
      await refused(await forged((b) => b.addOperation(paying()).addMemo(memo)), 'mismatch');
    const unsigned = await prepared(orderTo(receiver, 5_0000000n, '7'));
    const withId = await forged((b) => b.addOperation(paying()).addMemo(Memo.id('7')));
    await refused({ ...unsigned, payload: withId.payload }, 'mismatch');
  });

  it('refuses orders for tokens outside the catalogue', async () => {
    const unsigned = await prepared();
    const order: TransferOrder = { ...unsigned.order, token: { ...usdcToken, decimals: 6 } };
    await refused({ ...unsigned, order }, 'mismatch');
  });

  it('refuses more than one operation, operations of other accounts, and other operations', async () => {
    await refused(await forged((b) => b.addOperation(paying()).addOperation(paying())), 'mismatch');
    await refused(await forged((b) => b.addOperation(paying({ source: world.payer.publicKey() }))), 'mismatch');
    const takeOver = Operation.setOptions({ signer: { ed25519PublicKey: receiver, weight: 255 } });
    await refused(await forged((b) => b.addOperation(takeOver)), 'mismatch');
    await refused(await forged((b) => b.addOperation(Operation.accountMerge({ destination: receiver }))), 'mismatch');
  });

  it('refuses another network, account, sequence number or chain', async () => {
    const edit: Edit = (b) => b.addOperation(paying());
    const testnet = await forged(edit, { passphrase: 'Test SDF Network ; September 2015' });
    const [ours, theirs] = [
      await world.signer.sign(testnet, payout),
      await world.signer.sign(await prepared(), payout),
    ];
    assert.equal(ours.hash, theirs.hash, 'bytes name no network: what is signed is for ours');
    await refused(await forged(edit, { source: world.payer.publicKey() }), 'account');
    await refused(await forged(edit, { sequence: nonce + 1n }), 'account');
    await refused({ ...(await prepared()), chainId: 1 }, 'chain');
    await refused({ ...(await prepared()), account: receiver }, 'account');
  });

  it('refuses transfers that stay valid for ever, for long, or for another time than is recorded', async () => {
    const edit: Edit = (b) => b.addOperation(paying());
    for (const until of [0, Number((await prepared()).validUntil) + 1])
      await refused(await forged(edit, { until }), 'mismatch');
    const until = Number((await prepared()).validUntil) + 86_400;
    await refused({ ...(await forged(edit, { until })), validUntil: String(until) }, 'mismatch');
  });

  it('refuses fees above the limit', async () => {
    const unsigned = await prepared();
    const transaction = innermost((unsigned.payload as StellarPayload).envelope, world.lab.passphrase);
    const dear = TransactionBuilder.cloneFrom(transaction, { fee: '2000000' }).build();
    await refused(withEnvelope(unsigned, dear.toEnvelope().toXDR('base64')), 'fee');
  });

  it('signs a call of the token’s contract only when it authorizes nothing else', async () => {
    const unsigned = await prepared(orderTo(world.payinContract));
    await world.signer.sign(unsigned, payout);
    const other = await prepared(orderTo(world.payinContract, 6_0000000n));
    await refused({ ...other, order: unsigned.order }, 'mismatch');

    const transaction = innermost((unsigned.payload as StellarPayload).envelope, world.lab.passphrase);
    const envelope = transaction.toEnvelope();
    const [operation] = envelope.v1().tx().operations();
    const [entry] = operation!.body().invokeHostFunctionOp().auth();
    assert.ok(entry);
    const more = xdr.SorobanAuthorizedInvocation.fromXDR(entry.rootInvocation().toXDR());
    entry.rootInvocation().subInvocations([more]);
    await refused(withEnvelope(unsigned, envelope.toXDR('base64')), 'mismatch');
  });

  it('refuses another call with the same arguments, of another contract, or where a payment is ordered', async () => {
    const unsigned = await prepared(orderTo(world.payinContract));
    const args = [addressArg(unsigned.account), addressArg(world.payinContract), i128Arg(5_0000000n)];
    const calling = async (contract: string, name: string, ...values: xdr.ScVal[]) => {
      const { payload } = await forged((b) => b.addOperation(new Contract(contract).call(name, ...values)));
      return { ...unsigned, payload };
    };
    await world.signer.sign(await calling(world.lab.usdcId, 'transfer', ...args), payout);
    await refused(await calling(world.lab.usdcId, 'approve', ...args), 'mismatch');
    await refused(await calling(world.lab.usdcId, 'transfer', ...args, i128Arg(1n)), 'mismatch');
    await refused(await calling(world.payinContract, 'transfer', ...args), 'mismatch');
    const toAccount = [addressArg(unsigned.account), addressArg(receiver), i128Arg(5_0000000n)];
    const { payload } = await calling(world.lab.usdcId, 'transfer', ...toAccount);
    await refused({ ...(await prepared()), payload }, 'mismatch');
  });

  it('signs a fee bump of the same transfer, and of no other', async () => {
    const first = await world.sign(await prepared());
    const bump = await world.rail.numbering.prepare(orderTo(receiver), nonce, first);
    const signed = await world.signer.sign(bump, payout);
    assert.notEqual(signed.hash, first.hash);
    await refused({ ...bump, order: orderTo(receiver, 6n) }, 'mismatch');
    const inner = innermost(first.bytes, world.lab.passphrase);
    const sponsored = TransactionBuilder.buildFeeBumpTransaction(receiver, '10000', inner, world.lab.passphrase);
    await refused(withEnvelope(bump, sponsored.toEnvelope().toXDR('base64')), 'account');
  });

  it('signs a cancel that does nothing, no transfer in its name, and no sweep', async () => {
    const cancel = { kind: 'cancel', reference: 'nonce' } as const;
    await world.signer.sign(await world.rail.numbering.prepareCancel(nonce), cancel);
    await refused(await prepared(), 'mismatch', cancel as never);
    await refused(await world.rail.numbering.prepareCancel(nonce), 'mismatch');
    await refused(await prepared(), 'mismatch', { kind: 'sweep', reference: 'x' });
  });

  it('refuses bytes that are no transaction', async () => {
    for (const envelope of ['', 'AAAA', '!']) await refused(withEnvelope(await prepared(), envelope), 'mismatch');
  });

  it('keeps to the limit per transfer', async () => {
    const order = orderTo(receiver, 1_000_0000001n);
    const { payload } = await forged((b) => b.addOperation(paying({ amount: '1000.0000001' })));
    await refused({ ...(await prepared()), order, payload }, 'perTransfer');
  });

  it('keeps to the limit per hour, which it shares with the signers of other chains', async () => {
    const clock = { now: () => instant(world.stellar.chain.history.head().closedAt_s * 1_000) };
    const shared = { perTransfer_usd: 100n, perHour_usd: 9n };
    const spending = createSpending(shared, clock);
    const stellar = createStellarSigner({ secret: world.treasury.secret(), config: world.config(), clock, spending });
    const evm = createEvmSigner({ privateKey: `0x${'11'.repeat(32)}`, chainIds: [1], spending });
    const [token] = chainOf(1).tokens as [TransferOrder['token']];
    const order: TransferOrder = { chainId: 1, token, receiver: evm.account, receiverMemo: null, amount: 5_000000n };
    const price = { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n };
    const call = transferCall(order);
    const elsewhere = buildUnsigned({ account: evm.account, nonce: 0n, order, call, gas: 1n, price });
    for (const _ of [1, 2]) await evm.sign(elsewhere, payout);
    const isPerHour = (error: unknown) => error instanceof SigningRefused && error.reason === 'perHour';
    await assert.rejects(stellar.sign(await prepared(), payout), isPerHour);
    await stellar.sign(await prepared(orderTo(receiver, 4_0000000n)), payout);
  });
});
