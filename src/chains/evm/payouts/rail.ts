import { type Address, encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { chainOf } from '../../../../domain/chains.ts';
import { assert } from '../../../../domain/decider.ts';
import { formatAmount } from '../../../../domain/money.ts';
import { parseBurnMessage } from '../../../../domain/rebalance/burnMessage.ts';
import { chainOfEndpoint, isLocking, isUsdt0Chain, oftOn } from '../../../../domain/rebalance/usdt0.ts';
import type { SignedAttempt } from '../../../../domain/transfer/shapes.ts';
import { higher } from '../../../lib/concurrency.ts';
import { checkForm } from '../../family.ts';
import { allDeny } from '../../node/agreement.ts';
import { ask } from '../../node/jsonRpc.ts';
import { sendToAll } from '../../node/nodes.ts';
import {
  type NonceNumbering,
  PayoutBlocked,
  type PayoutRail,
  type RelayOrder,
  type TransferOrder,
  type Unsigned,
} from '../../ports.ts';
import { coinBalance, nonceAt } from '../accounts.ts';
import { burnAllowanceOf, isMinted } from '../cctp.ts';
import type { EvmChainConfig, EvmFees } from '../config.ts';
import { type Header, isOnChain, quantity } from '../reads.ts';
import { createEvmRpc, type EvmNode, type EvmRpc, RpcFailed } from '../rpc.ts';
import { quoteSend } from '../usdt0.ts';
import { createBatching, gasToPayMany } from './batch.ts';
import { fateOf, isFree } from './fate.ts';
import { gasFor, gasToAllow, gasToDeploy, gasToFlush } from './forwarding.ts';
import { createNonceUses } from './nonceUse.ts';
import {
  balancesOf,
  checkCoinAndGas,
  checkGas,
  checkTokens,
  checkTransfer,
  createRehearsal,
  gasForCoin,
  type Payer,
} from './preflight.ts';
import { createPrices, createTransferGas, gasForCall, priceFor, priceToReplace, usualCost } from './prices.ts';
import { gasToRelay } from './relay.ts';
import { buildUnsigned, callFor, noOrder } from './transaction.ts';

/** Classifies nodes' refusals of a transaction. JSON-RPC has no codes for them: each client has its own texts, which change. */

/**
 * `held`: the node has these bytes. `nonceUsed`: a mined transaction has the nonce. `outbid`: a pending transaction with the nonce pays at
 * least as much. `fee`: it offers too little now. `funds`: the account cannot pay for it. `gas`: it allows too little gas, or more than a
 * block or the node accepts. `policy`: the operator of the node or chain rejects it. `busy`: the node has no room, or lacks the previous
 * nonces. `invalid`: no node would accept it. `unknown`: a text outside the table.
 */
export type RefusalKind =
  | 'held'
  | 'nonceUsed'
  | 'outbid'
  | 'fee'
  | 'funds'
  | 'gas'
  | 'policy'
  | 'busy'
  | 'invalid'
  | 'unknown';

/**
 * From the sources of geth (and its forks bor, bsc, op-geth), Nethermind, Besu, Erigon, Reth, Nitro; anvil for local chains. Order matters:
 * an underpriced replacement differs from an underpriced transaction.
 */
const table: readonly (readonly [RefusalKind, RegExp])[] = [
  [
    'held',
    /already ?(known|imported|exists)\b|already in\b|known transaction|existing txn? with same hash|in mempool/i,
  ],
  ['outbid', /replace(ment|d)?\b.*(underpriced|not ?allowed|higher tip|too low)|replacementnotallowed/i],
  ['outbid', /(could not|gas price to) replace existing|another transaction with same nonce/i],
  [
    'busy',
    /future transaction tries to replace|nonce (is )?too (high|distant|far)|noncegap|noncetoofar|lower nonce exists/i,
  ],
  ['nonceUsed', /nonce (is )?too low|oldnonce|^mined$|nonce.*already (used|mined)/i],
  ['policy', /chain policy|black ?list|not (allowed|authorized)|disallowed|marked the transaction as invalid|banned/i],
  ['policy', /exceeds the configured cap|fee ?cap exceeded/i],
  ['funds', /insufficient ?funds|upfront cost exceeds|overdraws|overdraft/i],
  [
    'gas',
    /intrinsic ?gas|floor data gas|exceeds (block'?s? )?gas ?limit|gas ?limit ?(reached|exceeded|is too high|too high)/i,
  ],
  ['gas', /exceeds (transaction|block)'?s? gas limit|gas limit \d+ exceeds/i],
  [
    'fee',
    /under ?priced|fee ?too ?low|less than block base fee|below (chain|configured|current|minimum)|tip (cap|needed)/i,
  ],
  [
    'busy',
    /pool is full|account limit exceeded|spammer|pool size constraints|in-?flight|gapped-nonce|reserved|syncing|sync is still/i,
  ],
  ['busy', /sequencer|(queue|buffer) is full|maxpending|too many pending|pool not enabled|conflict/i],
  [
    'invalid',
    /invalid (sender|signature|transaction|chain)|wrong ?chain|chain id|failedtoresolvesender|recover sender/i,
  ],
  ['invalid', /^rlp:|transaction too short|decode transaction|empty transaction|initcode size/i],
  [
    'invalid',
    /(not |un)supported|not an eoa|oversized|too large|negative value|nonce has max value|max priority fee per gas (higher|exceeds)|eip-?155/i,
  ],
];

/** @param detail the node's text */
export const refusalKind = (detail: string): RefusalKind =>
  table.find(([, words]) => words.test(detail))?.[0] ?? 'unknown';

/** True if the node has the bytes, or another transaction with their nonce: the fate check decides. */
export const isSettledElsewhere = (kind: RefusalKind): boolean =>
  kind === 'held' || kind === 'nonceUsed' || kind === 'outbid';

/**
 * Token transfers from the treasury account of one EVM chain.
 * @param account the treasury; the signer has its key
 */
export function createEvmPayoutRail(
  config: EvmChainConfig,
  account: Address,
  rpc: EvmRpc = createEvmRpc(config),
): PayoutRail<NonceNumbering> {
  const { rail, payer } = railOf(config, account, rpc, [
    'coin',
    'flush',
    'deploy',
    'allow',
    'payMany',
    'burn',
    'oftSend',
    'mint',
  ]);
  return { ...rail, batching: createBatching(rpc, payer) };
}

/**
 * Sends payers' authorizations from the relay account of one EVM chain, and nothing else.
 * @returns the rail, and the maximum present cost of a relay on a node, in wei; that throws PayoutBlocked as `prepare`
 * does
 */
export function createEvmRelayRail(config: EvmChainConfig, account: Address, rpc: EvmRpc) {
  const { rail, costOf } = railOf(config, account, rpc, ['authorization']);
  return { rail, costOf };
}

function railOf(config: EvmChainConfig, account: Address, rpc: EvmRpc, forms: readonly FormKind[]) {
  const { chainId, fees, depths } = config;
  const urgent = rpc.as('payout');
  const payer: Payer = { chain: chainOf(chainId), account };

  const prices = createPrices(rpc);
  const transferGas = createTransferGas(account);
  const looking = { chainId, depths, lookUp: createNonceUses(config.rangeBlocksMax) };
  const rehearse = createRehearsal(account);

  async function build(node: EvmNode, order: TransferOrder, nonce: bigint, replaces?: SignedAttempt) {
    // Runs concurrently, because nodes may be distant. A node without a head is not trusted about a balance, so its head is awaited first.
    const priced = prices(node);
    const head = priced.then(({ latest }) => latest);
    const coin = coinBalance(node, account);
    const trying = replaces && isAuthorization(order) ? Promise.resolve(gasOf(replaces)) : tried(node, order, head);
    for (const asked of [head, coin, trying]) asked.catch(() => {});
    const { latest, tip_wei } = await priced;
    const gas = await trying;
    const fresh = priceFor(latest.baseFee_wei, tip_wei, fees);
    const chosen = replaces ? priceToReplace(replaces, fresh, fees) : fresh;
    if (isAuthorization(order) && !replaces) checkRelayCost(order, gas * chosen.maxFeePerGas);
    if (order.form?.kind === 'coin')
      checkCoinAndGas(payer, order, { held: await coin, most: gas * chosen.maxFeePerGas });
    else checkGas(payer, { held: await coin, most: gas * chosen.maxFeePerGas + messageFeeOf(order) });
    return buildUnsigned({ account, nonce, order, call: callFor(order, account), gas, price: chosen });
  }

  /** @returns the gas to allow */
  async function tried(node: EvmNode, order: TransferOrder, latest: Promise<Header>): Promise<bigint> {
    if (isAuthorization(order)) return gasToRelay(node, payer, order, config);
    if (order.form?.kind === 'flush') return gasToFlush(node, payer, order, fees);
    if (order.form?.kind === 'deploy') return gasToDeploy(node, payer, order, fees);
    if (order.form?.kind === 'coin') return gasForCoin(node, payer, order, fees);
    if (order.form?.kind === 'burn') return gasToBurn(node, payer, order, fees);
    if (order.form?.kind === 'oftSend') return gasToSend(node, payer, order, fees);
    if (order.form?.kind === 'mint') return gasToMint(node, payer, order, fees);
    if (order.form?.kind === 'allow') return gasToAllow(node, payer, order, fees);
    if (order.form?.kind === 'payMany') {
      await checkTokens(node, payer, order);
      const toNewHolder = (await transferGas.toNewHolder(node, order.token, latest)) ?? 0n;
      return gasToPayMany(node, payer, order, { fees, toNewHolder });
    }
    const trying = {
      arrives: () => rehearse(node, order),
      gas: () => transferGas.forOrder(node, order, latest),
    };
    // A missing balance is no refusal of the token, so it is reported first.
    const gas = checkTransfer(payer, order, trying, fees);
    gas.catch(() => {});
    await checkTokens(node, payer, order);
    return gas;
  }

  async function prepareCancel(nonce: bigint, outbid?: Pick<SignedAttempt, 'fee'>): Promise<Unsigned> {
    const call = { to: account, data: '0x' } as const;
    return rpc.answer(async (node) => {
      const gas = await gasForCall(node, account, call);
      const order = noOrder(payer.chain, account);
      const { latest, tip_wei } = await prices(node);
      const fresh = priceFor(latest.baseFee_wei, tip_wei, fees);
      const chosen = outbid ? priceToReplace(outbid, fresh, fees) : fresh;
      return buildUnsigned({ account, nonce, order, call, gas, price: chosen });
    });
  }

  /** Estimates omit some chains' charges for data: the configured gas is the minimum. */
  async function transferCost(node: EvmNode): Promise<bigint> {
    const { latest, tip_wei } = await prices(node);
    const estimates = await Promise.all(
      payer.chain.tokens.map((token) => transferGas.toNewHolder(node, token, latest)),
    );
    const gas = estimates.reduce<bigint>((most, each) => higher(most, each ?? 0n), fees.gasUsual);
    return usualCost(gas, latest.baseFee_wei, tip_wei, fees);
  }

  const rail: PayoutRail<NonceNumbering> = {
    chainId,
    account,

    numbering: {
      kind: 'nonce',

      // A syncing node returns 0, and a lagging one too little.
      minedNonce: async (signal) =>
        (await urgent.allSoon((node) => nonceAt(node, account, 'latest'), signal)).reduce(higher),

      async provenNonce() {
        const said = await urgent.all((node) => nonceAt(node, account, 'latest'));
        const [first = null] = said;
        return said.length >= urgent.agree.usual && said.every((nonce) => nonce === first) ? first : null;
      },

      async prepare(order, nonce, replaces) {
        assert(order.chainId === chainId, `this rail serves chain ${chainId}`);
        if (order.form?.kind !== 'authorization')
          assert(!forms.includes('authorization'), 'relays alone are sent here');
        checkForm(order, ...forms);
        return rpc.answer((node) => build(node, order, nonce, replaces));
      },

      numbered: (unsigned, nonce) => ({ ...unsigned, nonce }),
      prepareCancel: (nonce, _, outbid) => prepareCancel(nonce, outbid),
    },

    broadcast: (bytes) => broadcastTo(urgent, bytes as Hex),
    refusalKind,

    async fate(attempts, signal) {
      const [nonce, ...others] = new Set(attempts.map((attempt) => attempt.nonce));
      assert(typeof nonce === 'string' && others.length === 0, 'attempts that share a fate share a nonce');
      return fateOf(urgent, { account, nonce: BigInt(nonce), attempts }, looking, signal);
    },

    async canLand({ nonce, signedAt }, signal) {
      const asked = { account, nonce: BigInt(nonce ?? 0), since: signedAt };
      return !(await allDeny(urgent, (node) => isFree(node, asked, looking), signal));
    },

    stillFinal: async (settled, signal) => !(await allDeny(rpc, (node) => isOnChain(node, settled), signal)),

    transferCost: (signal) => rpc.answer(transferCost, signal),

    balances: (signal) => rpc.answer((node) => balancesOf(node, payer), signal),
  };

  async function costOf(node: EvmNode, order: RelayOrder): Promise<bigint> {
    const gas = await gasToRelay(node, payer, order, config);
    const { latest, tip_wei } = await prices(node);
    return gas * priceFor(latest.baseFee_wei, tip_wei, fees).maxFeePerGas;
  }

  return { rail, payer, costOf };
}

/** Coin that an order sends along, in wei. */
const messageFeeOf = ({ form }: TransferOrder): bigint => (form?.kind === 'oftSend' ? BigInt(form.messageFee) : 0n);

type FormKind = NonNullable<TransferOrder['form']>['kind'];

export const isAuthorization = (order: TransferOrder): order is RelayOrder => order.form?.kind === 'authorization';

/** A replacement is not simulated again: its nonce has to be used, whatever the state of the authorization. */
const gasOf = ({ fee }: SignedAttempt): bigint => BigInt(fee['gas'] ?? 0);

/** @throws PayoutBlocked when gas has become dearer than was reserved: the relay waits until its time is over */
function checkRelayCost({ form }: RelayOrder, cost: bigint): void {
  if (cost <= BigInt(form.costMax)) return;
  throw new PayoutBlocked(
    'gas',
    `it would cost ${cost} wei, and ${form.costMax} were reserved: it waits for cheaper gas`,
  );
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

// Checks before a burn, a mint or a send of a rebalance is signed: a transaction that would fail costs gas and moves
// nothing.

/**
 * @returns the gas to allow
 * @throws PayoutBlocked when the float or the allowance lacks the amount, or the burn would be reverted
 */
async function gasToBurn(node: EvmNode, payer: Payer, order: TransferOrder, fees: EvmFees): Promise<bigint> {
  await checkTokens(node, payer, order);
  const { token, amount } = order;
  const allowed = await burnAllowanceOf(node, payer.account, token.address);
  if (allowed >= amount) return gasFor(node, payer, order, fees);
  const text = (units: bigint) => `${formatAmount(units, token.decimals)} ${token.symbol}`;
  const message = `the contract that burns may take ${text(allowed)} on ${payer.chain.name}, ${text(amount)} are to be burned`;
  throw new PayoutBlocked('refusedByToken', `${message}: run npm run treasury -- allow-burns ${payer.chain.id} <USDC>`);
}

/**
 * @returns the gas to allow
 * @throws PayoutBlocked when the message is minted already, has expired, or would be reverted
 */
async function gasToMint(node: EvmNode, payer: Payer, order: TransferOrder, fees: EvmFees): Promise<bigint> {
  const message = order.form?.kind === 'mint' ? parseBurnMessage(order.form.message) : undefined;
  if (message && (await isMinted(node, message.nonce)))
    throw new PayoutBlocked(
      'refusedByToken',
      `somebody minted message 0x${message.nonce} on ${payer.chain.name} already`,
    );
  return gasFor(node, payer, order, fees);
}

/**
 * @returns the gas to allow
 * @throws PayoutBlocked when the float or Ethereum's allowance lacks the amount, the message costs more than ordered, or the send would be
 * reverted
 */
async function gasToSend(node: EvmNode, payer: Payer, order: TransferOrder, fees: EvmFees): Promise<bigint> {
  await checkTokens(node, payer, order);
  const { chainId, token, amount, form } = order;
  assert(form?.kind === 'oftSend' && isUsdt0Chain(chainId), 'only a send of USDT0 sends');
  const units = (value: bigint) => `${formatAmount(value, token.decimals)} ${token.symbol}`;
  if (isLocking(chainId)) {
    const args = [payer.account, oftOn(chainId) as Address] as const;
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'allowance', args });
    const allowed = await ask(node, 'eth_call', [{ to: token.address, data }, 'latest'], quantity);
    if (allowed < amount)
      throw new PayoutBlocked(
        'refusedByToken',
        `the contract that locks may take ${units(allowed)} on ${payer.chain.name}, ${units(amount)} are to be sent: run npm run treasury -- allow-burns ${payer.chain.id} <USDT> --token USDT`,
      );
  }
  const to = chainOfEndpoint(form.destinationDomain);
  assert(to !== undefined, 'a send leads to a chain of ours');
  const quoted = await quoteSend(node, chainId, { to, recipient: form.recipient, amount });
  if (quoted > BigInt(form.messageFee))
    throw new PayoutBlocked(
      'gas',
      `the message costs ${quoted} wei now, and ${form.messageFee} were ordered: it waits for a lower fee, or cancel it and order it again`,
    );
  return gasFor(node, payer, order, fees);
}
