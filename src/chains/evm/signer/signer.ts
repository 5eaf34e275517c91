/** The treasury's key for EVM chains. It decodes each transaction itself and compares it with order and limits, trusting no caller. */
import { type Address, encodeFunctionData, erc20Abi, type Hex, hexToBytes, isAddressEqual, keccak256 } from 'viem';
import { privateKeyToAccount, privateKeyToAddress } from 'viem/accounts';
import { membersMax } from '../../../../domain/batch/batch.ts';
import { type Chain, chainOf, tokenAt } from '../../../../domain/chains.ts';
import { coinOf } from '../../../../domain/money.ts';
import { objectionToMessage, parseBurnMessage } from '../../../../domain/rebalance/burnMessage.ts';
import {
  burnableOn,
  burnTokenOn,
  type CctpChainId,
  cctpContracts,
  chainOfDomain,
  contractsOn,
  domainOf,
  feeLimit,
  finalities,
  isCctpChain,
} from '../../../../domain/rebalance/cctp.ts';
import {
  chainOfEndpoint,
  counterpartyOn,
  isLocking,
  isUsdt0Chain,
  messageFeeLimit,
  oftOn,
  sendableOn,
} from '../../../../domain/rebalance/usdt0.ts';
import { moneyLeaves } from '../../../../domain/transfer/shapes.ts';
import type { CheckSpending } from '../../money/spending.ts';
import { type Signer, type SigningPurpose, SigningRefused, type TransferOrder, type Unsigned } from '../../ports.ts';
import { depositAddresses, forwarderAddresses } from '../addresses.ts';
import { acceptedSignature, authorizationCall, authorizationIn, knownDomain } from '../authorization.ts';
import { burnCall, mintCall } from '../cctp.ts';
import { type EvmChainId, type EvmFees, evmChainIds, feesOf, isEvmChain, networkId } from '../config.ts';
import { payManyAddress, payManyCall } from '../payMany.ts';
import { type Call, callFor, type EvmPayload, gasMaxFor } from '../payouts/transaction.ts';
import { sendCall } from '../usdt0.ts';

/** Account of a private key; undefined if the key is outside the curve's range. @param privateKey 0x and 64 hexadecimal digits */
export function accountOf(privateKey: string): string | undefined {
  try {
    return privateKeyToAddress(privateKey as Hex);
  } catch {
    return undefined;
  }
}

interface EvmSignerDeps {
  readonly privateKey: Hex;
  /** Chains of this signer. */
  readonly chainIds?: readonly EvmChainId[];
  /** Fee limits of a transaction on a chain. Default: the chain's. */
  readonly feesOn?: (chainId: EvmChainId) => EvmFees;
  /** Limits the signed amounts, over all chains together. */
  readonly spending: CheckSpending;
  /** The treasury's account on Stellar, by this signer's own configuration. Default: none, so nothing is burned for Stellar. */
  readonly stellarAccount?: string | undefined;
  /** The treasury's wallet on Solana, likewise. */
  readonly solanaAccount?: string | undefined;
}

/** The treasury's account on each chain that rebalances reach; undefined for a chain without one. */
type OwnAccount = (chainId: CctpChainId) => string | undefined;

/**
 * Signs treasury transactions: catalogue-token transfers within the limits, cancels, sweeps and the forwarder's deployment, nothing else.
 * Signing again gives the same bytes (RFC 6979) and counts once, as does a replacement of the same nonce.
 * @throws SigningRefused from `sign`
 */
