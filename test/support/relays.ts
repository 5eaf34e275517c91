/** Orders of relays, signed by their payers, for specs of chains and signers. */
import type { Address, Hex } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import { type ChainId, chainOf, findToken, type Token } from '../../domain/chains.ts';
import { evmDeposits } from '../../src/chains/evm/addresses.ts';
import type { RelayOrder } from '../../src/chains/ports.ts';
import { treasury } from './anvil.ts';
import { authorize, type SignedFields } from './x402.ts';

export const usdcOf = (chainId: ChainId): Token => findToken(chainOf(chainId), 'USDC') as Token;
export const relayedPayment = '0198f3c2-0000-8000-8000-000000000001';

/** @param altered fields that the payer signs instead of the expected ones */
export async function relayOrder(
  payer: PrivateKeyAccount,
  { chainId = 8453 as ChainId, amount = 3_000000n, name = 'USD Coin', paymentId = relayedPayment } = {},
  altered: Partial<SignedFields> = {},
): Promise<RelayOrder> {
  const token = usdcOf(chainId);
  const { address, salt } = evmDeposits(treasury)(paymentId);
  const requirement = {
    scheme: 'exact',
    network: `eip155:${chainId}`,
    amount: String(amount),
    asset: token.address as Address,
    payTo: address as Address,
    maxTimeoutSeconds: 600,
    extra: { name, version: '2' },
  };
  const { signature, authorization } = await authorize(payer, requirement, altered);
  const { validAfter, validBefore, nonce } = authorization;
  return {
    chainId,
    token,
    receiver: authorization.to,
    receiverMemo: null,
    amount: BigInt(authorization.value),
    form: {
      kind: 'authorization',
      deposit: { address, salt },
      payer: payer.address,
      validAfter,
      validBefore,
      nonce,
      signature: signature as Hex,
      costMax: String(10n ** 18n),
    },
  };
}
