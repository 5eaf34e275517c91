/** Finds what a send of USDT0 left with LayerZero on Stellar, and the transaction that delivered a message there, which anyone may send. */
import { xdr } from '@stellar/stellar-sdk';
import { tokenAt } from '../../../domain/chains.ts';
import { address32 } from '../../../domain/rebalance/burnMessage.ts';
import { inMessageUnits } from '../../../domain/rebalance/cctp.ts';
import { endpointIdOf, oftOn, sendableOn, stellarUsdt0 } from '../../../domain/rebalance/usdt0.ts';
import { lower } from '../../lib/concurrency.ts';
import { createBackwardSearch } from '../backwardSearch.ts';
import type { MintFound } from '../mints.ts';
import { foundByAll } from '../node/agreement.ts';
import {
  type ArrivalAsked,
  findSentMessage,
  type MessageState,
  type OftMessages,
  type SendAsked,
  type SentMessage,
} from '../oftMessages.ts';
import { type StellarConfig, stellarChain, stellarChainId } from './config.ts';
import { addressVal, bytesVal, readView, u32Val, u64Val } from './contractCall.ts';
import { nativeOf, type SeenEvent, transfersToTreasury } from './payins/movements.ts';
import { createPages } from './payins/pages.ts';
import { ledgerName, seenInMeta } from './payins/transfers.ts';
import { type EventFilter, eventsPageIn, type FoundTransaction, ledgerRange, transactionOf } from './reads.ts';
import { RpcFailed, type StellarNode, type StellarRpc } from './rpc.ts';
import { assetContractOf } from './tokens.ts';
import { quoteSend } from './usdt0.ts';

const oft = oftOn(stellarChainId);

export function createStellarOftMessages(
  { networkPassphrase, rangeLedgersMax }: Pick<StellarConfig, 'networkPassphrase' | 'rangeLedgersMax'>,
  rpc: StellarRpc,
): OftMessages {
  const search = createBackwardSearch(rangeLedgersMax);

  async function arrival(node: StellarNode, asked: ArrivalAsked): Promise<MintFound | null> {
    if ((await stateAt(node, asked)) !== 'delivered') return null;
    const pages = createPages([receivedFilter(asked)], networkPassphrase, eventsPageIn);
    const { oldest, latest } = await ledgerRange(node);
    // A closed ledger is final. Nodes remember events for a week.
    const ledgers = { oldest: oldest.ledger, newest: latest.ledger };
    const hash = await search(`${node.name} ${asked.guid}`, ledgers, async (range) => {
      const [event] = (await pages.read(node, range))?.events ?? [];
      return event?.txHash;
    });
    return hash === undefined ? null : arrivalIn(hash, await transactionOf(node, hash), asked, networkPassphrase);
  }

  /** The Endpoint keeps the hash of a verified message until its delivery. Its nonce counts verified messages, in order. */
  async function stateAt(
    node: StellarNode,
    { from, nonce }: Pick<ArrivalAsked, 'from' | 'nonce'>,
  ): Promise<MessageState> {
    const path = [addressVal(oft), u32Val(endpointIdOf(from)), bytesVal(address32(oftOn(from)))];
    const view = (name: string, args: readonly xdr.ScVal[]) =>
      readView(node, { contract: stellarUsdt0.endpoint, name, args }, networkPassphrase);
    // In this order: a message that is verified between both reads has a hash.
    const verified = await view('inbound_nonce', path);
    const held = await view('inbound_payload_hash', [...path, u64Val(nonce)]);
    if (held instanceof Uint8Array) return 'verified';
    if (held === null && typeof verified === 'bigint') return nonce <= verified ? 'delivered' : 'unverified';
    throw new RpcFailed(node.name, 'simulateTransaction', 'refused', `it cannot read ${stellarUsdt0.endpoint}`);
  }

  return {
    async sentBy(asked, signal) {
      const found = await rpc.all(async (node) => sentIn(await transactionOf(node, asked.hash), asked), signal);
      return foundByAll(found, rpc.agree.usual, ['guid']);
    },
    async arrivalOf(asked, signal) {
      return foundByAll(await rpc.all((node) => arrival(node, asked), signal), rpc.agree.usual, ['hash', 'received']);
    },
    stateOf: (asked, signal) => rpc.answer((node) => stateAt(node, asked), signal),
    quote: (asked, signal) => rpc.answer((node) => quoteSend(node, asked, networkPassphrase), signal),
  };
}

const named = (name: string) => (event: SeenEvent) =>
  event.topics[0] !== undefined && nativeOf(event.topics[0]) === name;
const hexIn = (value: unknown): string =>
  value instanceof Uint8Array ? `0x${Buffer.from(value).toString('hex')}` : '';

function eventsOf({ events }: FoundTransaction, contract: string, name: string): readonly SeenEvent[] {
  return events
    .flat()
    .flatMap(seenInMeta((its) => its === contract))
    .filter(named(name));
}

/** A field of an event's value, which is a map by name. */
const fieldIn = ({ value }: SeenEvent, name: string): unknown =>
  (nativeOf(value) as Readonly<Record<string, unknown>> | undefined)?.[name];

/** Message of a send, if the transaction has exactly the one that the order describes. Another contract's events prove nothing. */
function sentIn(found: FoundTransaction, asked: SendAsked): SentMessage | null {
  const token = sendableOn(stellarChainId);
  if (found.status !== 'SUCCESS' || !token) return null;
  const [own, ...more] = eventsOf(found, oft, 'oft_sent');
  const [, guid, , from] = (own?.topics ?? []).map(nativeOf);
  if (!own || more.length > 0 || from !== asked.account) return null;
  const packets = eventsOf(found, stellarUsdt0.endpoint, 'packet_sent').map((event) =>
    hexIn(fieldIn(event, 'encoded_packet')),
  );
  const amount = inMessageUnits(asked.amount, token);
  return findSentMessage(packets, hexIn(guid), { ...asked, amount, from: stellarChainId });
}

/** The event's amount, or the account's gain of tokens in that transaction, if that is less. */
function arrivalIn(
  hash: string,
  found: FoundTransaction,
  { guid, from, account, token: address }: ArrivalAsked,
  networkPassphrase: string,
): MintFound | null {
  const token = tokenAt(stellarChain(), address);
  if (found.status !== 'SUCCESS' || !token) return null;
  const own = eventsOf(found, oft, 'oft_received').find(({ topics }) => {
    const [, id, source, to] = topics.map(nativeOf);
    return hexIn(id) === guid && source === endpointIdOf(from) && to === account;
  });
  const stated = own && fieldIn(own, 'amount_received_ld');
  if (typeof stated !== 'bigint') return null;
  const contract = assetContractOf(token, networkPassphrase);
  const events = found.events.flat().flatMap(seenInMeta((its) => its === contract));
  const gained = transfersToTreasury({ treasury: account, tokens: new Map([[contract, token]]), payin: null }, events);
  const received = lower(
    stated,
    gained.reduce((sum, { amount }) => sum + amount, 0n),
  );
  return { hash, blockNumber: found.ledger, blockHash: ledgerName(found.ledger), received };
}

/** `("oft_received", guid, source, recipient)` of the contract. */
function receivedFilter({ guid, account }: ArrivalAsked): EventFilter {
  const topics = [xdr.ScVal.scvSymbol('oft_received'), bytesVal(guid.slice(2))].map((each) => each.toXDR('base64'));
  return { contractIds: [oft], topics: [[...topics, '*', addressVal(account).toXDR('base64')]] };
}
