/** Finds the transaction that minted a message of CCTP on Solana: every account may submit the message, and each mint creates the nonce's account. */
import { lower } from '../../lib/concurrency.ts';
import type { MintAsked, MintFound, MintReader } from '../mints.ts';
import { foundByAll } from '../node/agreement.ts';
import { isMinted, usedNonce } from './cctp.ts';
import { landed, signaturesOf } from './landed.ts';
import { blockAt, finalHead } from './reads.ts';
import type { SolanaNode, SolanaRpc } from './rpc.ts';
import { tokenAccountOf } from './tokenProgram.ts';

/** Anybody can name the account in failed transactions, for 0.000005 SOL each. */
const pagesMax = 12;

export function createSolanaMintReader(rpc: SolanaRpc): MintReader {
  async function find(node: SolanaNode, { nonce, account, token }: MintAsked): Promise<MintFound | null> {
    if (!(await isMinted(node, nonce, 'finalized'))) return null;
    const hash = await creationOf(node, usedNonce(nonce));
    const found = hash === undefined ? null : await landed(node, hash, 'finalized');
    if (!found || found.failed) return null;
    const own = tokenAccountOf(account, token);
    const [before = 0n, after = 0n] = [found.before, found.after].map(
      (balances) => balances.find((each) => each.account === own && each.mint === token)?.amount,
    );
    const { hash: blockHash } = await blockAt(node, found.slot, 'finalized');
    const received = after > before ? after - before : 0n;
    return { hash: found.signature, blockNumber: found.slot, blockHash, received };
  }

  return {
    // An expiration is a slot here.
    async finalBlock(signal) {
      return (await rpc.all(async (node) => (await finalHead(node)).slot, signal)).reduce(lower);
    },
    async mintOf(asked, signal) {
      const found = await rpc.all((node) => find(node, asked), signal);
      return foundByAll(found, rpc.agree.usual, ['hash', 'blockHash', 'received']);
    },
  };
}

/** The oldest successful transaction that names the account: the one that created it. */
async function creationOf(node: SolanaNode, created: string): Promise<string | undefined> {
  let [before, oldest]: [string | null, string | undefined] = [null, undefined];
  for (let pages = 0; pages < pagesMax; pages++) {
    const page = await signaturesOf(node, created, { until: null, before }, { commitment: 'finalized' });
    if (page.length === 0) return oldest;
    oldest = page.findLast(({ failed }) => !failed)?.signature ?? oldest;
    before = page.at(-1)?.signature ?? null;
  }
  return undefined;
}