export function createEvmSigner({
  privateKey,
  chainIds = evmChainIds,
  feesOn = (chainId) => feesOf(chainId, {}),
  spending,
  stellarAccount,
  solanaAccount,
}: EvmSignerDeps): Signer {
  const key = privateKeyToAccount(privateKey);
  const own: OwnAccount = (chainId) =>
    chainId === 1500 ? stellarAccount : chainId === 501 ? solanaAccount : key.address;

  /** @returns the signing input, and the function that counts it towards the hourly limit */
  function examine(unsigned: Unsigned, purpose: SigningPurpose) {
    const { chain, payload, fee } = checkTransactionFrame(unsigned, purpose, key.address, chainIds, feesOn);
    if (purpose.kind === 'cancel') checkCancel(payload, key.address);
    else if (purpose.kind === 'sweep') checkSweep(payload, chain, unsigned.order, key.address);
    else if (purpose.kind === 'deployment') checkDeployment(payload, chain, unsigned.order, key.address);
    else if (purpose.kind === 'batch') checkBatch(payload, chain, unsigned.order, purpose);
    else if (unsigned.order.form?.kind === 'oftSend') checkSend(payload, chain, unsigned.order, { purpose, own });
    else if (purpose.kind === 'burn') checkBurn(payload, chain, unsigned.order, own);
    else if (purpose.kind === 'mint') checkMint(payload, chain, unsigned.order, own);
    else if (purpose.kind === 'withdrawal' && unsigned.order.form) checkCoin(payload, unsigned.order, purpose);
    // Dollar limits only count transfers marked as outgoing money.
    else if (!moneyLeaves(purpose.kind))
      throw new SigningRefused('mismatch', `there is no ${purpose.kind} on ${chain.name}`);
    else checkTransfer(payload, chain, unsigned.order, purpose);
    return { payload, count: spending(unsigned, purpose, fee + sentAlong(unsigned.order)) };
  }

  return {
    account: key.address,
    check: (unsigned, purpose) => void examine(unsigned, purpose),
    async sign(unsigned, purpose) {
      const { payload, count } = examine(unsigned, purpose);
      count();
      const bytes = await key.signTransaction(signableTransactionOf(unsigned, payload));
      return { bytes, hash: keccak256(bytes) };
    },
  };
}

interface Framed {
  readonly chain: Chain;
  readonly payload: EvmPayload;
  /** Maximum, in wei. */
  readonly fee: bigint;
}

function checkTransactionFrame(
  unsigned: Unsigned,
  { kind }: SigningPurpose,
  account: Address,
  chainIds: readonly EvmChainId[],
  feesOn: (chainId: EvmChainId) => EvmFees,
): Framed {
  const { chainId, order } = unsigned;
  if (!isEvmChain(chainId) || !chainIds.includes(chainId) || order.chainId !== chainId) {
    throw new SigningRefused('chain', `this key does not sign for chain ${chainId} (order: ${order.chainId})`);
  }
  if (unsigned.account !== account || unsigned.nonce === null) {
    throw new SigningRefused('account', `this key signs for ${account} with a nonce, not for ${unsigned.account}`);
  }
  const payload = unsigned.payload as EvmPayload;
  const { gasMax, maxFeePerGas_wei } = feesOn(chainId);
  // Only transactions whose form was checked get the extra gas of that form.
  const forwards = kind === 'sweep' || kind === 'deployment' || kind === 'batch' || kind === 'burn' || kind === 'mint';
  const price = BigInt(payload.maxFeePerGas);
  const most = (forwards ? gasMaxFor(order, gasMax) : gasMax) * maxFeePerGas_wei;
  const fee = BigInt(payload.gas) * price;
  // A negative fee would make room in the hourly coin limit.
  if (fee < 0n || fee > most || (forwards && price > maxFeePerGas_wei))
    throw new SigningRefused('fee', `a fee of ${fee} wei is above the limit of ${most} on ${chainId}`);
  return { chain: chainOf(chainId), payload, fee };
}

function checkTransfer(payload: EvmPayload, chain: Chain, order: TransferOrder, { kind, reference }: SigningPurpose) {
  const token = tokenAt(chain, payload.to);
  const args = [order.receiver as Address, order.amount] as const;
  const same =
    token !== undefined &&
    token.address === order.token.address &&
    token.decimals === order.token.decimals &&
    order.form === undefined &&
    payload.value === undefined &&
    order.amount > 0n &&
    payload.data === encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args });
  if (!same)
    throw new SigningRefused('mismatch', `the transaction is not the transfer that ${kind} ${reference} orders`);
}

