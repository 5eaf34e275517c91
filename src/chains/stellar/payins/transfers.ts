import { StrKey, TransactionBuilder, xdr } from '@stellar/stellar-sdk';
import type { Transfer } from '../../../../domain/payment/events.ts';
import { stellarCctp } from '../../../../domain/rebalance/cctp.ts';
import { type Instant, instant } from '../../../../domain/time.ts';
import { evidenceMax, type TransferLog, transferOf, type Unreadable } from '../../ports.ts';
import { type StellarConfig, stellarChain, stellarChainId } from '../config.ts';
import type { FoundTransaction, RawEvent } from '../reads.ts';
import { assetContractOf, payinToken } from '../tokens.ts';
import { type SeenEvent, type TreasuryTransfer, transfersToTreasury, type Watched } from './movements.ts';

/** A transaction has at most a hundred operations. Numbers from 100 on are for further transfers of one operation. */
const operationsMax = 100;

/** The first transfer of an operation has the operation's number: with chain and transaction it is the payin's identity. */
const indexOf = (operation: number, nth: number): number => operation + nth * operationsMax;

/**
 * Money of the treasury's own rebalances: the forwarder of CCTP sends it without a memo. It is no payin, and a refund to the forwarder would
 * be lost. A payer who pays through the forwarder names a memo by an M address.
 */
const isMint = ({ from, memo }: TreasuryTransfer): boolean => from === stellarCctp.forwarder && memo === null;

/** Closed ledgers are final, so a ledger's number identifies it. */
export const ledgerName = (ledger: bigint): string => `ledger ${ledger}`;

export interface TransferReader {
  readonly watched: Watched;
  /** Transfers in the events of a ledger range. @param events of whole operations, in order, each once */
  logs(events: readonly RawEvent[]): LedgerTransfers;
  /** Transfers of a transaction; empty if it failed. @param hash as requested @throws Error if its events cannot be parsed */
  transfers(found: FoundTransaction, hash: string): readonly Transfer[];
}

export interface LedgerTransfers {
  readonly logs: readonly TransferLog[];
  /** Operations with an undecodable event: none of their events counts. Newer protocols add values that the SDK does not know. */
  readonly unreadable: readonly Unreadable[];
}

export function createTransferReader({ networkPassphrase, treasury, payinContract }: Networked): TransferReader {
  const watched = watchedBy({ networkPassphrase, treasury, payinContract });
  const isWatched = (contract: string) => watched.tokens.has(contract) || watched.payin?.contract === contract;

  const logOf = (movement: TreasuryTransfer, nth: number, where: Where): TransferLog => ({
    ...movement,
    txHash: where.txHash,
    blockNumber: where.ledger,
    blockHash: ledgerName(where.ledger),
    logIndex: indexOf(where.operation, nth),
    blockTime: where.closedAt,
  });

  return {
    watched,
    logs(events) {
      const operations = [...Map.groupBy(events, ({ txHash, operation }) => `${txHash} ${operation}`).values()];
      const read = operations.map((own) => {
        const [first] = own;
        if (!first) return { logs: [], unreadable: [] };
        try {
          const where = { ...first, closedAt: instant(Date.parse(first.closedAt)) };
          return {
            logs: transfersToTreasury(watched, own.map(seen)).flatMap((each, nth) =>
              isMint(each) ? [] : [logOf(each, nth, where)],
            ),
            unreadable: [],
          };
        } catch (error) {
          return { logs: [], unreadable: [setAside(watched, first, own, error)] };
        }
      });
      return { logs: read.flatMap(({ logs }) => logs), unreadable: read.flatMap(({ unreadable }) => unreadable) };
    },
    transfers(found, asked) {
      if (found.status !== 'SUCCESS') return [];
      // Nodes decode capital letters too: a payin has one identity, in any spelling of its hash.
      const hash = asked.toLowerCase();
      const txHash = hash === found.innerHash ? hashOf(found.envelopeXdr, networkPassphrase) : hash;
      const closedAt = instant(found.createdAt_s * 1_000);
      return found.events.flatMap((events, operation) =>
        transfersToTreasury(watched, events.flatMap(seenInMeta(isWatched))).flatMap((movement, nth) => {
          const where = { txHash, operation, ledger: found.ledger, closedAt };
          return isMint(movement) ? [] : [transferOf(stellarChainId, logOf(movement, nth, where))];
        }),
      );
    },
  };
}

type Networked = Pick<StellarConfig, 'networkPassphrase' | 'treasury' | 'payinContract'>;

function watchedBy({ networkPassphrase, treasury, payinContract: contract }: Networked): Watched {
  const tokens = stellarChain().tokens.map((token) => [assetContractOf(token, networkPassphrase), token] as const);
  const tokenContract = assetContractOf(payinToken(), networkPassphrase);
  return { treasury, tokens: new Map(tokens), payin: contract === null ? null : { contract, tokenContract } };
}

interface Where {
  readonly txHash: string;
  readonly operation: number;
  readonly ledger: bigint;
  readonly closedAt: Instant;
}

const seen = ({ contractId, topics, value }: RawEvent): SeenEvent => ({
  contract: contractId,
  topics: topics.map((topic) => xdr.ScVal.fromXDR(topic, 'base64')),
  value: xdr.ScVal.fromXDR(value, 'base64'),
});

/** Addresses are shared, so every payment's expiry waits for an unreadable transaction. */
function setAside(
  { treasury, payin }: Watched,
  { txHash, ledger }: RawEvent,
  own: readonly RawEvent[],
  error: unknown,
): Unreadable {
  const why = error instanceof Error ? error.message : 'it cannot be decoded';
  const shown = own.map(({ id, contractId, topics, value }) => ({ id, contractId, topics, value }));
  return {
    txHash,
    blockNumber: ledger,
    addresses: payin === null ? [treasury] : [treasury, payin.contract],
    evidence: `${why}: ${JSON.stringify(shown)}`.slice(0, evidenceMax),
  };
}

/**
 * Decodes an event in a transaction's metadata, XDR in base64; empty for an event without a contract. Other contracts' events are not
 * decoded: the SDK need not know their content.
 */
export const seenInMeta =
  (isWanted: (contract: string) => boolean) =>
  (base64: string): readonly SeenEvent[] => {
    const contract = contractIn(Buffer.from(base64, 'base64'));
    if (contract === undefined || !isWanted(contract)) return [];
    const event = xdr.ContractEvent.fromXDR(base64, 'base64');
    if (event.type().name !== 'contract') return [];
    const body = event.body().v0();
    return [{ contract, topics: body.topics(), value: body.data() }];
  };

/** An event begins with 4 bytes for extensions, 4 that say whether a contract follows, and the contract's 32. */
const contractIn = (event: Buffer): string | undefined =>
  event.length >= 40 && event.readUInt32BE(4) === 1 ? StrKey.encodeContract(event.subarray(8, 40)) : undefined;

/** A transaction inside a fee bump is found by its own hash too; events carry the hash of the fee bump. */
const hashOf = (envelopeXdr: string, passphrase: string): string =>
  TransactionBuilder.fromXDR(envelopeXdr, passphrase).hash().toString('hex');
