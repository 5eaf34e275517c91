import { type FeeBumpTransaction, Memo, type Transaction, TransactionBuilder, xdr } from '@stellar/stellar-sdk';
import { heldTokens } from '../../../../domain/chains.ts';
import { assert } from '../../../../domain/decider.ts';
import type { AssetRef, SignedAttempt } from '../../../../domain/transfer/shapes.ts';
import { higher } from '../../../lib/concurrency.ts';
import { checkForm } from '../../family.ts';
import { checkCoin, checkCoinFloat, checkFloat } from '../../money/spending.ts';
import { allDeny } from '../../node/agreement.ts';
import { ask, object } from '../../node/jsonRpc.ts';
import { sendToAll } from '../../node/nodes.ts';
import {
  type EntryOrder,
  type NumberingAccount,
  PayoutBlocked,
  type PayoutRail,
  type SequenceNumbering,
  type TransferOrder,
  type Unsigned,
} from '../../ports.ts';
import { type Account, accountsOf, type Holding, holdingOf, payableThrough } from '../accounts.ts';
import { accountOf } from '../addresses.ts';
import { isEntryOrder } from '../authorization.ts';
import { callsProtocol, checkProtocolCall } from '../cctp.ts';
import { type StellarConfig, stellarChain, stellarChainId } from '../config.ts';
import { ledgerRange } from '../reads.ts';
import { createStellarRpc, RpcFailed, type StellarNode, type StellarRpc } from '../rpc.ts';
import { assetOf } from '../tokens.ts';
import { checkSend, isSend } from '../usdt0.ts';
import { fateOf } from './fate.ts';
import { checkReceiver, freshInclusion, inclusionToReplace, rehearse } from './preflight.ts';
import { checkEntry } from './relay.ts';
import {
  actingFor,
  actOf,
  buildTransaction,
  innermost,
  noOrder,
  nothing,
  renumbered,
  unsignedOf,
} from './transaction.ts';

/** Transfers from the treasury account on Stellar. A nonce is a sequence number: the account's last one plus one is next. */
export const createStellarPayoutRail = (
  config: StellarConfig,
  rpc: StellarRpc = createStellarRpc(config),
): PayoutRail<SequenceNumbering> => railOf(config, rpc, ['coin', 'anchor', 'burn', 'mint', 'allow', 'oftSend']).rail;

/**
 * Sends payers' authorization entries from the relay account, and nothing else.
 * @returns the rail, and the maximum present cost of a relay on a node, in stroops; that throws PayoutBlocked as `prepare` does
 */
export const createStellarRelayRail = (config: StellarConfig, account: string, rpc: StellarRpc) =>
  railOf({ ...config, treasury: account, channels: [] }, rpc, ['authorizationEntry']);