/** Every payment of a batch counts against its limits; the transaction is rebuilt from them, so it pays nobody else. */
function checkBatch(payload: EvmPayload, chain: Chain, order: TransferOrder, { reference }: SigningPurpose): void {
  const { token, form, amount, receiver, receiverMemo } = order;
  const payments = form?.kind === 'payMany' ? form.payments : [];
  const listed = tokenAt(chain, token.address);
  const same =
    payments.length > 1 &&
    payments.length <= membersMax &&
    new Set(payments.map(({ paymentId }) => paymentId)).size === payments.length &&
    payments.every((each) => each.amount > 0n) &&
    payments.reduce((sum, each) => sum + each.amount, 0n) === amount &&
    listed?.address === token.address &&
    listed.decimals === token.decimals &&
    receiver === payManyAddress &&
    receiverMemo === null &&
    isSame(payload, payManyCall(order));
  if (!same)
    throw new SigningRefused(
      'mismatch',
      `the transaction is not what ${reference} orders: its payments, each once, and nothing else`,
    );
}

/**
 * Burns a catalogue token for the treasury's own account on another chain: this key's address on an EVM chain, the configured account on
 * Stellar and Solana. The rebuilt call names the forwarder there as recipient and only caller, so no burn to Stellar can be lost. A domain of the
 * protocol that is no chain of ours is refused. So a service that others control can move money between our accounts and pay a bounded fee.
 */
function checkBurn(payload: EvmPayload, chain: Chain, order: TransferOrder, own: OwnAccount): void {
  const { token, form, amount, receiver, receiverMemo } = order;
  const destination = form?.kind === 'burn' ? chainOfDomain(form.destinationDomain) : undefined;
  const listed = burnableOn(chain.id);
  const same =
    form?.kind === 'burn' &&
    destination !== undefined &&
    destination !== chain.id &&
    form.mintRecipient === own(destination) &&
    finalities.some((each) => each === form.finality) &&
    amount > 0n &&
    listed?.address === token.address &&
    listed.decimals === token.decimals &&
    receiver === cctpContracts.minter &&
    receiverMemo === null &&
    isSame(payload, burnCall(order));
  if (!same)
    throw new SigningRefused(
      'mismatch',
      'a burn is of a catalogue token, for the treasury’s own account on another chain',
    );
  const feeMax = BigInt(form.feeMax);
  if (feeMax < 0n || feeMax >= amount || feeMax > feeLimit(amount))
    throw new SigningRefused('fee', `a burn’s fee limit of ${feeMax} is above ${feeLimit(amount)}`);
}

/**
 * Sends USDT0 to this key's own address on another chain. The rebuilt call names the contract of the catalogue, the whole amount as the
 * minimum, no call on the destination, and this account for returned coin. So a service that others control can move money between our
 * accounts, and spend the bounded message fee.
 */
function checkSend(
  payload: EvmPayload,
  chain: Chain,
  order: TransferOrder,
  { purpose, own }: { readonly purpose: SigningPurpose; readonly own: OwnAccount },
): void {
  const { token, form, amount, receiver, receiverMemo } = order;
  const destination = form?.kind === 'oftSend' ? chainOfEndpoint(form.destinationDomain) : undefined;
  const account = own(chain.id as CctpChainId);
  const listed = sendableOn(chain.id);
  const same =
    purpose.kind === 'burn' &&
    form?.kind === 'oftSend' &&
    isUsdt0Chain(chain.id) &&
    destination !== undefined &&
    destination !== chain.id &&
    form.recipient === own(destination) &&
    amount > 0n &&
    listed?.address === token.address &&
    listed.decimals === token.decimals &&
    receiver === counterpartyOn(chain.id) &&
    receiverMemo === null &&
    isSame(payload, sendCall(order, account as Address));
  if (!same) throw new SigningRefused('mismatch', 'a send of USDT0 is for the treasury’s own account on another chain');
  const fee = BigInt(form.messageFee);
  if (fee <= 0n || fee > messageFeeLimit(chain.id))
    throw new SigningRefused('fee', `a message fee of ${fee} wei is above ${messageFeeLimit(chain.id)}`);
}

