import type { Hex } from 'viem';
import type { Clock } from '../../commands/ports.ts';
import type { ChainFamily } from '../../domain/chains.ts';
import { evmChainIds } from '../chains/evm/config.ts';
import { createKeystoreSigner } from '../chains/evm/signer/signer.ts';
import { createSpending } from '../chains/money/spending.ts';
import type { Signer } from '../chains/ports.ts';
import { solanaFees } from '../chains/solana/config.ts';
import { parseSolanaKey } from '../chains/solana/signer/keys.ts';
import { createSolanaSigner } from '../chains/solana/signer/signer.ts';
import { stellarConfig } from '../chains/stellar/index.ts';
import { createStellarSigner } from '../chains/stellar/signer/signer.ts';
import type { Config } from '../config.ts';

export type Signers = ReadonlyMap<ChainFamily, Signer>;

/** A signer for each family whose treasury key this instance holds. What they spend counts together, over all chains. */
export function openSigners({ treasuries, signer: limits }: Config, clock: Pick<Clock, 'now'>): Signers {
  const spending = createSpending(limits, clock);
  const signers = new Map<ChainFamily, Signer>();
  const { evm, solana, stellar } = treasuries;
  if (evm?.key) {
    const privateKey = evm.key as Hex;
    signers.set(
      'evm',
      createKeystoreSigner({ privateKey, limits: { ...limits, chainIds: evmChainIds }, clock, spending }),
    );
  }
  const solanaTreasury = solana?.key ? parseSolanaKey(solana.key) : undefined;
  if (solanaTreasury && solana?.depositSeed) {
    const { depositSeed } = solana;
    signers.set('solana', createSolanaSigner({ key: solanaTreasury, depositSeed, fees: solanaFees, spending }));
  }
  if (stellar?.key) {
    const config = stellarConfig({ rpcUrls: [] }, stellar);
    const { key: secret, channelKeys: channelSecrets } = stellar;
    signers.set('stellar', createStellarSigner({ secret, channelSecrets, config, clock, spending }));
  }
  return signers;
}
