/** Finds the transaction that minted a message of CCTP on Stellar: every account may call the forwarder. */
import { xdr } from '@stellar/stellar-sdk';
import { findToken } from '../../../domain/chains.ts';
import { stellarCctp } from '../../../domain/rebalance/cctp.ts';
import { lower } from '../../lib/concurrency.ts';
import { createBackwardSearch } from '../backwardSearch.ts';
import type { MintAsked, MintFound, MintReader } from '../mints.ts';
import { foundByAll } from '../node/agreement.ts';
import { isMinted } from './cctp.ts';
import { type StellarConfig, stellarChain } from './config.ts';
import { createPages } from './payins/pages.ts';
import { ledgerName } from './payins/transfers.ts';
import { arrivedIn } from './payouts/fate.ts';
import { type EventFilter, eventsPageIn, ledgerRange, transactionOf } from './reads.ts';
import type { StellarNode, StellarRpc } from './rpc.ts';

export function createStellarMintReader(
  { networkPassphrase, rangeLedgersMax }: Pick<StellarConfig, 'networkPassphrase' | 'rangeLedgersMax'>,
  rpc: StellarRpc,
): MintReader {
  const search = createBackwardSearch(rangeLedgersMax);

  async function find(node: StellarNode, { nonce, account, token: address }: MintAsked): Promise<MintFound | null> {
    if (!(await isMinted(node, nonce, networkPassphrase))) return null;
    const pages = createPages([receivedFilter(nonce)], networkPassphrase, eventsPageIn);
    const { oldest, latest } = await ledgerRange(node);
    // Nodes remember events for a week.
    const ledgers = { oldest: oldest.ledger, newest: latest.ledger };
    const found = await search(
      `${node.name} ${nonce}`,
      ledgers,
      async (range): Promise<MintFound | null | undefined> => {
        const [event] = (await pages.read(node, range))?.events ?? [];
        if (!event) return undefined;
        const done = await transactionOf(node, event.txHash);
        const token = findToken(stellarChain(), 'USDC');
        if (done.status !== 'SUCCESS' || token?.address !== address) return null;
        const form = { kind: 'mint', message: '0x', attestation: '0x' } as const;
        const received = arrivedIn(done, { token, receiver: account, form }, { treasury: account, networkPassphrase });
        const { ledger } = done;
        return { hash: event.txHash, blockNumber: ledger, blockHash: ledgerName(ledger), received: received ?? 0n };
      },
    );
    return found ?? null;
  }

  return {
    // A closed ledger is final.
    async finalBlock(signal) {
      return (await rpc.all(async (node) => (await ledgerRange(node)).latest.ledger, signal)).reduce(lower);
    },
    async mintOf(asked, signal) {
      return foundByAll(await rpc.all((node) => find(node, asked), signal), rpc.agree.usual, ['hash', 'received']);
    },
  };
}

/** `("message_received", caller, nonce, finality)` of the transmitter. */
const receivedFilter = (nonce: string): EventFilter => {
  const name = xdr.ScVal.scvSymbol('message_received').toXDR('base64');
  const own = xdr.ScVal.scvBytes(Buffer.from(nonce, 'hex')).toXDR('base64');
  return { contractIds: [stellarCctp.transmitter], topics: [[name, '*', own, '*']] };
};
