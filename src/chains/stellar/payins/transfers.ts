import { StrKey, TransactionBuilder, xdr } from '@stellar/stellar-sdk';
import type { Transfer } from '../../../../domain/payment/events.ts';
import { type Instant, instant } from '../../../../domain/time.ts';
import { type TransferLog, transferOf } from '../../ports.ts';
import { type StellarConfig, stellarChain, stellarChainId } from '../config.ts';
import type { FoundTransaction, RawEvent } from '../reads.ts';
import { assetContractOf, payinToken } from '../tokens.ts';
import { type Movement, movementsOf, type SeenEvent, type Watched } from './movements.ts';

/** A transaction has at most a hundred operations. Numbers from 100 on are for the further movements of one operation. */
const operationsMax = 100;

/** The first movement of an operation has the operation's number: with chain and transaction it is the payin's identity. */
const indexOf = (operation: number, nth: number): number => operation + nth * operationsMax;

/** Closed ledgers are final, so a ledger's number identifies it. */
export const ledgerName = (ledger: bigint): string => `ledger ${ledger}`;

export interface TransferReader {
  readonly watched: Watched;
  /** What the events of a range of ledgers moved. @param events of whole operations, in order, each once */
  logs(events: readonly RawEvent[]): readonly TransferLog[];
  /** What a transaction moved; nothing if it failed. @param hash as asked for */
  transfers(found: FoundTransaction, hash: string): readonly Transfer[];
}

export function createTransferReader({ networkPassphrase, treasury, payinContract }: Networked): TransferReader {
  const watched = watchedBy({ networkPassphrase, treasury, payinContract });

  const logOf = (movement: Movement, nth: number, where: Where): TransferLog => ({
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
      const operations = Map.groupBy(events, ({ txHash, operation }) => `${txHash} ${operation}`);
      return [...operations.values()].flatMap((own) => {
        const [first] = own;
        if (!first) return [];
        const where = { ...first, closedAt: instant(Date.parse(first.closedAt)) };
        return movementsOf(watched, own.map(seen)).map((movement, nth) => logOf(movement, nth, where));
      });
    },
    transfers(found, asked) {
      if (found.status !== 'SUCCESS') return [];
      const txHash = found.feeBump ? hashOf(found.envelopeXdr, networkPassphrase) : asked;
      const closedAt = instant(found.createdAt_s * 1_000);
      return found.events.flatMap((events, operation) =>
        movementsOf(watched, events.flatMap(seenInMeta)).map((movement, nth) =>
          transferOf(stellarChainId, logOf(movement, nth, { txHash, operation, ledger: found.ledger, closedAt })),
        ),
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

/** An event of a transaction's metadata, XDR in base64; none for what no contract has told. */
export function seenInMeta(base64: string): readonly SeenEvent[] {
  const event = xdr.ContractEvent.fromXDR(base64, 'base64');
  const contractId = event.contractId();
  if (!contractId || event.type().name !== 'contract') return [];
  const body = event.body().v0();
  const contract = StrKey.encodeContract(Buffer.from(contractId as unknown as Uint8Array));
  return [{ contract, topics: body.topics(), value: body.data() }];
}

/** A transaction inside a fee bump is found by its own hash too; events carry the hash of the fee bump. */
const hashOf = (envelopeXdr: string, passphrase: string): string =>
  TransactionBuilder.fromXDR(envelopeXdr, passphrase).hash().toString('hex');