/** Coin that an order sends along, in wei; never negative, which would make room in the hourly limit. */
function sentAlong({ form }: TransferOrder): bigint {
  return form?.kind === 'oftSend' ? BigInt(form.messageFee) : 0n;
}

/** Mints for a burn by the treasury's own account to this very key, and for no other message: the gas is ours. */
function checkMint(payload: EvmPayload, chain: Chain, order: TransferOrder, own: OwnAccount): void {
  const { token, form, amount, receiver, receiverMemo } = order;
  const message = form?.kind === 'mint' ? parseBurnMessage(form.message) : undefined;
  const source = chainOfDomain(message?.sourceDomain);
  const burnToken = source && burnTokenOn(source);
  const sender = source && own(source);
  const listed = burnableOn(chain.id);
  const same =
    form?.kind === 'mint' &&
    message !== undefined &&
    source !== undefined &&
    burnToken !== undefined &&
    sender !== undefined &&
    source !== chain.id &&
    isCctpChain(chain.id) &&
    objectionToMessage(form.message, {
      ...{ sourceDomain: message.sourceDomain, destinationDomain: domainOf(chain.id), burnToken },
      ...{ messenger: contractsOn(source).messenger, sender, receiver, amount: message.amount },
      ...{ feeMax: message.feeMax, finality: message.minFinality },
    }) === undefined &&
    amount === message.amount - message.feeExecuted &&
    listed?.address === token.address &&
    listed.decimals === token.decimals &&
    receiver === own(chain.id) &&
    receiverMemo === null &&
    isSame(payload, mintCall(order));
  if (!same) throw new SigningRefused('mismatch', 'a mint is for a burn of the treasury’s own, to the treasury itself');
}

/** Coin leaves only by withdrawals. */
function checkCoin({ to, data, value }: EvmPayload, order: TransferOrder, { kind, reference }: SigningPurpose): void {
  const coin = coinOf(order.chainId);
  const same =
    order.form?.kind === 'coin' &&
    order.token.address === coin.address &&
    order.token.decimals === coin.decimals &&
    order.amount > 0n &&
    to === order.receiver &&
    data === '0x' &&
    value === order.amount.toString();
  if (!same)
    throw new SigningRefused('mismatch', `the transaction is not the ${coin.symbol} that ${kind} ${reference} orders`);
}

function checkCancel({ to, data, value }: EvmPayload, account: Address): void {
  if (isAddressEqual(to, account) && data === '0x' && value === undefined) return;
  throw new SigningRefused('mismatch', 'a cancel is an empty transaction to the treasury itself');
}

/** A flush only of our own deposits, each at the address of its salt, by our own factory: it pays only the treasury. */
function checkSweep(payload: EvmPayload, chain: Chain, order: TransferOrder, account: Address): void {
  const { token, receiver, form, amount } = order;
  const deposits = form?.kind === 'flush' ? form.deposits : [];
  const addressOf = depositAddresses(account);
  const own = deposits.every(({ address, salt }) => isSalt(salt) && addressOf(hexToBytes(salt)) === address);
  const same =
    deposits.length > 0 &&
    own &&
    amount > 0n &&
    receiver === account &&
    tokenAt(chain, token.address) !== undefined &&
    isSame(payload, callFor(order, account));
  if (!same)
    throw new SigningRefused('mismatch', 'a sweep flushes a catalogue token of the treasury’s own deposits to it');
}

const isSalt = (text: string): text is Hex => /^0x[0-9a-f]{64}$/.test(text);

/** Deployments of our own contracts, and allowances of the contracts that move tokens only on their caller's order. */
function checkDeployment(payload: EvmPayload, chain: Chain, order: TransferOrder, account: Address): void {
  const { form, amount, receiver, token } = order;
  const isPayMany = (form?.kind === 'deploy' || form?.kind === 'allow') && form.contract === 'payMany';
  const isMessenger = form?.kind === 'allow' && form.contract === 'tokenMessenger';
  const isLock =
    form?.kind === 'allow' && form.contract === 'usdt0Adapter' && isUsdt0Chain(chain.id) && isLocking(chain.id);
  const ours = isPayMany ? payManyAddress : forwarderAddresses(account).factory;
  const own = receiver === (isMessenger ? cctpContracts.messenger : isLock ? oftOn(1) : ours);
  const isListed =
    form?.kind === 'deploy' ||
    (isLock && sendableOn(chain.id)?.address === token.address) ||
    ((isPayMany || isMessenger) && tokenAt(chain, token.address)?.address === token.address);
  if (form && amount === 0n && own && isListed && isSame(payload, callFor(order, account))) return;
  throw new SigningRefused('mismatch', 'a deployment puts one of our own contracts on the chain, and pays nobody');
}

