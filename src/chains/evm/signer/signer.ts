/** The treasury's key for EVM chains. It trusts nobody: what it signs it has taken apart itself and compared with order and limits. */
import {
  type Address,
  decodeFunctionData,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  isAddressEqual,
  keccak256,
} from 'viem';
import { privateKeyToAccount, privateKeyToAddress } from 'viem/accounts';
import { forwarderFactory } from '../../../../contracts/evm/artifacts/ForwarderFactory.ts';
import { type Chain, chainOf, tokenAt } from '../../../../domain/chains.ts';
import type { Spending } from '../../money/spending.ts';
import { type Signer, type SigningPurpose, SigningRefused, type TransferOrder, type Unsigned } from '../../ports.ts';
import { type EvmChainId, type EvmFees, evmChainIds, feesOf, isEvmChain, networkId } from '../config.ts';
import { forwarderAddresses } from '../deposits/forwarder.ts';
import type { EvmPayload } from '../payouts/transaction.ts';

/** The account of a private key; undefined when the curve has no such key. @param privateKey 0x and 64 hexadecimal digits */
export function accountOf(privateKey: string): string | undefined {
  try {
    return privateKeyToAddress(privateKey as Hex);
  } catch {
    return undefined;
  }
}

export interface EvmSignerDeps {
  readonly privateKey: Hex;
  /** Chains that it signs for. */
  readonly chainIds?: readonly EvmChainId[];
  /** What a transaction may cost on a chain; its defaults when left out. */
  readonly feesOn?: (chainId: EvmChainId) => EvmFees;
  /** Limits what is signed, over all chains together. */
  readonly spending: Spending;
}

/**
 * Signs treasury transactions: catalogue-token transfers within the limits, cancels and sweeps, nothing else.
 * Signing the same again gives the same bytes (RFC 6979) and counts once, as does a replacement of the same nonce.
 * @throws SigningRefused from `sign`
 */
export function createEvmSigner({
  privateKey,
  chainIds = evmChainIds,
  feesOn = (chainId) => feesOf(chainId, {}),
  spending,
}: EvmSignerDeps): Signer {
  const key = privateKeyToAccount(privateKey);
  const sweepTo = forwarderAddresses(key.address).factory;

  /** @returns what signing needs, and what counts it towards the hour's limit */
  function examine(unsigned: Unsigned, purpose: SigningPurpose) {
    const { chain, payload, fee } = checkFrame(unsigned, key.address, chainIds, feesOn);
    if (purpose.kind === 'cancel') checkCancel(payload, key.address);
    else if (purpose.kind === 'sweep') checkSweep(payload, chain, sweepTo);
    else checkTransfer(payload, chain, unsigned.order, purpose);
    return { payload, count: spending(unsigned, purpose, fee) };
  }

  return {
    account: key.address,
    check: (unsigned, purpose) => void examine(unsigned, purpose),
    async sign(unsigned, purpose) {
      const { payload, count } = examine(unsigned, purpose);
      count();
      const bytes = await key.signTransaction(transaction(unsigned, payload));
      return { bytes, hash: keccak256(bytes) };
    },
  };
}

interface Framed {
  readonly chain: Chain;
  readonly payload: EvmPayload;
  /** At most, in wei. */
  readonly fee: bigint;
}

function checkFrame(
  unsigned: Unsigned,
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
  const most = gasMax * maxFeePerGas_wei;
  const fee = BigInt(payload.gas) * BigInt(payload.maxFeePerGas);
  if (fee > most) throw new SigningRefused('fee', `a fee of ${fee} wei is above the limit of ${most} on ${chainId}`);
  return { chain: chainOf(chainId), payload, fee };
}

function checkTransfer(payload: EvmPayload, chain: Chain, order: TransferOrder, { kind, reference }: SigningPurpose) {
  const token = tokenAt(chain, payload.to);
  const args = [order.receiver as Address, order.amount] as const;
  const same =
    token !== undefined &&
    token.address === order.token.address &&
    token.decimals === order.token.decimals &&
    order.amount > 0n &&
    payload.data === encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args });
  if (!same)
    throw new SigningRefused('mismatch', `the transaction is not the transfer that ${kind} ${reference} orders`);
}

function checkCancel({ to, data }: EvmPayload, account: Address): void {
  if (isAddressEqual(to, account) && data === '0x') return;
  throw new SigningRefused('mismatch', 'a cancel is an empty transaction to the treasury itself');
}

function checkSweep({ to, data }: EvmPayload, chain: Chain, factory: Address): void {
  const token = flushedToken(data);
  if (isAddressEqual(to, factory) && token !== undefined && tokenAt(chain, token)) return;
  throw new SigningRefused('mismatch', 'a sweep flushes a catalogue token of the treasury’s own deposits');
}

function flushedToken(data: Hex): Address | undefined {
  try {
    const { functionName, args } = decodeFunctionData({ abi: forwarderFactory.abi, data });
    return functionName === 'flush' ? args[1] : undefined;
  } catch {
    return undefined;
  }
}

const transaction = ({ chainId, nonce }: Unsigned, payload: EvmPayload) => ({
  type: 'eip1559' as const,
  chainId: networkId(chainId),
  nonce: Number(nonce),
  to: payload.to,
  data: payload.data,
  value: 0n,
  gas: BigInt(payload.gas),
  maxFeePerGas: BigInt(payload.maxFeePerGas),
  maxPriorityFeePerGas: BigInt(payload.maxPriorityFeePerGas),
});
