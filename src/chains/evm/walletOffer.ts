import type { EvmNetwork, EvmOffer } from '../../../commands/payerTransactions.ts';
import { chainOf, tokenAt } from '../../../domain/chains.ts';
import { parseAmount } from '../../../domain/money.ts';
import type { PaymentView } from '../../../domain/payment/view.ts';
import { networkId } from './config.ts';

const ether = { name: 'Ether', symbol: 'ETH', decimals: 18 };
const bnb = { name: 'BNB', symbol: 'BNB', decimals: 18 };
const pol = { name: 'POL', symbol: 'POL', decimals: 18 };

/**
 * Public endpoints that wallets get when they do not know a chain, by network id: the chains' own documentation names them. The service's
 * own RPC URLs never leave it, because they may hold API keys.
 */
const networks: Readonly<Record<number, Pick<EvmNetwork, 'coin' | 'rpcUrls' | 'explorers'>>> = {
  1: network(ether, 'https://ethereum-rpc.publicnode.com', 'https://etherscan.io'),
  56: network(bnb, 'https://bsc-dataseed.bnbchain.org', 'https://bscscan.com'),
  137: network(pol, 'https://polygon-rpc.com', 'https://polygonscan.com'),
  8453: network(ether, 'https://mainnet.base.org', 'https://basescan.org'),
  42161: network(ether, 'https://arb1.arbitrum.io/rpc', 'https://arbiscan.io'),
  97: network(bnb, 'https://bsc-testnet-dataseed.bnbchain.org', 'https://testnet.bscscan.com'),
  80002: network(pol, 'https://rpc-amoy.polygon.technology', 'https://amoy.polygonscan.com'),
  84532: network(ether, 'https://sepolia.base.org', 'https://sepolia.basescan.org'),
  421614: network(ether, 'https://sepolia-rollup.arbitrum.io/rpc', 'https://sepolia.arbiscan.io'),
  11155111: network(ether, 'https://ethereum-sepolia-rpc.publicnode.com', 'https://sepolia.etherscan.io'),
};

function network(coin: EvmNetwork['coin'], rpcUrl: string, explorer: string) {
  return { coin, rpcUrls: [rpcUrl], explorers: [explorer] };
}

type Asked = Pick<PaymentView, 'sourceChainId' | 'sourceTokenAddress' | 'sourceAmount' | 'depositAddress'>;

/** `transfer(address,uint256)` */
const transferSelector = '0xa9059cbb';
const word_digits = 64;

/**
 * The ERC-20 transfer of exactly this amount to the payment's deposit. Null for an amount that the token cannot have.
 * @param amount in whole tokens
 * @param localRpcUrls of a simulated chain; null for a real one
 */
export function evmWalletOffer(
  { sourceChainId, sourceTokenAddress: token, sourceAmount, depositAddress }: Asked,
  amount: string,
  localRpcUrls: readonly string[] | null,
): EvmOffer | null {
  const chain = chainOf(sourceChainId);
  const known = tokenAt(chain, token);
  const units = known && parseAmount(amount, known.decimals);
  const own = networks[networkId(sourceChainId)];
  if (typeof units !== 'bigint' || own === undefined) return null;
  const words = [BigInt(depositAddress), units].map((value) => value.toString(16).padStart(word_digits, '0'));
  return {
    family: 'evm',
    chain: {
      id: `0x${networkId(sourceChainId).toString(16)}`,
      name: chain.name,
      ...own,
      ...(localRpcUrls !== null && { rpcUrls: localRpcUrls, explorers: [] }),
    },
    token,
    data: `${transferSelector}${words.join('')}`,
    units: units.toString(),
    amount: sourceAmount === null ? amount : null,
  };
}

export type WalletLinkRequest = Pick<PaymentView, 'sourceChainId' | 'sourceTokenAddress' | 'depositAddress'>;

/**
 * Link to call `transfer` of the token (ERC-681, eips.ethereum.org), for a wallet or a QR code. Null if the payer chooses the amount:
 * wallets read a missing amount as zero.
 *
 * @param amount in whole tokens
 */
export function evmWalletLink(
  { sourceChainId, sourceTokenAddress, depositAddress }: WalletLinkRequest,
  amount: string | null,
): string | null {
  const token = tokenAt(chainOf(sourceChainId), sourceTokenAddress);
  const units = token && amount !== null ? parseAmount(amount, token.decimals) : undefined;
  if (typeof units !== 'bigint') return null;
  return `ethereum:${sourceTokenAddress}@${networkId(sourceChainId)}/transfer?address=${depositAddress}&uint256=${units}`;
}
