import { assert } from '../../../../domain/decider.ts';
import { formatAmount } from '../../../../domain/money.ts';
import { checkForm } from '../../family.ts';
import { checkCoin, checkCoinFloat, checkFloat } from '../../money/spending.ts';
import { allDeny, wholeTokens } from '../../node/agreement.ts';
import { type ChainNode, RpcFailed } from '../../node/jsonRpc.ts';
import { type ChainRpc, sendToAll } from '../../node/nodes.ts';
import {
  type ExpiringNumbering,
  PayoutBlocked,
  type PayoutRail,
  type TransferOrder,
  type Unsigned,
} from '../../ports.ts';
import { type SolanaConfig, solanaChain, solanaChainId, tokenAccountRent } from '../config.ts';
import { accountsOf, latestBlockhash, type RawAccount, type ReadContext } from '../reads.ts';
import { createSolanaRpc, type SolanaNode, type SolanaRpc } from '../rpc.ts';
import { tokenAccountIn, tokenAccountOf } from '../tokenProgram.ts';
import { canLandAt, createUnpaidCheck, fateOf } from './fate.ts';
import { feeOf, freshPrice, obstacle, rehearse, spendableIn, spendableLamports, unsignedOf } from './preflight.ts';
import { createRebalancing, isRebalance } from './rebalancing.ts';
import {
  coinMessage,
  type PayoutReference,
  sweepMessage,
  type TransactionTerms,
  transferMessage,
} from './transaction.ts';

// Sends signed bytes until a node has them.

const method = 'sendTransaction';

/** Refusals of a transaction that has landed, or whose blockhash is too old. The fate check decides. */
const resolvedElsewhere = /already been processed|AlreadyProcessed|blockhash not found|BlockhashNotFound/i;
/** The node is behind, or lacks a slot: it cannot answer. */
const unhealthy: ReadonlySet<number | undefined> = new Set([-32005, -32016]);

/** Maximum remembered bytes. Beyond it all are forgotten and preflighted once more, which is harmless. */
const rememberedMax = 10_000;

/**
 * Sends bytes with a preflight, which reports failures, until a node has accepted them. Then without one: a preflight treats a known
 * transaction as a failure. Nodes do not resend; the worker does.
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

// A sweep of one deposit before its signature: its whole balance goes to the treasury with its rent, or nothing does.

const flushUnitsMargin = 5_000;
/** The treasury and the deposit's owner sign. */
const signers = 2;

/**
 * The order contains the deposit's exact balance at the time of the check: a different balance means an unexamined receipt, and a later
 * receipt makes the whole transaction fail.
 * @throws PayoutBlocked
 */
export async function buildFlush(
  node: SolanaNode,
  rpc: SolanaRpc,
  { treasury, fees }: Pick<SolanaConfig, 'treasury' | 'fees'>,
  order: TransferOrder,
): Promise<Unsigned> {
  const { token, amount, form } = order;
  const [deposit, ...others] = form?.kind === 'flush' ? form.deposits : [];
  assert(deposit !== undefined && others.length === 0, 'a sweep on Solana takes one deposit');
  const { address: owner, salt } = deposit;
  const account = tokenAccountOf(owner, token.address);
  const { slot, accounts } = await accountsOf(node, [treasury, account], { commitment: 'finalized' });
  const [wallet, found] = accounts;
  checkHeld(tokenAccountIn(found)?.amount, order);

  const price_microLamports = await freshPrice(rpc, [account], fees);
  const asOf: ReadContext = { commitment: 'confirmed', minContextSlot: slot };
  const { slot: newest, blockhash, lastValidBlockHeight } = await latestBlockhash(node, asOf);
  const terms: TransactionTerms = { blockhash, units: fees.unitsMax, price_microLamports };
  const deposited = { owner, token, amount };
  const rehearsed = sweepMessage(treasury, deposited, terms);
  const used = await rehearse(node, rehearsed, signers, { ...asOf, minContextSlot: newest });
  const units = Math.min(used + flushUnitsMargin, fees.unitsMax);
  const fee = feeOf(units, price_microLamports, signers);
  checkCoin(spendableLamports(wallet), treasury, { chainId: solanaChainId, unit: 'lamports', most: fee });
  const message = sweepMessage(treasury, deposited, { ...terms, units });
  return unsignedOf({
    ...{ account: treasury, order, message, salt },
    ...{ lastValidBlockHeight, units, price_microLamports, signers },
  });
}

function checkHeld(held: bigint | undefined, { token, amount }: TransferOrder): void {
  if (held === amount) return;
  const holds = held === undefined ? 'is closed' : `holds ${formatAmount(held, token.decimals)} ${token.symbol}`;
  const message = `the deposit ${holds} by now, ${formatAmount(amount, token.decimals)} were to be taken`;
  throw new PayoutBlocked('refusedByToken', message);
}

/** Margin over the simulation: the receiver may close its token account meanwhile, and creating it needs units. */
const unitsMargin = 30_000;

/**
 * Token transfers from the treasury wallet on Solana. There are no nonces: signed bytes are valid for about a minute, and nothing else is
 * signed for the same purpose until they are final or provably dead.
 * @param eventAccountOf account of the message of a burn. Default: none, so nothing is burned
 */
