/** Signs with the test treasury's key, like the service. */

import { instant } from '../../../../domain/time.ts';
import type { SignedAttempt } from '../../../../domain/transfer/shapes.ts';
import { evmChainIds } from '../../../../src/chains/evm/config.ts';
import { createEvmSigner } from '../../../../src/chains/evm/signer/signer.ts';
import { createSpending } from '../../../../src/chains/money/spending.ts';
import type { SigningPurpose, Unsigned } from '../../../../src/chains/ports.ts';
import { treasuryKey } from '../../../support/anvil.ts';

/** The coin costs one dollar. */
const coinPrices = new Map(evmChainIds.map((id) => [id, { price_microUsd: 1_000_000n, decimals: 18 }]));
const limits = { perTransfer_usd: 10_000n, perHour_usd: 1_000_000n, coinPrices };
const spending = createSpending(limits, { now: () => instant(0) });
const signer = createEvmSigner({ privateKey: treasuryKey, spending });

export async function signedBy(
  unsigned: Unsigned,
  attempt = 1,
  kind: SigningPurpose['kind'] = 'payout',
): Promise<SignedAttempt> {
  const { order, chainId, account, nonce, validUntil, fee } = unsigned;
  const { bytes, hash } = await signer.sign(unsigned, { kind, reference: 'test' });
  const { token, receiver, receiverMemo } = order;
  const terms = { token, receiver, receiverMemo, amount: String(order.amount), signedAt: instant(0) };
  return { attempt, chainId, account, nonce: String(nonce), hash, bytes, validUntil, fee, ...terms };
}
