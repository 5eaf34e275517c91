/** Who signed a text on EVM: a key (EIP-191), or a contract that takes the signature for its own (ERC-1271). */
import { encodeFunctionData, type Hex, hashMessage, numberToHex, parseAbi, recoverMessageAddress } from 'viem';
import { askingLimits } from '../../../commands/askingContracts.ts';
import { type SignedMessage, Unavailable } from '../../../commands/ports.ts';
import { chainOf } from '../../../domain/chains.ts';
import type { MessageScheme } from '../family.ts';
import { defaultAgree } from '../node/agreement.ts';
import type { ChainRpcOptions } from '../node/nodes.ts';
import { simulate } from './accounts.ts';
import { checksummed } from './addresses.ts';
import type { EvmChainConfig } from './config.ts';
import { ChainUnavailable, createEvmRpc, type EvmNode, RpcFailed } from './rpc.ts';

/** Half of the order of secp256k1. Above it lies the twin of every signature, which wallets do not make (EIP-2). */
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
    // Numbers that belong to no signature make the library throw.
    const signer = await recoverMessageAddress({ message: text, signature: signature as Hex }).catch(() => null);
    return signer === address;
  },
};

const erc1271 = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)']);
const { gas, time_ms, answer_bytes } = askingLimits;
/** What a yes returns: the function’s selector, padded to a word. */
const accepted = `0x1626ba7e${'0'.repeat(56)}`;
/** What contracts of several owners need, and far above. */
const contractSignature = /^0x(?:[0-9a-fA-F]{2}){1,4096}$/;

type AcceptanceConfig = Pick<EvmChainConfig, 'chainId' | 'rpcUrls'> & Pick<ChainRpcOptions, 'lines'>;

/**
 * Asks every node of a chain; all that answer must say yes, for one that lies would give a buyer’s credit away. The contracts are
 * strangers': over connections of their own, and after all other calls, slow ones hold up
 * no payment.
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
      const said = await rpc.every((node) => accepts(node, contract, data));
      return said.every(Boolean);
    } catch (error) {
      if (!(error instanceof ChainUnavailable)) throw error;
      const message = `${chainOf(chainId).name} cannot be asked at present whether a contract has signed`;
      throw new Unavailable(message, error.retryAfter_s, { cause: error });
    }
  };
}

/** Without code nothing answers: the call would return nothing, which is no yes. */
async function accepts(node: EvmNode, contract: string, data: Hex): Promise<boolean> {
  const said = await simulate(node, { to: contract, data, gas: numberToHex(gas) }).catch((error: unknown) => {
    if (error instanceof RpcFailed && (error.kind === 'refused' || error.kind === 'tooLarge')) return '0x' as const;
    throw error;
  });
  return said === accepted;
}
