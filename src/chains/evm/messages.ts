/** Signatures of texts on EVM: by a key (EIP-191), or accepted by a contract (ERC-1271). */
import { encodeFunctionData, type Hex, hashMessage, numberToHex, parseAbi, recoverMessageAddress } from 'viem';
import { askingLimits } from '../../../commands/chainPorts.ts';
import { type SignedMessage, Unavailable } from '../../../commands/ports.ts';
import { chainOf } from '../../../domain/chains.ts';
import type { MessageScheme } from '../family.ts';
import { defaultAgree } from '../node/agreement.ts';
import type { ChainRpcOptions } from '../node/nodes.ts';
import { simulate } from './accounts.ts';
import { checksummed } from './addresses.ts';
import type { EvmChainConfig } from './config.ts';
import { ChainUnavailable, createEvmRpc, type EvmNode, RpcFailed } from './rpc.ts';

/** Half of the order of secp256k1. Each signature has a twin above it, which wallets do not produce (EIP-2). */
const lowerHalf = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/** r, s and v, in hex. */
const keySignature = /^0x[0-9a-fA-F]{64}([0-9a-fA-F]{64})(?:0[01]|1[bBcC])$/;

export const evmMessages: MessageScheme = {
  signer(text) {
    if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return null;
    const lower = text.toLowerCase();
    const address = checksummed(lower.slice(2));
    return text === address || text === lower ? address : null;
  },

  async isSignedBy(address, { text, signature }) {
    const s = keySignature.exec(signature)?.[1];
    if (s === undefined || BigInt(`0x${s}`) > lowerHalf) return false;
    // The library throws for numbers that are no signature.
    const signer = await recoverMessageAddress({ message: text, signature: signature as Hex }).catch(() => null);
    return signer === address;
  },
};

const erc1271 = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)']);
const { gas, time_ms, answer_bytes } = askingLimits;
/** Positive result: the function’s selector, padded to a word. */
const accepted = `0x1626ba7e${'0'.repeat(56)}`;
/** Enough for contracts with several owners. */
const contractSignature = /^0x(?:[0-9a-fA-F]{2}){1,4096}$/;

type AcceptanceConfig = Pick<EvmChainConfig, 'chainId' | 'rpcUrls'> & Pick<ChainRpcOptions, 'lines'>;

/**
 * Calls every node of a chain; all that answer must confirm, because one lying node would give a buyer’s credit away. The contracts belong
 * to strangers: separate connections and lowest priority keep slow ones from delaying payments.
 */
export function createEvmAcceptance({ chainId, rpcUrls, lines }: AcceptanceConfig) {
  const rpc = createEvmRpc({
    chainId,
    rpcUrls,
    agree: defaultAgree(rpcUrls),
    callTimeout_ms: time_ms,
    answerMax_bytes: answer_bytes,
    lines,
  }).as('late');
  return async (contract: string, { text, signature }: SignedMessage): Promise<boolean> => {
    if (!contractSignature.test(signature)) return false;
    const args = [hashMessage(text), signature as Hex] as const;
    const data = encodeFunctionData({ abi: erc1271, functionName: 'isValidSignature', args });
    try {
      const said = await rpc.all((node) => accepts(node, contract, data));
      return said.every(Boolean);
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      const message = `${chainOf(chainId).name} cannot be asked at present whether a contract has signed`;
      throw new Unavailable(message, error.retryAfter_s, { cause: error });
    }
  };
}

/** An address without code returns nothing, which does not count as acceptance. */
async function accepts(node: EvmNode, contract: string, data: Hex): Promise<boolean> {
  const said = await simulate(node, { to: contract, data, gas: numberToHex(gas) }).catch((error: unknown) => {
    if (error instanceof RpcFailed && (error.kind === 'refused' || error.kind === 'tooLarge')) return '0x' as const;
    throw error;
  });
  return said === accepted;
}
