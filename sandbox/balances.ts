/** Balances of accounts, from the local chains. */
import { Asset, rpc as stellarRpc } from '@stellar/stellar-sdk';
import { Connection, PublicKey } from 'solana-web3-v1';
import { type Address, createPublicClient, erc20Abi } from 'viem';
import { type ChainId, chainOf, type Token } from '../domain/chains.ts';
import { localRpc } from './localRpc.ts';

export type BalanceOf = (chainId: ChainId, token: Pick<Token, 'address'>, account: string) => Promise<bigint>;

export const balancesAt =
  (rpcUrl: (chainId: ChainId) => string): BalanceOf =>
  (chainId, token, account) => {
    const url = rpcUrl(chainId);
    switch (chainOf(chainId).family) {
      case 'evm':
        return onEvm(url, token.address, account);
      case 'solana':
        return onSolana(url, token.address, account);
      case 'stellar':
        return onStellar(url, token.address, account);
    }
  };

const onEvm = (url: string, token: string, account: string): Promise<bigint> =>
  createPublicClient({ transport: localRpc(url), cacheTime: 0 }).readContract({
    address: token as Address,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [account as Address],
  });

async function onSolana(url: string, token: string, account: string): Promise<bigint> {
  const mint = new PublicKey(token);
  const { value } = await new Connection(url, 'confirmed').getParsedTokenAccountsByOwner(new PublicKey(account), {
    mint,
  });
  return value.reduce((sum, each) => sum + BigInt(each.account.data.parsed.info.tokenAmount.amount), 0n);
}

async function onStellar(url: string, token: string, account: string): Promise<bigint> {
  const [code = '', issuer] = token.split(':');
  const server = new stellarRpc.Server(url, { allowHttp: true });
  const { passphrase } = await server.getNetwork();
  const { balanceEntry } = await server.getAssetBalance(account, new Asset(code, issuer), passphrase);
  return BigInt(balanceEntry?.amount ?? 0);
}
