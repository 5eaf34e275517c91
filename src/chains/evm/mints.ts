/** Finds the transaction that minted a message of CCTP: every account may submit the message, not only the treasury. */
import { encodeEventTopics, type Hex, numberToHex, parseAbi, zeroAddress } from 'viem';
import { cctpContracts } from '../../../domain/rebalance/cctp.ts';
import { lower } from '../../lib/concurrency.ts';
import { createBackwardSearch } from '../backwardSearch.ts';
import type { MintAsked, MintFound, MintReader } from '../mints.ts';
import { foundByAll } from '../node/agreement.ts';
import { ask } from '../node/jsonRpc.ts';
import { topicOf } from './accounts.ts';
import { isMinted } from './cctp.ts';
import type { EvmChainConfig } from './config.ts';
import { finalHeight } from './finality.ts';
import { knownHeader, receiptOf, toLogs, transferTopic } from './reads.ts';
import { createEvmRpc, type EvmNode, type EvmRpc } from './rpc.ts';

const receivedAbi = parseAbi([
  'event MessageReceived(address indexed caller, uint32 sourceDomain, bytes32 indexed nonce, bytes32 sender, uint32 indexed finalityThresholdExecuted, bytes messageBody)',
]);

export function createMintReader(
  config: Pick<EvmChainConfig, 'depths' | 'rangeBlocksMax'> & EvmChainConfig,
  rpc: EvmRpc = createEvmRpc(config),
): MintReader {
  const { depths, rangeBlocksMax } = config;
  const search = createBackwardSearch(rangeBlocksMax);
  const finalAt = async (node: EvmNode) => finalHeight(node, await knownHeader(node, 'latest'), depths.finalLarge);

  async function find(node: EvmNode, { nonce, account, token }: MintAsked): Promise<MintFound | null> {
    if (!(await isMinted(node, nonce))) return null;
    const [topic] = encodeEventTopics({ abi: receivedAbi, eventName: 'MessageReceived' });
    const blocks = { oldest: 0n, newest: await finalAt(node) };
    const found = await search(
      `${node.name} ${nonce}`,
      blocks,
      async ({ from, to }): Promise<MintFound | undefined> => {
        const range = { fromBlock: numberToHex(from), toBlock: numberToHex(to) };
        const filter = { address: cctpContracts.transmitter, topics: [topic, null, `0x${nonce}`], ...range };
        const { logs } = await ask(node, 'eth_getLogs', [filter], toLogs);
        const [log] = logs;
        const receipt = log && (await receiptOf(node, log.txHash));
        if (!receipt?.succeeded) return undefined;
        const { hash, blockNumber, blockHash } = receipt;
        const received = receipt.logs
          .filter(({ address, topics }) => isMintTo(address, topics, { token, account }))
          .reduce((sum, { data }) => sum + BigInt(data), 0n);
        return { hash, blockNumber, blockHash, received };
      },
    );
    return found ?? null;
  }

  return {
    async finalBlock(signal) {
      return (await rpc.all(finalAt, signal)).reduce(lower);
    },
    async mintOf(asked, signal) {
      const found = await rpc.all((node) => find(node, asked), signal);
      return foundByAll(found, rpc.agree.usual, ['hash', 'blockHash', 'received']);
    },
  };
}

const isMintTo = (
  address: string,
  topics: readonly Hex[],
  { token, account }: Pick<MintAsked, 'token' | 'account'>,
): boolean =>
  address.toLowerCase() === token.toLowerCase() &&
  topics[0]?.toLowerCase() === transferTopic &&
  topics[1]?.toLowerCase() === topicOf(zeroAddress) &&
  topics[2]?.toLowerCase() === topicOf(account);