function railOf(config: StellarConfig, rpc: StellarRpc, forms: readonly FormKind[]) {
  const { treasury: account, channels, networkPassphrase, fees } = config;
  const urgent = rpc.as('payout');

  /** The treasury's balances of lumens and of the tokens, in order. */
  async function treasuryHolding(
    node: StellarNode,
    tokens: readonly AssetRef[],
  ): Promise<Holding & { readonly account: Account }> {
    const found = await holdingOf(node, account, tokens.map(assetOf));
    if (found.account) return { ...found, account: found.account };
    throw unknownTreasury(node);
  }

  const unknownTreasury = (node: StellarNode): RpcFailed =>
    new RpcFailed(node.name, 'getLedgerEntries', 'refused', `the treasury ${account} does not exist on Stellar`);

  async function build(node: StellarNode, order: TransferOrder, nonce: bigint, numberedBy: string): Promise<Unsigned> {
    const toContract =
      isEntryOrder(order) || callsProtocol(order) || isSend(order) || accountOf(order.receiver) === undefined;
    const inclusion = await freshInclusion(node, toContract ? 'sorobanInclusionFee' : 'inclusionFee', fees);
    const { ledger, ...dated } = await terms(node);
    const building = { ...dated, account: numberedBy, nonce, inclusion };
    const { operation, memo } = actOf(order, account, { networkPassphrase, ledger });
    const plain = buildTransaction({ operation: actingThrough(numberedBy, operation), memo }, building);
    const { assembled, resources } = toContract
      ? await rehearse(node, plain, fees).catch((error: unknown) => endIfRelay(order, error))
      : { assembled: plain, resources: 0n };
    return unsignedOf(order, building, paidFor(assembled, inclusion), { inclusion, resources });
  }

  /** The treasury acts in every transaction, whichever account numbers it. */
  const actingThrough = (numberedBy: string, operation: xdr.Operation): xdr.Operation =>
    numberedBy === account ? operation : actingFor(account, operation);

  /** The treasury pays the fee of a channel's transaction by a fee bump, so channels need no lumens. */
  const paidFor = (inner: Transaction, inclusion: bigint): Transaction | FeeBumpTransaction =>
    inner.source === account
      ? inner
      : TransactionBuilder.buildFeeBumpTransaction(account, inclusion.toString(), inner, networkPassphrase);

  /** The network compares time bounds with its own clock, so they are counted from the latest ledger. */
  async function terms(node: StellarNode) {
    const { latest } = await ledgerRange(node);
    return { networkPassphrase, ledger: latest.ledger, validUntil_s: latest.closedAt_s + config.validity_s };
  }

  /** Wraps the same transaction in a fee bump with a higher offer: only one of the two can land. */
  async function wrap(
    node: StellarNode,
    order: TransferOrder,
    nonce: bigint,
    replaced: SignedAttempt,
  ): Promise<Unsigned> {
    const inner: Transaction = innermost(replaced.bytes, networkPassphrase);
    const resources = BigInt(replaced.fee['resources'] ?? '0');
    const fresh = await freshInclusion(node, resources > 0n ? 'sorobanInclusionFee' : 'inclusionFee', fees);
    const inclusion = inclusionToReplace(replaced, fresh, fees);
    const bump = TransactionBuilder.buildFeeBumpTransaction(account, inclusion.toString(), inner, networkPassphrase);
    const validUntil_s = Number(replaced.validUntil ?? 0);
    return unsignedOf(order, { account: replaced.account, nonce, validUntil_s }, bump, { inclusion, resources });
  }

  /** A replacement is not checked again: its number has to be used, whatever the state of the entry. */
  async function prepareRelay(
    node: StellarNode,
    order: EntryOrder,
    nonce: bigint,
    replaces?: SignedAttempt,
  ): Promise<Unsigned> {
    const { account: lumens } = await treasuryHolding(node, []);
    if (!replaces) await checkEntry(node, order, networkPassphrase);
    const unsigned = replaces ? await wrap(node, order, nonce, replaces) : await build(node, order, nonce, account);
    const most = BigInt(unsigned.fee['maxFee'] ?? '0');
    if (!replaces && most > BigInt(order.form.costMax)) {
      const message = `it would cost ${most} stroops, and ${order.form.costMax} were reserved: it waits for lower fees`;
      throw new PayoutBlocked('gas', message);
    }
    checkCoin(lumens.spendable, account, { chainId: stellarChainId, unit: 'stroops', most });
    return unsigned;
  }

  async function costOf(node: StellarNode, order: EntryOrder): Promise<bigint> {
    const { account: lumens } = await treasuryHolding(node, []);
    await checkEntry(node, order, networkPassphrase);
    const { fee } = await build(node, order, lumens.sequence + 1n, account);
    return BigInt(fee['maxFee'] ?? '0');
  }

  const rail: PayoutRail<SequenceNumbering> = {
    chainId: stellarChainId,
    account,

    numbering: {
      kind: 'sequence',

      async minedNonce(signal) {
        // A lagging node returns a number that is too low.
        const sequences = await rpc
          .as('payout')
          .allSoon(async (node) => (await treasuryHolding(node, [])).account.sequence, signal);
        return sequences.reduce(higher) + 1n;
      },

      async accounts(signal) {
        const told = await urgent.allSoon(async (node) => {
          const found = await accountsOf(node, [account, ...channels]);
          if (!found.has(account)) throw unknownTreasury(node);
          return found;
        }, signal);
        // A lagging node returns a number that is too low, and may call a used account unused. A number that is too high stops payouts,
        // with an alarm.
        const sequencesOf = (each: string) => told.flatMap((found) => found.get(each)?.sequence ?? []);
        return [account, ...channels].flatMap((each) => {
          const sequences = sequencesOf(each);
          return sequences.length > 0 ? [numberingAccountOf(each, sequences.reduce(higher))] : [];
        });
      },

      async prepare(order, nonce, replaces, numberedBy = account) {
        assert(order.chainId === stellarChainId, 'this rail serves Stellar');
        assert(isEntryOrder(order) === forms.includes('authorizationEntry'), 'relays alone are sent by their account');
        checkForm(order, ...forms);
        if (isEntryOrder(order)) return rpc.answer((node) => prepareRelay(node, order, nonce, replaces));
        return rpc.answer(async (node) => {
          const isCoin = order.form?.kind === 'coin';
          const sendsAlong = order.form?.kind === 'oftSend' ? BigInt(order.form.messageFee) : 0n;
          const usesToken = order.form === undefined || order.form.kind === 'burn' || isSend(order);
          const { account: lumens, trustlines } = await treasuryHolding(node, usesToken ? [order.token] : []);
          if (isCoin || usesToken) {
            checkFloat(isCoin ? lumens.spendable : payableThrough(trustlines[0]), account, order);
            // The receiver of a send is the issuer, which destroys the tokens.
            if (!isSend(order)) await checkReceiver(node, order);
          }
          if (!replaces) await checkProtocolCall(node, order, { account, networkPassphrase });
          if (!replaces && isSend(order)) await checkSend(node, order, { account, networkPassphrase });
          const unsigned = replaces
            ? await wrap(node, order, nonce, replaces)
            : await build(node, order, nonce, numberedBy);
          const most = BigInt(unsigned.fee['maxFee'] ?? '0') + sendsAlong;
          if (isCoin) checkCoinFloat(lumens.spendable, account, order, { most });
          else checkCoin(lumens.spendable, account, { chainId: stellarChainId, unit: 'stroops', most });
          return unsigned;
        });
      },

      numbered: renumbered,

      prepareCancel: (nonce, numberedBy = account, outbid) =>
        rpc.answer(async (node) => {
          const fresh = await freshInclusion(node, 'inclusionFee', fees);
          const inclusion = outbid ? inclusionToReplace(outbid, fresh, fees) : fresh;
          const building = { account: numberedBy, networkPassphrase, nonce, inclusion, validUntil_s: 0 };
          const transaction = buildTransaction(
            { operation: actingThrough(numberedBy, nothing()), memo: Memo.none() },
            building,
          );
          return unsignedOf(noOrder(account), building, paidFor(transaction, inclusion), { inclusion, resources: 0n });
        }),
    },

    broadcast: (bytes) => broadcastTo(urgent, bytes),

    async fate(attempts, signal) {
      const [nonce, ...others] = new Set(attempts.map((attempt) => attempt.nonce));
      assert(typeof nonce === 'string' && others.length === 0, 'attempts that share a fate share a sequence number');
      const { account: numberedBy = account } = attempts[0] ?? {};
      const contenders = { account: numberedBy, nonce: BigInt(nonce), treasury: account, networkPassphrase, attempts };
      return fateOf(urgent, contenders, signal);
    },

    async canLand({ account: numberedBy, nonce }, signal) {
      const isFree = async (node: StellarNode) => {
        const { account: found } = await holdingOf(node, numberedBy, []);
        return found === undefined || found.sequence < BigInt(nonce ?? 0);
      };
      return !(await allDeny(rpc, isFree, signal));
    },

    // A closed ledger is final.
    stillFinal: async () => true,

    // For a channel's transaction the fee bump counts as one more operation.
    transferCost: (signal) =>
      rpc.answer(async (node) => 2n * (await freshInclusion(node, 'inclusionFee', fees)), signal),

    receiverCost: async ({ receiver }) => ({ coin: accountOf(receiver) === undefined ? fees.resourcesUsual : 0n }),

    balances: (signal) =>
      rpc.answer(async (node) => {
        const tokens = heldTokens(stellarChain());
        const { account: lumens, trustlines } = await treasuryHolding(node, tokens);
        const held = tokens.map(({ address }, at) => [address, payableThrough(trustlines[at])]);
        return { gas: lumens.spendable, tokens: Object.fromEntries(held) };
      }, signal),
  };
  return { rail, costOf };
}

