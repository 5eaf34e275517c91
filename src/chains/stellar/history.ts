/** Effects of transactions on an account. Every movement of an asset, including classic ones and fees, is an event (CAP-67). */
import { xdr } from '@stellar/stellar-sdk';
import { heldTokens } from '../../../domain/chains.ts';
import { instant } from '../../../domain/time.ts';
import { inParallel } from '../../lib/concurrency.ts';
import { agreedStanding, type BlockRange, type Happened, readPage } from '../historyPages.ts';
import {
  type AccountBalances,
  type AccountHistory,
  type AccountTransaction,
  coin,
  type HistoryAsked,
  type HistoryPage,
  HistoryTooLong,
} from '../ports.ts';
import { holdingOf } from './accounts.ts';
import { accountOf, memoIn } from './addresses.ts';
import { type Assets, assetsOf, changesIn, feePaidIn, hashMemoIn, partiesIn, signersIn } from './changes.ts';
import { type StellarConfig, stellarChain, stellarChainId } from './config.ts';
import { addressTopic } from './payins/movements.ts';
import { createPages } from './payins/pages.ts';
import { ledgerName } from './payins/transfers.ts';
import { allEventsPageIn, type EventFilter, ledgerRange, transactionOf } from './reads.ts';
import { RpcFailed, type StellarNode, type StellarRpc } from './rpc.ts';
import { assetOf } from './tokens.ts';

/** Maximum concurrent calls to one node. */
const callsAtOnce = 8;

type Config = Pick<StellarConfig, 'networkPassphrase' | 'rangeLedgersMax' | 'payinContract'>;

export function createStellarHistory(
  { networkPassphrase, rangeLedgersMax, payinContract }: Config,
  anyRpc: StellarRpc,
): AccountHistory {
  const rpc = anyRpc.as('late');
  const tokens = heldTokens(stellarChain());
  const assets = assetsOf({ networkPassphrase, payinContract });

  const page = (node: StellarNode, asked: HistoryAsked): Promise<HistoryPage> => {
    const pages = createPages(filtersOf(asked.account, assets), networkPassphrase, allEventsPageIn);
    return readPage(asked, {
      span: BigInt(rangeLedgersMax),
      happenedIn: async (range) => ({ found: await found(node, range), complete: true }),
      read: (some) => inParallel(some, callsAtOnce, ({ hash }) => read(node, asked.account, hash)),
    });

    /** Halves a range with more events than one read allows. @throws HistoryTooLong */
    async function found(node: StellarNode, { from, to }: BlockRange): Promise<readonly Happened[]> {
      const told = await pages.read(node, { from, to });
      if (told && told.to < to) throw new RpcFailed(node.name, 'getEvents', 'refused', `it lags behind ledger ${to}`);
      if (told) {
        const hashes = new Map(told.events.map(({ txHash, ledger }) => [txHash, ledger]));
        return [...hashes].map(([hash, blockNumber]) => ({ hash, blockNumber }));
      }
      if (from === to) throw new HistoryTooLong(`ledger ${from} holds more of ${asked.account} than is read in one go`);
      const middle = (from + to) / 2n;
      return [...(await found(node, { from, to: middle })), ...(await found(node, { from: middle + 1n, to }))];
    }
  };

  async function read(node: StellarNode, account: string, hash: string): Promise<AccountTransaction> {
    const shown = await transactionOf(node, hash);
    const isWhole = shown.status !== 'NOT_FOUND' && shown.own.length > 0;
    if (!isWhole) throw new RpcFailed(node.name, 'getTransaction', 'refused', `it does not show ${hash} whole`);
    try {
      const changes = shown.status === 'SUCCESS' ? changesIn(shown, account, assets) : [];
      const hashMemo = hashMemoIn(shown.envelopeXdr, networkPassphrase);
      return {
        txHash: hash,
        blockNumber: shown.ledger,
        blockHash: ledgerName(shown.ledger),
        time: instant(shown.createdAt_s * 1_000),
        ...signersIn(partiesIn(shown.envelopeXdr, networkPassphrase), account, changes),
        succeeded: shown.status === 'SUCCESS',
        fee: feePaidIn(shown, account),
        changes,
        ...(hashMemo !== undefined && { hashMemo }),
      };
    } catch (error) {
      const why = error instanceof Error ? error.message : 'it cannot be decoded';
      throw new RpcFailed(node.name, 'getTransaction', 'malformed', `transaction ${hash}: ${why}`);
    }
  }

  async function standingIn(node: StellarNode, account: string): Promise<AccountBalances> {
    const { account: lumens, trustlines, ledger } = await holdingOf(node, account, tokens.map(assetOf));
    const { latest } = await ledgerRange(node);
    const held = tokens.map(({ address }, at) => [address, trustlines[at]?.balance ?? 0n]);
    return {
      blockNumber: ledger,
      blockHash: ledgerName(ledger),
      // A ledger may have closed in between: the time is the later one's.
      time: instant(latest.closedAt_s * 1_000),
      balances: { [coin]: lumens?.balance ?? 0n, ...Object.fromEntries(held) },
    };
  }

  return {
    chainId: stellarChainId,
    listsCoin: true,
    holderOf: (address) => accountOf(address) ?? address,
    memoIn,
    transactions: (asked, signal) => rpc.answer((node) => page(node, asked), signal),
    async oldest(signal) {
      const told = await rpc.all(async (node) => (await ledgerRange(node)).oldest, signal);
      const { ledger, closedAt_s } = told.reduce((a, b) => (b.ledger < a.ledger ? b : a));
      return { blockNumber: ledger, time: instant(closedAt_s * 1_000) };
    },
    standing: (account, signal) =>
      agreedStanding(
        rpc,
        account,
        (node) => standingIn(node, account),
        (node) => standingIn(node, account),
        signal,
      ),
    // A closed ledger is final.
    finality: async () => 'final',
  };
}

/** A filter accepts at most five contracts and five event topics. */
function filtersOf(account: string, { contracts, lumens }: Assets): readonly EventFilter[] {
  const symbol = (name: string) => xdr.ScVal.scvSymbol(name).toXDR('base64');
  const own = addressTopic(account);
  const alone = ['mint', 'burn', 'clawback'].map((name) => [symbol(name), own, '**']);
  const transfers = [
    [symbol('transfer'), own, '**'],
    [symbol('transfer'), '*', own, '**'],
  ];
  return [
    { contractIds: [...contracts.keys()], topics: [...transfers, ...alone] },
    { contractIds: [lumens], topics: [[symbol('fee'), own, '**']] },
  ];
}
