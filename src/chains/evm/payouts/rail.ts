import type { Address, Hex } from 'viem';
import { chainOf } from '../../../../domain/chains.ts';
import { assert } from '../../../../domain/decider.ts';
import type { SignedAttempt } from '../../../../domain/payment/events.ts';
import { allDeny } from '../../node/agreement.ts';
import { sendToAll } from '../../node/nodes.ts';
import type { PayoutRail, TransferOrder, Unsigned } from '../../ports.ts';
import type { EvmChainConfig } from '../config.ts';
import { gasNeeded, isOnChain, knownHeader, nonceAt, suggestedTip } from '../reads.ts';
import { createEvmRpc, type EvmNode, type EvmRpc, RpcFailed } from '../rpc.ts';
import { fateOf, finalNonce } from './fate.ts';
import {
  balancesOf,
  checkGas,
  checkTokens,
  type Payer,
  priceFor,
  priceToReplace,
  rehearse,
  usualCost,
  withMargin,
} from './preflight.ts';
import { isSettledElsewhere, refusalKind } from './refusals.ts';
import { buildUnsigned, type Call, type GasPrice, noOrder, transferCall } from './transaction.ts';

/** A payout rail that can also build calls other than transfers. */
export interface EvmPayoutRail extends PayoutRail {
  /** A call from the treasury that orders no transfer. @throws RpcFailed when it would revert */
  prepareCall(call: Call, nonce: bigint): Promise<Unsigned>;
}

/**
 * Transfers of tokens from the treasury account of one EVM chain.
 * @param account the treasury; its key is with the signer
 */
export function createEvmPayoutRail(
  config: EvmChainConfig,
  account: Address,
  rpc: EvmRpc = createEvmRpc(config),
): EvmPayoutRail {
  const { chainId, fees, depths } = config;
  const urgent = rpc.as('payout');
  const payer: Payer = { chain: chainOf(chainId), account };

  async function price(node: EvmNode): Promise<GasPrice> {
    const [latest, tip] = await Promise.all([knownHeader(node, 'latest'), suggestedTip(node)]);
    return priceFor(latest.baseFee_wei, tip, fees);
  }

  async function build(node: EvmNode, order: TransferOrder, nonce: bigint, replaces?: SignedAttempt) {
    await checkTokens(node, payer, order);
    const gas = await rehearse(node, payer, order, fees);
    const fresh = await price(node);
    const chosen = replaces ? priceToReplace(replaces, fresh, fees) : fresh;
    await checkGas(node, payer, gas, chosen);
    return buildUnsigned({ account, nonce, order, call: transferCall(order), gas, price: chosen });
  }

  async function prepareCall(call: Call, nonce: bigint, outbid?: Pick<SignedAttempt, 'fee'>): Promise<Unsigned> {
    return rpc.answer(async (node) => {
      const gas = withMargin(await gasNeeded(node, { from: account, ...call }));
      const order = noOrder(payer.chain, account);
      const fresh = await price(node);
      const chosen = outbid ? priceToReplace(outbid, fresh, fees) : fresh;
      return buildUnsigned({ account, nonce, order, call, gas, price: chosen });
    });
  }

  return {
    chainId,
    account,
    prepareCall,
    prepareCancel: (nonce, _, outbid) => prepareCall({ to: account, data: '0x' }, nonce, outbid),

    async prepare(order, nonce, replaces) {
      assert(nonce !== null, 'an EVM transfer has a nonce');
      assert(order.chainId === chainId, `this rail serves chain ${chainId}`);
      return rpc.answer((node) => build(node, order, nonce, replaces));
    },

    numbered: (unsigned, nonce) => ({ ...unsigned, nonce }),

    broadcast: (bytes) => broadcastTo(urgent, bytes as Hex),
    refusalKind,

    async fate(attempts, signal) {
      const [nonce, ...others] = new Set(attempts.map((attempt) => attempt.nonce));
      assert(typeof nonce === 'string' && others.length === 0, 'attempts that share a fate share a nonce');
      return fateOf(urgent, { account, nonce: BigInt(nonce), attempts }, depths, signal);
    },

    canLand: async ({ nonce }, signal) =>
      !(await allDeny(rpc, async (node) => (await finalNonce(node, account, depths)) <= BigInt(nonce ?? 0), signal)),

    stillFinal: async (settled, signal) => !(await allDeny(rpc, (node) => isOnChain(node, settled), signal)),

    minedNonce: (signal) => rpc.answer((node) => nonceAt(node, account, 'latest'), signal),

    transferCost: (signal) =>
      rpc.answer(async (node) => {
        const [latest, tip] = await Promise.all([knownHeader(node, 'latest'), suggestedTip(node)]);
        return usualCost(latest.baseFee_wei, tip, fees);
      }, signal),

    balances: (signal) => rpc.answer((node) => balancesOf(node, payer), signal),
  };
}

/** @throws ChainUnavailable, BroadcastRefused as `sendToAll` does */
function broadcastTo(rpc: EvmRpc, bytes: Hex): Promise<void> {
  return sendToAll(rpc, async (node) => {
    try {
      await node.request('eth_sendRawTransaction', [bytes]);
    } catch (error) {
      const refused = error instanceof RpcFailed && error.kind === 'refused';
      if (!refused || !isSettledElsewhere(refusalKind(error.detail))) throw error;
    }
  });
}
