import assert from 'node:assert/strict';
import { Account, Asset, Keypair, Memo, Operation, TransactionBuilder, xdr } from '@stellar/stellar-sdk';
import { SigningRefused, type TransferOrder, type Unsigned } from '../../../commands/chainPorts.ts';
import { chainOf } from '../../../domain/chains.ts';
import { instant } from '../../../domain/time.ts';
import { buildUnsigned, transferCall } from '../../../src/chains/evm/payouts/transaction.ts';
import { createEvmSigner } from '../../../src/chains/evm/signer/signer.ts';
import { createSpending } from '../../../src/chains/money/spending.ts';
import { innermost, type StellarPayload } from '../../../src/chains/stellar/payouts/transaction.ts';
import { createStellarSigner } from '../../../src/chains/stellar/signer/signer.ts';
import { usdc } from '../../support/stellar.ts';
import { orderTo, type PayingWorld, payingWorld, payout, usdcToken } from './paying.ts';
import { signal } from './world.ts';

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

  const prepared = (order = orderTo(receiver)) => world.rail.prepare(order, nonce);
  const refused = async (unsigned: Unsigned, reason: SigningRefused['reason'], purpose = payout) => {
    const isRefusal = (error: unknown) => error instanceof SigningRefused && error.reason === reason;
    assert.throws(() => world.signer.check(unsigned, purpose), isRefusal, reason);
    await assert.rejects(world.signer.sign(unsigned, purpose), isRefusal);
  };
  const withEnvelope = (unsigned: Unsigned, envelope: string): Unsigned => ({ ...unsigned, payload: { envelope } });
  /** A transaction made by hand that claims to be the prepared one. */
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

  it('signs what was ordered, the same bytes each time, and the hand-made equal of it', async () => {
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

  it('refuses orders for tokens that are none of the catalogue’s', async () => {
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

  it('signs a fee bump of the same transfer, and of no other', async () => {
    const first = await world.sign(await prepared());
    const bump = await world.rail.prepare(orderTo(receiver), nonce, first);
    const signed = await world.signer.sign(bump, payout);
    assert.notEqual(signed.hash, first.hash);
    await refused({ ...bump, order: orderTo(receiver, 6n) }, 'mismatch');
    const inner = innermost(first.bytes, world.lab.passphrase);
    const sponsored = TransactionBuilder.buildFeeBumpTransaction(receiver, '10000', inner, world.lab.passphrase);
    await refused(withEnvelope(bump, sponsored.toEnvelope().toXDR('base64')), 'account');
  });

  describe('with a channel', () => {
    let paying: PayingWorld;
    let channel: string;
    let number: bigint;
    let other: Keypair;
    before(async () => {
      paying = await payingWorld({ channels: 2 });
      [channel = ''] = paying.config().channels;
      other = await paying.lab.person();
      const accounts = (await paying.rail.numberingAccounts?.(signal)) ?? [];
      number = accounts.find(({ account }) => account === channel)?.minedNonce ?? 0n;
    });
    after(() => paying.lab.stop());

    const to = () => orderTo(other.publicKey());
    const preparedIn = () => paying.rail.prepare(to(), number, undefined, channel);
    interface Made {
      readonly source?: string;
      readonly actor?: string | undefined;
      readonly feeSource?: string | null;
    }
    /** A transaction made by hand that claims to be the prepared one. @param feeSource null: it is wrapped in no fee bump */
    const madeBy = async ({ source = channel, feeSource = paying.treasury.publicKey(), ...more }: Made) => {
      const actor = 'actor' in more ? more.actor : paying.treasury.publicKey();
      const unsigned = await preparedIn();
      const inner = new TransactionBuilder(new Account(source, String(number - 1n)), {
        fee: '1000',
        networkPassphrase: paying.lab.passphrase,
        timebounds: { minTime: 0, maxTime: Number(unsigned.validUntil) },
      })
        .addOperation(
          Operation.payment({
            destination: other.publicKey(),
            asset: usdc,
            amount: '5',
            ...(actor && { source: actor }),
          }),
        )
        .build();
      inner.sign(other);
      const whole =
        feeSource === null
          ? inner
          : TransactionBuilder.buildFeeBumpTransaction(feeSource, '1000', inner, paying.lab.passphrase);
      return withEnvelope(unsigned, whole.toEnvelope().toXDR('base64'));
    };
    const refusedThere = async (unsigned: Unsigned, reason: SigningRefused['reason']) => {
      await assert.rejects(
        paying.signer.sign(unsigned, payout),
        (error: unknown) => error instanceof SigningRefused && error.reason === reason,
      );
    };

    it('signs what the treasury does under the channel’s number, at the treasury’s cost, with no signature but its own', async () => {
      const signed = await paying.signer.sign(await preparedIn(), payout);
      assert.deepEqual(await paying.signer.sign(await preparedIn(), payout), signed);
      assert.deepEqual(await paying.signer.sign(await madeBy({}), payout), signed);
      assert.equal(innermost(signed.bytes, paying.lab.passphrase).signatures.length, 2);
    });

    it('refuses what the channel itself would do, or what it would pay for', async () => {
      await refusedThere(await madeBy({ actor: undefined }), 'mismatch');
      await refusedThere(await madeBy({ actor: channel }), 'mismatch');
      await refusedThere(await madeBy({ feeSource: channel }), 'account');
      await refusedThere(await madeBy({ feeSource: null }), 'account');
    });

    it('refuses the number of another account, be it another channel’s', async () => {
      const [, second] = paying.config().channels;
      for (const source of [other.publicKey(), second])
        await refusedThere(await madeBy({ ...(source && { source }) }), 'account');
      const foreign = await madeBy({ source: other.publicKey() });
      await refusedThere({ ...foreign, account: other.publicKey() }, 'account');
    });

    it('counts what is spent under alike numbers of two accounts twice', async () => {
      const clock = { now: paying.now };
      const spending = createSpending({ perTransfer_usd: 9n, perHour_usd: 9n }, clock);
      const signer = createStellarSigner({
        secret: paying.treasury.secret(),
        channelSecrets: paying.channels.map((key) => key.secret()),
        config: paying.config(),
        clock,
        spending,
      });
      await signer.sign(await preparedIn(), payout);
      const [, second] = paying.config().channels;
      const alike = await paying.rail.prepare(to(), number, undefined, second);
      assert.throws(
        () => signer.check(alike, payout),
        (error: unknown) => error instanceof SigningRefused && error.reason === 'perHour',
      );
    });
  });

  it('signs a cancel that does nothing, no transfer in its name, and no sweep', async () => {
    const cancel = { kind: 'cancel', reference: 'nonce' } as const;
    await world.signer.sign(await world.rail.prepareCancel(nonce), cancel);
    await refused(await prepared(), 'mismatch', cancel as never);
    await refused(await world.rail.prepareCancel(nonce), 'mismatch');
    await refused(await prepared(), 'mismatch', { kind: 'sweep', reference: 'x' });
  });

  it('refuses what is no transaction', async () => {
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
