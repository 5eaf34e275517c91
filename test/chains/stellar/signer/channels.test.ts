import assert from 'node:assert/strict';
import { Account, type Keypair, Operation, TransactionBuilder } from '@stellar/stellar-sdk';
import { SigningRefused, type Unsigned } from '../../../../commands/transferPorts.ts';
import { createSpending } from '../../../../src/chains/money/spending.ts';
import { innermost } from '../../../../src/chains/stellar/payouts/transaction.ts';
import { createStellarSigner } from '../../../../src/chains/stellar/signer/signer.ts';
import { usdc } from '../../../support/stellar.ts';
import { orderTo, type PayingWorld, payingWorld, payout, withEnvelope } from '../paying.ts';
import { signal } from '../world.ts';

describe('the Stellar signer with a channel', () => {
  let paying: PayingWorld;
  let channel: string;
  let number: bigint;
  let other: Keypair;
  before(async () => {
    paying = await payingWorld({ channels: 2 });
    [channel = ''] = paying.config().channels;
    other = await paying.lab.person();
    const accounts = (await paying.rail.numbering.accounts(signal)) ?? [];
    number = accounts.find(({ account }) => account === channel)?.minedNonce ?? 0n;
  });
  after(() => paying.lab.stop());

  const to = () => orderTo(other.publicKey());
  const preparedIn = () => paying.rail.numbering.prepare(to(), number, undefined, channel);
  interface Made {
    readonly source?: string;
    readonly actor?: string | undefined;
    readonly feeSource?: string | null;
  }
  /** A hand-built transaction in place of the prepared one. @param feeSource null: it has no fee bump */
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

  it('signs the treasury’s actions under the channel’s number, at the treasury’s cost, with no signature but its own', async () => {
    const signed = await paying.signer.sign(await preparedIn(), payout);
    assert.deepEqual(await paying.signer.sign(await preparedIn(), payout), signed);
    assert.deepEqual(await paying.signer.sign(await madeBy({}), payout), signed);
    assert.equal(innermost(signed.bytes, paying.lab.passphrase).signatures.length, 2);
  });

  it('refuses actions and costs of the channel itself', async () => {
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

  it('counts spendings under equal numbers of two accounts twice', async () => {
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
    const alike = await paying.rail.numbering.prepare(to(), number, undefined, second);
    assert.throws(
      () => signer.check(alike, payout),
      (error: unknown) => error instanceof SigningRefused && error.reason === 'perHour',
    );
  });
});
