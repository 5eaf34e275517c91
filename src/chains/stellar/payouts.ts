import { type Transaction, TransactionBuilder } from '@stellar/stellar-sdk';
import { assert } from '../../../domain/decider.ts';
import type { SignedAttempt } from '../../../domain/payment/events.ts';
import type { PayoutRail, TransferOrder, Unsigned } from '../ports.ts';
import { type Holding, holdingOf } from './accounts.ts';
import { accountOf } from './addresses.ts';
import { broadcastTo } from './broadcast.ts';
import { type StellarConfig, stellarChainId, stellarToken } from './config.ts';
import { fateOf } from './fate.ts';
import { freshInclusion, inclusionToReplace } from './fees.ts';
import { checkFloat, checkLumens, checkReceiver, rehearse } from './preflight.ts';
import { ledgerRange } from './reads.ts';
import { ChainUnavailable, createStellarRpc, RpcFailed, type StellarNode, type StellarRpc } from './rpc.ts';
import { type Building, buildTransaction, innermost, noOrder, nothing, transferOf, unsignedOf } from './transaction.ts';

/** Preparing is not aborted: each of its calls has its own time limit. */
const unaborted = new AbortController().signal;

/** Transfers of USDC from the treasury account on Stellar. A nonce is a sequence number: the account's own plus one is next. */
export function createStellarPayoutRail(config: StellarConfig, rpc: StellarRpc = createStellarRpc(config)): PayoutRail {
  const { treasury: account, networkPassphrase, fees } = config;
  const held = stellarToken(networkPassphrase);

  async function answer<T>(ask: (node: StellarNode) => Promise<T>, signal: AbortSignal): Promise<T> {
    const found = await rpc.first(ask, signal);
    if (found === undefined) throw new ChainUnavailable(stellarChainId, []);
    return found;
  }

  async function holding(node: StellarNode, signal: AbortSignal): Promise<Holding & { readonly sequence: bigint }> {
    const found = await holdingOf(node, account, held.asset, signal);
    if (found.account) return { ...found, sequence: found.account.sequence };
    throw new RpcFailed(node.name, 'getLedgerEntries', 'refused', `the treasury ${account} does not exist on Stellar`);
  }

  async function build(node: StellarNode, order: TransferOrder, nonce: bigint): Promise<Unsigned> {
    const toContract = accountOf(order.receiver) === undefined;
    const inclusion = await freshInclusion(node, toContract ? 'sorobanInclusionFee' : 'inclusionFee', fees, unaborted);
    const building = { ...(await terms(node)), nonce, inclusion };
    const plain = buildTransaction(transferOf(order, account, held.contract), order.receiverMemo, building);
    const { assembled, resources } = toContract
      ? await rehearse(node, plain, fees, unaborted)
      : { assembled: plain, resources: 0n };
    return unsignedOf(order, building, assembled, { inclusion, resources });
  }

  /** The clock that decides how long a transaction is valid is the network's. */
  async function terms(node: StellarNode): Promise<Omit<Building, 'nonce' | 'inclusion'>> {
    const { latest } = await ledgerRange(node, unaborted);
    return { account, networkPassphrase, validUntil_s: latest.closedAt_s + config.validity_s };
  }

  /** The same transaction in an envelope that offers more: whichever of them lands, it lands once. */
  async function wrap(
    node: StellarNode,
    order: TransferOrder,
    nonce: bigint,
    replaced: SignedAttempt,
  ): Promise<Unsigned> {
    const inner: Transaction = innermost(replaced.bytes, networkPassphrase);
    const resources = BigInt(replaced.fee['resources'] ?? '0');
    const fresh = await freshInclusion(node, resources > 0n ? 'sorobanInclusionFee' : 'inclusionFee', fees, unaborted);
    const inclusion = inclusionToReplace(replaced, fresh, fees);
    const bump = TransactionBuilder.buildFeeBumpTransaction(account, inclusion.toString(), inner, networkPassphrase);
    const validUntil_s = Number(replaced.validUntil ?? 0);
    return unsignedOf(order, { account, nonce, validUntil_s }, bump, { inclusion, resources });
  }

  return {
    chainId: stellarChainId,
    account,

    async prepare(order, nonce, replaces) {
      assert(nonce !== null, 'a Stellar transfer has a sequence number');
      assert(order.chainId === stellarChainId, 'this rail serves Stellar');
      return answer(async (node) => {
        const holds = await holding(node, unaborted);
        checkFloat(holds, account, order);
        await checkReceiver(node, held, order, unaborted);
        const unsigned = replaces ? await wrap(node, order, nonce, replaces) : await build(node, order, nonce);
        checkLumens(holds, account, BigInt(unsigned.fee['maxFee'] ?? '0'));
        return unsigned;
      }, unaborted);
    },

    prepareCancel: (nonce) =>
      answer(async (node) => {
        const inclusion = await freshInclusion(node, 'inclusionFee', fees, unaborted);
        const building = { account, networkPassphrase, nonce, inclusion, validUntil_s: 0 };
        const transaction = buildTransaction(nothing(), null, building);
        return unsignedOf(noOrder(account), building, transaction, { inclusion, resources: 0n });
      }, unaborted),

    broadcast: (bytes) => broadcastTo(rpc, bytes),

    async fate(attempts, signal) {
      const [nonce, ...others] = new Set(attempts.map((attempt) => attempt.nonce));
      assert(typeof nonce === 'string' && others.length === 0, 'attempts that share a fate share a sequence number');
      return fateOf(rpc, { account, asset: held.asset, nonce: BigInt(nonce), attempts }, signal);
    },

    // A closed ledger is final.
    stillFinal: async () => true,

    minedNonce: (signal) => answer(async (node) => (await holding(node, signal)).sequence + 1n, signal),

    balances: (signal) =>
      answer(async (node) => {
        const { account: lumens, trustline } = await holding(node, signal);
        const usable = trustline?.authorized ? trustline.spendable : 0n;
        return { gas: lumens?.spendable ?? 0n, tokens: { [held.token.address]: usable } };
      }, signal),
  };
}
