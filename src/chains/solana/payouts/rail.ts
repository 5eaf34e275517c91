import { assert } from '../../../../domain/decider.ts';
import { rescale } from '../../../../domain/money.ts';
import { checkForm } from '../../forms.ts';
import { checkCoin, checkFloat } from '../../money/spending.ts';
import { allDeny, wholeTokens } from '../../node/agreement.ts';
import { type ChainNode, RpcFailed } from '../../node/jsonRpc.ts';
import { type ChainRpc, sendToAll } from '../../node/nodes.ts';
import { PayoutBlocked, type PayoutRail, type TransferOrder, type Unsigned } from '../../ports.ts';
import { type SolanaConfig, solanaChain, solanaChainId, tokenAccountRent } from '../config.ts';
import { type AsOf, accountsOf, latestBlockhash } from '../reads.ts';
import { createSolanaRpc, type SolanaNode, type SolanaRpc } from '../rpc.ts';
import { tokenAccountIn, tokenAccountOf } from '../tokenProgram.ts';
import { canLandAt, fateOf } from './fate.ts';
import { buildFlush } from './flushing.ts';
import { feeOf, freshPrice, obstacle, rehearse, spendableIn, spendableLamports } from './preflight.ts';
import type { PayoutReference } from './references.ts';
import { type SolanaPayload, type Terms, transferMessage } from './transaction.ts';
import { createUnpaidCheck } from './unpaid.ts';

/** Left above what a rehearsal used: the receiver may close its token account meanwhile, and creating it takes some. */
const unitsMargin = 30_000;

/**
 * Transfers of tokens from the treasury wallet on Solana. There are no nonces: what is signed is valid for a minute or so, and until it is
 * final or provably dead nothing else is signed for the same purpose.
 */
export function createSolanaPayoutRail(
  config: SolanaConfig,
  referenceOf: PayoutReference,
  rpc: SolanaRpc = createSolanaRpc(config),
): PayoutRail {
  const { treasury: account, fees } = config;

  const checkUnpaid = createUnpaidCheck(account);

  async function build(node: SolanaNode, order: TransferOrder, reference: string): Promise<Unsigned> {
    const { address: mint } = order.token;
    const [source, destination] = [tokenAccountOf(account, mint), tokenAccountOf(order.receiver, mint)];
    const asked = [account, source, order.receiver, destination];
    const { slot, accounts } = await accountsOf(node, asked, { commitment: 'confirmed' });
    const [wallet, float, receiver, held] = accounts;
    checkFloat(spendableIn(float), account, order);
    const why = obstacle(order.receiver, receiver, held);
    if (why !== undefined) throw new PayoutBlocked('refusedByToken', why);
    const missing = tokenAccountIn(held) === undefined;
    if (missing && order.opensAccount === false) throw new PayoutBlocked('refusedByToken', closedSince(order));

    const isSecret = order.referenceOrdinal !== undefined;
    const { earlier = [] } = order;
    await checkUnpaid(rpc, { reference, isSecret, earlier, mint, usd: rescale(order.amount, order.token.decimals, 0) });
    const written = [source, destination];
    const price_microLamports = await freshPrice(rpc, written, fees, { attemptsBefore: earlier.length });
    const asOf: AsOf = { commitment: 'confirmed', minContextSlot: slot };
    // The newest confirmed one: a final one would be a third of its life old.
    const { slot: newest, blockhash, lastValidBlockHeight } = await latestBlockhash(node, asOf);
    const terms: Terms = { blockhash, units: fees.unitsMax, price_microLamports };
    const most = feeOf(fees.unitsMax, price_microLamports, 1) + (missing ? tokenAccountRent : 0n);
    checkCoin(spendableLamports(wallet), account, { chainId: solanaChainId, unit: 'lamports', most });
    const rehearsed = transferMessage(account, order, reference, terms);
    const used = await rehearse(node, rehearsed, 1, { ...asOf, minContextSlot: newest });
    const units = Math.min(used + unitsMargin, fees.unitsMax);
    const fee = feeOf(units, price_microLamports, 1);
    const message = transferMessage(account, order, reference, { ...terms, units });
    const payload: SolanaPayload = { message: Buffer.from(message).toString('base64') };
    return {
      chainId: solanaChainId,
      account,
      nonce: null,
      order,
      validUntil: lastValidBlockHeight.toString(),
      fee: {
        maxFee: fee.toString(),
        units: String(units),
        price_microLamports: price_microLamports.toString(),
        ...(missing && { rent: tokenAccountRent.toString() }),
      },
      payload,
    };
  }

  const urgent = rpc.as('payout');
  const broadcast = createBroadcast(urgent);

  return {
    chainId: solanaChainId,
    account,

    async prepare(order, nonce, replaces) {
      assert(nonce === null, 'Solana has no nonces');
      assert(replaces === undefined, 'on Solana nothing is signed again before what was signed is dead');
      assert(order.chainId === solanaChainId, 'this rail serves Solana');
      checkForm(order, 'flush');
      if (order.form?.kind === 'flush') return rpc.answer((node) => buildFlush(node, rpc, config, order));
      const reference = referenceOf(order);
      return rpc.answer((node) => build(node, order, reference));
    },

    numbered() {
      assert(false, 'Solana has no nonces');
    },

    async prepareCancel() {
      assert(false, 'Solana has no nonces to cancel');
    },

    broadcast,

    async fate(attempts, signal) {
      const [attempt, ...others] = attempts;
      assert(attempt !== undefined && others.length === 0, 'on Solana one attempt at most can land at a time');
      return fateOf(urgent, attempt, wholeTokens(attempt), signal);
    },

    canLand: async (attempt, signal) => !(await allDeny(rpc, (node) => canLandAt(node, attempt), signal)),

    // What is final on Solana stays.
    stillFinal: async () => true,

    minedNonce: async () => null,

    async transferCost(signal) {
      const floats = solanaChain().tokens.map(({ address }) => tokenAccountOf(account, address));
      return feeOf(fees.unitsUsual, await freshPrice(rpc, floats, fees, { signal }), 1);
    },

    receiverCost: ({ token, receiver }, signal) =>
      rpc.answer(async (node) => {
        const { accounts } = await accountsOf(node, [tokenAccountOf(receiver, token.address)], {
          commitment: 'confirmed',
        });
        const opensAccount = tokenAccountIn(accounts[0]) === undefined;
        return { coin: opensAccount ? tokenAccountRent : 0n, opensAccount };
      }, signal),

    balances: (signal) =>
      rpc.answer(async (node) => {
        const mints = solanaChain().tokens.map(({ address }) => address);
        const asked = [account, ...mints.map((mint) => tokenAccountOf(account, mint))];
        const { accounts } = await accountsOf(node, asked, { commitment: 'confirmed' });
        const [wallet, ...floats] = accounts;
        const tokens = Object.fromEntries(mints.map((mint, at) => [mint, spendableIn(floats[at])]));
        return { gas: spendableLamports(wallet), tokens };
      }, signal),
  };
}

