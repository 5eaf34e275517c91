/** Relays on one EVM chain: a rail of the relay account, and queries about authorizations. */
import type { Address } from 'viem';
import { chainOf } from '../../../domain/chains.ts';
import { assert } from '../../../domain/decider.ts';
import type { AuthorizationDomain, Relaying } from '../ports.ts';
import { accountIn } from './addresses.ts';
import { acceptedSignature, knownDomain, nonceFrom, separatorOf, wordIn } from './authorization.ts';
import { type EvmChainConfig, networkId } from './config.ts';
import { isRevert } from './payouts/preflight.ts';
import { createEvmRelayRail, isAuthorization } from './payouts/rail.ts';
import { separatorAt } from './payouts/relay.ts';
import type { EvmNode, EvmRpc } from './rpc.ts';

export function createEvmRelaying(config: EvmChainConfig, account: Address, rpc: EvmRpc): Relaying {
  const { chainId } = config;
  const chain = chainOf(chainId);
  const { rail, costOf } = createEvmRelayRail(config, account, rpc);
  /** Contracts whose separator was found to fit. It does not change while the contract keeps its name and its chain. */
  const fitting = new Set<string>();

  async function isAsKnown(token: string, domain: AuthorizationDomain, signal: AbortSignal): Promise<boolean> {
    if (fitting.has(token)) return true;
    // One node that differs is enough to offer nothing: with a wrong domain, payers would sign texts that the token refuses.
    const said = await rpc.allSoon((node) => separatorOrNone(node, token), signal);
    const same = said.every((separator) => separator === separatorOf(chain, token, domain));
    if (same) fitting.add(token);
    return same;
  }

  return {
    rail,
    network: `eip155:${networkId(chainId)}`,
    async termsOf({ address }, signal) {
      const domain = knownDomain(chain, address);
      if (!domain || !(await isAsKnown(address, domain, signal))) return null;
      return { kind: 'eip712', networkId: networkId(chainId), domain };
    },
    assetOf: ({ address }) => address,
    receiverOf: ({ address }) => address,
    depositIn(receiver) {
      const address = accountIn(receiver);
      return address === null ? null : { address, memo: null };
    },
    signatureOf: async (authorization, terms, signature) =>
      terms.kind === 'eip712' ? acceptedSignature(chainId, authorization, terms.domain, signature) : null,
    nonceIn: wordIn,
    nonceOf: nonceFrom,
    accountOf: accountIn,
    async simulate(order, signal) {
      assert(
        order.chainId === chainId && isAuthorization(order),
        `this relay sends authorizations on chain ${chainId}`,
      );
      return { fee: await rpc.answer((node) => costOf(node, order), signal), rent: 0n };
    },
  };
}

async function separatorOrNone(node: EvmNode, token: string): Promise<string | null> {
  return separatorAt(node, token).catch((error) => {
    if (isRevert(error)) return null;
    throw error;
  });
}
