import type { Address, Hex } from 'viem';
import { chainOf } from '../../../domain/chains.ts';
import { isCctpChain } from '../../../domain/rebalance/cctp.ts';
import { isUsdt0Chain } from '../../../domain/rebalance/usdt0.ts';
import type { Family, OpenChain } from '../family.ts';
import type { NodeLines } from '../node/limiter.ts';
import type { ChainSettings, DepthSetting } from '../settings.ts';
import { canonicalEvmAddress, canonicalEvmHash, createEvmDeposits, evmDeposits } from './addresses.ts';
import {
  after,
  defaultEvmChainConfig,
  type EvmChainConfig,
  type EvmChainId,
  exposureFor,
  type FinalityDepth,
  feesOf,
  isEvmChain,
} from './config.ts';
import { createEvmSweep } from './deposits/sweep.ts';
import { createEvmHealth } from './health.ts';
import { createEvmHistory } from './history.ts';
import { createEvmAcceptance, evmMessages } from './messages.ts';
import { createMintReader } from './mints.ts';
import { createOftMessages } from './oftMessages.ts';
import { createEvmIngester } from './payins/ingester.ts';
import { createEvmPayoutRail } from './payouts/rail.ts';
import { createPushes } from './pushes.ts';
import { createEvmRelaying } from './relaying.ts';
import { createEvmRpc } from './rpc.ts';
import { createEvmRelaySigner, createEvmSigner } from './signer/signer.ts';
import { type EvmTreasury, readEvmTreasury } from './treasury.ts';
import { evmWalletLink, evmWalletOffer } from './walletOffer.ts';

/** Base, BNB, Ethereum, Arbitrum, Polygon: one treasury account, and the same deposit addresses on all of them. */
export const evm: Family<EvmTreasury> = {
  name: 'evm',
  coinDecimals: 18,
  choosesDepth: true,
  hasPushes: true,
  hasBatches: true,
  canonicalAddress: canonicalEvmAddress,
  canonicalTxHash: canonicalEvmHash,
  messages: evmMessages,
  walletLink: evmWalletLink,
  walletOffer: evmWalletOffer,
  readTreasury: readEvmTreasury,
  open(settings, treasury, { lines }) {
    const account = treasury.address as Address;
    return {
      family: 'evm',
      chains: settings.flatMap((setting) => openChain(setting, { account, relay: treasury.relay }, lines)),
      deposits: createEvmDeposits({ treasury: account }),
      canReceive: null,
      misfit: null,
    };
  },
  derivesDepositFromPayment: true,
  async isOwnDeposit({ address }, paymentId, deposit) {
    const own = evmDeposits(address as Address)(paymentId);
    return own.address === deposit.address && own.scheme === deposit.scheme;
  },
  openSigner({ key }, { spending, settings, accountOf }) {
    const feesOn = (chainId: EvmChainId) => feesOf(chainId, settings.find((each) => each.chainId === chainId) ?? {});
    const others = { stellarAccount: accountOf('stellar'), solanaAccount: accountOf('solana') };
    return key === null ? null : createEvmSigner({ privateKey: key as Hex, feesOn, spending, ...others });
  },
  openRelaySigner({ address, relay }, { spending, settings }) {
    if (relay === null || relay.key === null) return null;
    const feesOn = (chainId: EvmChainId) => feesOf(chainId, settings.find((each) => each.chainId === chainId) ?? {});
    return createEvmRelaySigner({ privateKey: relay.key as Hex, treasury: address as Address, feesOn, spending });
  },
};

interface Accounts {
  readonly account: Address;
  readonly relay: EvmTreasury['relay'];
}

function openChain(setting: ChainSettings, { account: treasury, relay }: Accounts, lines: NodeLines): OpenChain[] {
  if (!isEvmChain(setting.chainId)) return [];
  const config = evmConfig(setting, defaultEvmChainConfig(setting.chainId, setting.rpcUrls));
  const rpc = createEvmRpc({ ...config, lines });
  const { wsUrls = [] } = setting;
  return [
    {
      ingester: createEvmIngester(config, rpc),
      rail: createEvmPayoutRail(config, treasury, rpc),
      history: createEvmHistory(config, rpc),
      openSweep: () => createEvmSweep(config, treasury, rpc),
      health: createEvmHealth(config, rpc),
      ...(isCctpChain(config.chainId) && { mints: createMintReader(config, rpc) }),
      ...(isUsdt0Chain(config.chainId) && { oftMessages: createOftMessages(config, rpc) }),
      poll_ms: config.pollInterval_ms,
      ...(relay && { relaying: createEvmRelaying(config, relay.address as Address, rpc) }),
      ...(wsUrls.length > 0 && { pushes: createPushes({ chain: chainOf(config.chainId), urls: wsUrls, ...lines }) }),
      acceptsMessage: createEvmAcceptance({ ...config, lines }),
      unfitNodes: rpc.unfit,
    },
  ];
}

/** Applies the operator's settings over the chain's defaults. */
function evmConfig(setting: ChainSettings, defaults: EvmChainConfig): EvmChainConfig {
  const { chainId } = defaults;
  const { agree, confirmations, confirmationsLarge, payoutConfirmations, poll_ms } = setting;
  const { largeFrom_usd = BigInt(defaults.largeFrom_usd) } = setting;
  const { exposureMax_usd = exposureFor(largeFrom_usd) } = setting;
  return {
    ...defaults,
    fees: feesOf(defaults.chainId, setting),
    agree: { ...agree, largeFrom_usd },
    depths: {
      final: confirmations ? depthOf(chainId, confirmations) : defaults.depths.final,
      finalLarge: confirmationsLarge ? depthOf(chainId, confirmationsLarge) : defaults.depths.finalLarge,
      payout: payoutConfirmations ? depthOf(chainId, payoutConfirmations) : defaults.depths.payout,
    },
    largeFrom_usd: Number(largeFrom_usd),
    exposureMax_usd,
    pollInterval_ms: poll_ms ?? defaults.pollInterval_ms,
  };
}

function depthOf(chainId: EvmChainId, { blocks, tag, after_ms }: DepthSetting): FinalityDepth {
  if (after_ms !== undefined) return after(chainId, after_ms, tag ?? undefined);
  if (tag === null) return blocks;
  return blocks > 0 ? { tag, atLeast: blocks } : tag;
}