const closedSince = ({ receiver, token }: TransferOrder): string =>
  `${receiver} has closed its account for ${token.symbol} since the payment was made, whose fee pays for no other: it must open one`;

const method = 'sendTransaction';

/** Refusals of a transaction that has landed, or whose blockhash is too old. What became of it its fate tells. */
const resolvedElsewhere = /already been processed|AlreadyProcessed|blockhash not found|BlockhashNotFound/i;
/** The node is behind, or misses a slot: it cannot tell. */
const unhealthy: ReadonlySet<number | undefined> = new Set([-32005, -32016]);

/** Sent bytes to remember. Beyond that all are forgotten and take a preflight once more, which does no harm. */
const rememberedMax = 10_000;

/**
 * Sends bytes with a preflight, which tells what would fail, until a node has taken them. From then on without: a preflight calls a
 * transaction that the node knows already a failure. Nodes do not send again by themselves; the worker does.
 * @returns a function that throws ChainUnavailable, BroadcastRefused as `sendToAll` does
 */
export function createBroadcast(rpc: ChainRpc): (bytes: string) => Promise<void> {
  const taken = new Set<string>();
  return async (bytes) => {
    const skipPreflight = taken.has(bytes);
    await sendToAll(rpc, (node) => sendTo(node, bytes, skipPreflight));
    if (taken.size >= rememberedMax) taken.clear();
    taken.add(bytes);
  };
}

async function sendTo(node: ChainNode, bytes: string, skipPreflight: boolean): Promise<void> {
  const config = { encoding: 'base64', skipPreflight, preflightCommitment: 'confirmed', maxRetries: 0 };
  try {
    await node.request(method, [bytes, config]);
  } catch (error) {
    if (!(error instanceof RpcFailed) || error.kind !== 'refused') throw error;
    if (unhealthy.has(error.code)) throw new RpcFailed(node.name, method, 'unreachable', error.detail, error.code);
    if (!resolvedElsewhere.test(error.detail)) throw error;
  }
}
