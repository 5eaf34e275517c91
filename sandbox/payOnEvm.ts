import { type Address, createPublicClient, createWalletClient, erc20Abi, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { localRpc } from './localRpc.ts';

const poll_ms = 200;

/** Pays as an EVM wallet does: a transfer of the token. @returns the mined transaction's hash @throws Error when it is reverted */
export async function payOnEvm(
  rpcUrl: string,
  key: Hex,
  order: { readonly token: string; readonly receiverAddress: string; readonly amount: bigint },
): Promise<string> {
  const transport = localRpc(rpcUrl);
  const hash = await createWalletClient({ account: privateKeyToAccount(key), transport }).writeContract({
    chain: null,
    address: order.token as Address,
    abi: erc20Abi,
    functionName: 'transfer',
    args: [order.receiverAddress as Address, order.amount],
    gas: 120_000n,
  });
  const receipt = await createPublicClient({ transport, pollingInterval: poll_ms }).waitForTransactionReceipt({ hash });
  if (receipt.status !== 'success') throw new Error(`the transfer ${hash} was reverted`);
  return hash;
}