const isSame = ({ to, data, value }: EvmPayload, call: Call): boolean =>
  isAddressEqual(to, call.to) && data === call.data && value === call.value?.toString();

const signableTransactionOf = ({ chainId, nonce }: Unsigned, payload: EvmPayload) => ({
  type: 'eip1559' as const,
  chainId: networkId(chainId),
  nonce: Number(nonce),
  to: payload.to,
  data: payload.data,
  value: BigInt(payload.value ?? 0),
  gas: BigInt(payload.gas),
  maxFeePerGas: BigInt(payload.maxFeePerGas),
  maxPriorityFeePerGas: BigInt(payload.maxPriorityFeePerGas),
});

// The relay account's key. It sends payers' authorizations to tokens of the catalogue, and moves nothing of ours.

export interface RelaySignerDeps extends EvmSignerDeps {
  readonly feesOn: NonNullable<EvmSignerDeps['feesOn']>;
  /** Treasury whose deposits can be paid. */
  readonly treasury: Address;
}

/**
 * Signs an authorization of a catalogue token to a deposit of ours, with 0 wei, and cancels; nothing else.
 * @throws SigningRefused from `check` and `sign`
 */
export function createEvmRelaySigner({
  privateKey,
  treasury,
  chainIds = evmChainIds,
  feesOn,
  spending,
}: RelaySignerDeps): Signer {
  const key = privateKeyToAccount(privateKey);
  const addressOf = depositAddresses(treasury);

  /** @returns what signing needs, and what counts it towards the hour's limit */
  async function examine(unsigned: Unsigned, purpose: SigningPurpose) {
    const { chain, payload, fee } = checkTransactionFrame(unsigned, purpose, key.address, chainIds, feesOn);
    if (purpose.kind === 'cancel') checkCancel(payload, key.address);
    else if (purpose.kind === 'relay') await checkRelay(payload, chain, unsigned.order);
    else throw new SigningRefused('mismatch', `the relay account makes no ${purpose.kind}: it relays`);
    return { payload, count: spending(unsigned, purpose, fee) };
  }

  async function checkRelay(payload: EvmPayload, chain: Chain, order: TransferOrder): Promise<void> {
    const { token, form, receiver, receiverMemo, amount } = order;
    const listed = tokenAt(chain, token.address);
    const domain = knownDomain(chain, token.address);
    const authorization = authorizationIn(order);
    const same =
      form?.kind === 'authorization' &&
      authorization !== null &&
      domain !== null &&
      listed?.address === token.address &&
      listed.decimals === token.decimals &&
      amount > 0n &&
      receiverMemo === null &&
      isSalt(form.deposit.salt) &&
      addressOf(hexToBytes(form.deposit.salt)) === form.deposit.address &&
      receiver === form.deposit.address &&
      isSame(payload, authorizationCall(order)) &&
      // An authorization that the payer did not sign would be reverted, and cost gas.
      (await acceptedSignature(chain.id, authorization, domain, form.signature)) === form.signature;
    if (!same)
      throw new SigningRefused(
        'mismatch',
        'a relay sends an authorization of a catalogue token, signed by its payer, to a deposit of ours, with no coin',
      );
  }

  return {
    account: key.address,
    check: async (unsigned, purpose) => void (await examine(unsigned, purpose)),
    async sign(unsigned, purpose) {
      const { payload, count } = await examine(unsigned, purpose);
      count();
      const bytes: Hex = await key.signTransaction(signableTransactionOf(unsigned, payload));
      return { bytes, hash: keccak256(bytes) };
    },
  };
}
