/** A funded treasury on a local Stellar that pays out: rail, signer, and results. */
import { Keypair } from '@stellar/stellar-sdk';
import type { SigningPurpose, TransferOrder, Unsigned } from '../../../commands/transferPorts.ts';
import { instant } from '../../../domain/time.ts';
import type { SignedAttempt } from '../../../domain/transfer/shapes.ts';
import { fundAccount } from '../../../sandbox/stellar/controls.ts';
import type { StellarOptions } from '../../../sandbox/stellar/stellar.ts';
import { createSpending } from '../../../src/chains/money/spending.ts';
import type { StellarConfig } from '../../../src/chains/stellar/config.ts';
import { stellarChain } from '../../../src/chains/stellar/config.ts';
import { createStellarPayoutRail } from '../../../src/chains/stellar/payouts/rail.ts';
import { createStellarSigner } from '../../../src/chains/stellar/signer/signer.ts';
import { type StellarWorld, signal, stellarWorld } from './world.ts';

export const [usdcToken] = stellarChain().tokens as [TransferOrder['token']];
export const payout: SigningPurpose = { kind: 'payout', reference: 'payment-1' };
/** The coin costs one dollar. */
const coinPrices = new Map([[1500 as const, { price_microUsd: 1_000_000n, decimals: 7 }]]);
export const limits = { perTransfer_usd: 1_000n, perHour_usd: 10_000n, coinPrices };

/** Minimum balance of an account: two base reserves. */
const leastLumens = 1_0000000n;

export const orderTo = (receiver: string, amount = 5_0000000n, receiverMemo: string | null = null): TransferOrder => ({
  chainId: 1500,
  token: usdcToken,
  receiver,
  receiverMemo,
  amount,
});

/** @param channels number of accounts that number payouts besides the treasury; each holds only the minimum */
export async function payingWorld({
  channels: count = 0,
  ...options
}: Partial<StellarOptions> & { channels?: number } = {}) {
  const bare = await stellarWorld(options);
  const channels = Array.from({ length: count }, () => Keypair.random());
  for (const channel of channels) await fundAccount(bare.stellar.rpcUrl, channel.publicKey(), { lumens: leastLumens });
  const world: StellarWorld = {
    ...bare,
    config: (urls, more) => bare.config(urls, { channels: channels.map((channel) => channel.publicKey()), ...more }),
  };
  await fundAccount(world.stellar.rpcUrl, world.treasury.publicKey(), { usdc: 1_000_0000000n });
  const clock = { now: () => instant(world.stellar.chain.history.head().closedAt_s * 1_000) };
  const signerOf = (key: Keypair, more: Partial<StellarConfig> = {}) =>
    createStellarSigner({
      secret: key.secret(),
      channelSecrets: channels.map((channel) => channel.secret()),
      config: { ...world.config(), ...more },
      clock,
      spending: createSpending(limits, clock),
    });
  const signer = signerOf(world.treasury);
  const rail = railOf(world);

  const sign = async (unsigned: Unsigned, attempt = 1, purpose = payout): Promise<SignedAttempt> => {
    const signed = await signer.sign(unsigned, purpose);
    const { order } = unsigned;
    return {
      ...signed,
      attempt,
      chainId: unsigned.chainId,
      account: unsigned.account,
      nonce: String(unsigned.nonce),
      validUntil: unsigned.validUntil,
      fee: unsigned.fee,
      token: order.token,
      receiver: order.receiver,
      receiverMemo: order.receiverMemo,
      amount: String(order.amount),
      signedAt: clock.now(),
    };
  };
  const nextNonce = () => rail.numbering.minedNonce(signal);
  /** Prepares and signs under the account's next number, or a later one. */
  const attemptTo = async (order: TransferOrder, ahead = 0n) =>
    sign(await rail.numbering.prepare(order, (await nextNonce()) + ahead));
  /** Prepares and signs in a channel. */
  const attemptIn = async (channel: Keypair | undefined, order: TransferOrder) => {
    const numbering = (await rail.numbering.accounts(signal))?.find(({ account }) => account === channel?.publicKey());
    if (!numbering) throw new Error('there is no such channel');
    return sign(await rail.numbering.prepare(order, numbering.minedNonce, undefined, numbering.account));
  };

  return { ...world, channels, attemptIn, now: clock.now, rail, signer, signerOf, sign, nextNonce, attemptTo };
}

/** Replaces the envelope of a prepared transaction. */
export const withEnvelope = (unsigned: Unsigned, envelope: string): Unsigned => ({
  ...unsigned,
  payload: { envelope },
});

export type PayingWorld = Awaited<ReturnType<typeof payingWorld>>;

export const railOf = (world: StellarWorld, urls?: readonly string[]) => createStellarPayoutRail(world.config(urls));