export function createSolanaPayoutRail(
  config: SolanaConfig,
  referenceOf: PayoutReference,
  rpc: SolanaRpc = createSolanaRpc(config),
  eventAccountOf: ((reference: string) => string) | null = null,
): PayoutRail<ExpiringNumbering> {
  const { treasury: account, fees } = config;

  const checkUnpaid = createUnpaidCheck(account);
  const rebalance = createRebalancing({ rpc, config, checkUnpaid, eventAccountOf });

  async function build(node: SolanaNode, order: TransferOrder, reference: string): Promise<Unsigned> {
    const paid = await (order.form?.kind === 'coin' ? coinFor(node, order) : tokensFor(node, order));
    const { slot, wallet, written, rent, mint, message } = paid;
    const isSecret = order.referenceOrdinal !== undefined;
    const { earlier = [] } = order;
    await checkUnpaid(rpc, {
      reference,
      isSecret,
      earlier,
      mint,
      usd: wholeTokens({ ...order, amount: `${order.amount}` }),
    });
    const price_microLamports = await freshPrice(rpc, written, fees, { attemptsBefore: earlier.length });
    const asOf: ReadContext = { commitment: 'confirmed', minContextSlot: slot };
    // Newest confirmed blockhash: a final one would have lost a third of its life.
    const { slot: newest, blockhash, lastValidBlockHeight } = await latestBlockhash(node, asOf);
    const terms: TransactionTerms = { blockhash, units: fees.unitsMax, price_microLamports };
    const most = feeOf(fees.unitsMax, price_microLamports, 1) + rent;
    const spendable = spendableLamports(wallet);
    if (order.form?.kind === 'coin') checkCoinFloat(spendable, account, order, { most });
    else checkCoin(spendable, account, { chainId: solanaChainId, unit: 'lamports', most });
    const rehearsed = message(account, order, reference, terms);
    const used = await rehearse(node, rehearsed, 1, { ...asOf, minContextSlot: newest });
    const units = Math.min(used + unitsMargin, fees.unitsMax);
    return unsignedOf({
      ...{ account, order, message: message(account, order, reference, { ...terms, units }) },
      ...{ lastValidBlockHeight, units, price_microLamports, signers: 1, rent },
    });
  }

  /** Checks float, receiver and its account for the token. @throws PayoutBlocked */
  async function tokensFor(node: SolanaNode, order: TransferOrder): Promise<Paying> {
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
    const rent = missing ? tokenAccountRent : 0n;
    return { slot, wallet, written: [source, destination], rent, mint, message: transferMessage };
  }

  /** Checks the treasury's and the receiver's wallet. @throws PayoutBlocked */
  async function coinFor(node: SolanaNode, order: TransferOrder): Promise<Paying> {
    const asked = [account, order.receiver];
    const { slot, accounts } = await accountsOf(node, asked, { commitment: 'confirmed' });
    const [wallet, receiver] = accounts;
    checkFloat(spendableLamports(wallet), account, order);
    const why = obstacle(order.receiver, receiver, undefined);
    if (why !== undefined) throw new PayoutBlocked('refusedByToken', why);
    return { slot, wallet, written: asked, rent: 0n, mint: null, message: coinMessage };
  }

  const urgent = rpc.as('payout');
  const broadcast = createBroadcast(urgent);

  return {
    chainId: solanaChainId,
    account,

    numbering: {
      kind: 'expiring',
      async prepare(order) {
        assert(order.chainId === solanaChainId, 'this rail serves Solana');
        checkForm(order, 'coin', 'flush', 'burn', 'mint');
        if (isRebalance(order)) return rpc.answer((node) => rebalance(node, order));
        if (order.form?.kind === 'flush') return rpc.answer((node) => buildFlush(node, rpc, config, order));
        const reference = referenceOf(order);
        return rpc.answer((node) => build(node, order, reference));
      },
    },

    broadcast,

    async fate(attempts, signal) {
      const [attempt, ...others] = attempts;
      assert(attempt !== undefined && others.length === 0, 'on Solana one attempt at most can land at a time');
      return fateOf(urgent, attempt, wholeTokens(attempt), signal);
    },

    canLand: async (attempt, signal) => !(await allDeny(rpc, (node) => canLandAt(node, attempt), signal)),

    // Final blocks on Solana never leave the chain.
    stillFinal: async () => true,

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

/** Facts of the chain's state that a transfer needs. */
interface Paying {
  readonly slot: bigint;
  readonly wallet: RawAccount | null | undefined;
  /** Accounts that it writes to. */
  readonly written: readonly string[];
  /** Lamports for an account that it may open. */
  readonly rent: bigint;
  /** Mint of the treasury's account that proves a node's complete history; null for the coin. */
  readonly mint: string | null;
  readonly message: typeof transferMessage;
}

const closedSince = ({ receiver, token }: TransferOrder): string =>
  `${receiver} has closed its account for ${token.symbol} since the payment was made, whose fee pays for no other: it must open one`;
