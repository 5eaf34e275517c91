import { type Address, createPublicClient, createWalletClient, type Hex, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { deployer, forwarderAddresses, forwarderDeployment } from '../addresses.ts';

export interface ForwarderDeployed {
  readonly chainId: number;
  readonly factory: Address;
  /** Null if it existed before. */
  readonly transaction: Hex | null;
}

/**
 * Deploys a treasury's deposit forwarder on one chain, unless it exists already. The address is the same for any payer.
 * @param payerKey key of any account with coin for the estimated gas; it gets no rights
 * @throws Error if the chain lacks the deterministic deployer or the transaction is reverted
 */
export async function deployForwarder(rpcUrl: string, treasury: Address, payerKey: Hex): Promise<ForwarderDeployed> {
  const reader = createPublicClient({ transport: http(rpcUrl) });
  const chainId = await reader.getChainId();
  const { factory } = forwarderAddresses(treasury);
  if (await reader.getCode({ address: factory })) return { chainId, factory, transaction: null };
  if (!(await reader.getCode({ address: deployer }))) {
    throw new Error(`chain ${chainId} has no deterministic deployer at ${deployer}: deploy that first`);
  }
  const account = privateKeyToAccount(payerKey);
  const sender = createWalletClient({ account, transport: http(rpcUrl) });
  const transaction = await sender.sendTransaction({ ...forwarderDeployment(treasury), chain: null });
  const { status } = await reader.waitForTransactionReceipt({ hash: transaction });
  if (status !== 'success')
    throw new Error(`deployment ${transaction} on chain ${chainId} was reverted: look it up there`);
  return { chainId, factory, transaction };
}
