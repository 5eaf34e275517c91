/** A Solana network with a funded treasury, and the service's parts for it: rail, signer, attempts. */
import { Keypair, type PublicKey } from 'solana-web3-v1';
import type { SigningPurpose, TransferOrder, Unsigned } from '../../../commands/transferPorts.ts';
import { chainOf, type Token } from '../../../domain/chains.ts';
import { instant } from '../../../domain/time.ts';
import type { SignedAttempt } from '../../../domain/transfer/shapes.ts';
import { endowWallet } from '../../../sandbox/solana/endow.ts';
import type { SolanaOptions } from '../../../sandbox/solana/solana.ts';
import { createSpending } from '../../../src/chains/money/spending.ts';
import { defaultSolanaConfig, type SolanaConfig, solanaFees } from '../../../src/chains/solana/config.ts';
import { createSolanaPayoutRail } from '../../../src/chains/solana/payouts/rail.ts';
import { createPayoutReference } from '../../../src/chains/solana/payouts/transaction.ts';
import { referenceKey, solanaKey } from '../../../src/chains/solana/signer/keys.ts';
import { createSolanaSigner } from '../../../src/chains/solana/signer/signer.ts';
import { patience_ms } from '../../support/patience.ts';
import { lamportsPerSol, solanaLab, tokenAccount } from '../../support/solana.ts';

export const { signal } = new AbortController();
export const [usdcToken] = chainOf(501).tokens as [Token];
export const payout: SigningPurpose = { kind: 'payout', reference: 'payment-1' };
/** The coin costs one dollar. */
const coinPrices = new Map([[501 as const, { price_microUsd: 1_000_000n, decimals: 9 }]]);
export const limits = { perTransfer_usd: 1_000n, perHour_usd: 10_000n, coinPrices };
export const depositSeed = '5e'.repeat(32);
export const payoutReference = createPayoutReference(referenceKey(depositSeed));

export const orderTo = (
  receiver: PublicKey | string,
  amount = 5_000000n,
  more: Partial<TransferOrder> = {},
): TransferOrder => ({
  chainId: 501,
  token: usdcToken,
  receiver: String(receiver),
  receiverMemo: null,
  amount,
  reference: payout.reference,
  referenceOrdinal: 1,
  ...more,
});

/** The network's clock is a day behind, so that tests can advance it. */
const yesterday_s = () => Math.floor(Date.now() / 1_000) - 86_400;

export async function solanaWorld(options: Partial<SolanaOptions> = {}) {
  const lab = await solanaLab({ now_s: yesterday_s, ...options });
  const { solana } = lab;
  const treasury = Keypair.generate();
  const account = treasury.publicKey.toBase58();
  await endowWallet(solana.rpcUrl, account, { lamports: 10n * lamportsPerSol, usdc: 1_000_000000n });
  solana.advanceSlots(solana.chain.finality.finalized_slots);
  const clock = { now: () => instant(solana.chain.times.at(solana.chain.head()) * 1_000) };
  const config = (urls = [solana.rpcUrl], more: Partial<SolanaConfig> = {}): SolanaConfig => ({
    ...defaultSolanaConfig({ rpcUrls: urls, treasury: account }),
    callTimeout_ms: patience_ms,
    ...more,
  });
  const railOf = (urls?: readonly string[]) => createSolanaPayoutRail(config(urls && [...urls]), payoutReference);
  const signer = createSolanaSigner({
    key: solanaKey(treasury.secretKey.slice(0, 32)),
    depositSeed,
    fees: solanaFees(),
    spending: createSpending(limits, clock),
  });
  const rail = railOf();

  const sign = async (unsigned: Unsigned, attempt = 1, purpose = payout): Promise<SignedAttempt> => {
    const signed = await signer.sign(unsigned, purpose);
    const { chainId, account, validUntil, fee, order } = unsigned;
    const { token, receiver, receiverMemo } = order;
    return {
      ...{ ...signed, attempt, chainId, account, nonce: null, validUntil, fee: { ...fee }, token, receiver },
      receiverMemo,
      amount: String(order.amount),
      signedAt: clock.now(),
    };
  };

  return {
    ...{ lab, solana, treasury, clock, config, rail, railOf, signer, sign },
    /** A wallet without funds, and without an account for USDC. */
    nobody: () => Keypair.generate().publicKey,
    /** Prepares and signs an attempt for the order's own purpose. */
    attemptTo: async (order: TransferOrder, attempt = 1) =>
      sign(await rail.numbering.prepare(order), attempt, { kind: 'payout', reference: order.reference ?? '' }),
    /** USDC balance of a wallet, in smallest units; null without an account. */
    async balance(owner: PublicKey): Promise<bigint | null> {
      const account = await tokenAccount(owner);
      const { value } = await lab.connection.getParsedAccountInfo(account, 'processed');
      if (value === null || !('parsed' in value.data)) return null;
      return BigInt(value.data.parsed.info.tokenAmount.amount);
    },
    /** Advances until landed transactions are final. */
    settle: (slots = 8) => solana.advanceSlots(slots),
  };
}

export type SolanaWorld = Awaited<ReturnType<typeof solanaWorld>>;