type FormKind = NonNullable<TransferOrder['form']>['kind'];

/** A call that the network refuses ends a relay: no later try lands. @throws the error */
function endIfRelay(order: TransferOrder, error: unknown): never {
  if (isEntryOrder(order) && error instanceof PayoutBlocked && error.reason === 'refusedByToken')
    throw new PayoutBlocked('refusedByToken', error.message, 'refused');
  throw error;
}

/** A new account's sequence is the number of its first ledger, shifted by 32 bits. */
const numberingAccountOf = (account: string, sequence: bigint): NumberingAccount => ({
  account,
  minedNonce: sequence + 1n,
  unused: (sequence & 0xffff_ffffn) === 0n,
});

/**
 * Refusals that are no error of the attempt; the fate check decides. The sequence number is used up, or an earlier one has not landed yet;
 * the time bound has passed; the offer is too low and will be raised.
 */
const resolvedElsewhere: ReadonlySet<string> = new Set(['txBadSeq', 'txTooLate', 'txInsufficientFee']);

/**
 * PENDING and DUPLICATE: the node has the transaction. TRY_AGAIN_LATER: the node has another transaction of the account, or too many in
 * all; this one is resent anyway until it appears on the chain.
 * @throws ChainUnavailable, BroadcastRefused as `sendToAll` does
 */
function broadcastTo(rpc: StellarRpc, bytes: string): Promise<void> {
  const method = 'sendTransaction';
  return sendToAll(rpc, async (node) => {
    const { status, errorResultXdr } = await ask(node, method, { transaction: bytes }, object);
    if (status !== 'ERROR') return;
    const code = resultCodeOf(String(errorResultXdr ?? ''));
    if (!resolvedElsewhere.has(code)) throw new RpcFailed(node.name, method, 'refused', code);
  });
}

/** Name of the result; for a fee bump, the result of the wrapped transaction. */
export function resultCodeOf(resultXdr: string): string {
  try {
    const result = xdr.TransactionResult.fromXDR(resultXdr, 'base64').result();
    const name = result.switch().name;
    return name === 'txFeeBumpInnerFailed' ? result.innerResultPair().result().result().switch().name : name;
  } catch {
    return 'refused without a reason';
  }
}
