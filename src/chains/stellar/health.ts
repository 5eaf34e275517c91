/** Facts about Stellar's nodes for operators. */
import { xdr } from '@stellar/stellar-sdk';
import { isUsdt0Chain } from '../../../domain/rebalance/usdt0.ts';
import { instant } from '../../../domain/time.ts';
import { type ChainHealth, createChainHealth, type MethodProbe, type NodeLook, tryMethods } from '../health.ts';
import { ask, object, optional, text, whole } from '../node/jsonRpc.ts';
import { describeContracts } from './cctp.ts';
import { mustTellEvents } from './changes.ts';
import { newestProtocol, type StellarConfig, stellarChain, stellarChainId } from './config.ts';
import { eventsPageIn, eventsQuery, ledgerRange } from './reads.ts';
import { RpcFailed, type StellarNode, type StellarRpc } from './rpc.ts';
import { describeUsdt0 } from './usdt0.ts';

type Config = Pick<StellarConfig, 'networkPassphrase' | 'treasury'>;

export const createStellarHealth = (rpc: StellarRpc, { networkPassphrase, treasury }: Config): ChainHealth =>
  createChainHealth(stellarChain(), rpc, stellarChain().block_ms, {
    identity: (node) => ask(node, 'getNetwork', {}, (answer) => text(object(answer)['passphrase'])),
    look: (node) => look(node, networkPassphrase),
    features: [
      { what: 'history', needed: true, tryOut: retention },
      { what: 'events', needed: true, tryOut: events },
      { what: 'methods', needed: true, tryOut: (node) => tryMethods(node, probes) },
      { what: 'rebalances by CCTP', needed: false, tryOut: (node) => describeContracts(node, networkPassphrase) },
      ...(isUsdt0Chain(stellarChainId)
        ? [
            {
              what: 'rebalances by USDT0',
              needed: false,
              tryOut: (node: StellarNode) => describeUsdt0(node, networkPassphrase, treasury),
            },
          ]
        : []),
    ],
    comparisons: [protocolProblem],
    pace_ms,
  });

/** XDR in base 64 that is no transaction. */
const noTransaction = 'AAAA';
/** Account with the key of 32 zero bytes, which nobody owns. */
const noAccount = xdr.LedgerKey.account(
  new xdr.LedgerKeyAccount({ accountId: xdr.PublicKey.publicKeyTypeEd25519(Buffer.alloc(32)) }),
);

/** One probe per required method; events and ledgers are tried above. */
const probes: readonly MethodProbe[] = [
  { method: 'getNetwork', params: {} },
  { method: 'getFeeStats', params: {} },
  { method: 'getLedgerEntries', params: { keys: [noAccount.toXDR('base64')] } },
  { method: 'getTransaction', params: { hash: '0'.repeat(64) } },
  { method: 'simulateTransaction', params: { transaction: noTransaction }, refusedAnyway: true },
  { method: 'sendTransaction', params: { transaction: noTransaction }, refusedAnyway: true },
];

/** A ledger is final at its close, if the node emits its events: a node that stops emitting classic events hides payins. */
async function look(node: StellarNode, networkPassphrase: string): Promise<NodeLook> {
  const range = await ledgerRange(node);
  const { ledger, closedAt_s } = range.latest;
  const head = { blockNumber: ledger, time: instant(closedAt_s * 1_000) };
  try {
    await mustTellEvents(node, networkPassphrase, range);
  } catch (error) {
    if (!(error instanceof RpcFailed)) throw error;
    return { head, final: { why: error.message } };
  }
  return { head, final: { blockNumber: ledger } };
}

/** The scan must find what it missed during a night. */
async function retention(node: StellarNode): Promise<string> {
  const { oldest, latest } = await ledgerRange(node);
  return `${latest.ledger - oldest.ledger} ledgers, ${Math.round((latest.closedAt_s - oldest.closedAt_s) / 3_600)} hours`;
}

const eventLedgers = 100;
const eventsTried = 1_000;

/** Events of any contract. */
async function events(node: StellarNode): Promise<string> {
  const { oldest, latest } = await ledgerRange(node);
  const startLedger = Math.max(Number(oldest.ledger), Number(latest.ledger) - eventLedgers);
  const query = eventsQuery([], { startLedger, endLedger: Number(latest.ledger) }, eventsTried);
  const page = await ask(node, 'getEvents', query, eventsPageIn);
  return `${page.events.length} of ${eventsTried} that were asked for, in the last ${eventLedgers} ledgers`;
}

const paceLeast = 100n;

async function pace_ms(node: StellarNode): Promise<number | undefined> {
  const { oldest, latest } = await ledgerRange(node);
  const ledgers = latest.ledger - oldest.ledger;
  if (ledgers < paceLeast) return undefined;
  return ((latest.closedAt_s - oldest.closedAt_s) * 1_000) / Number(ledgers);
}

async function protocolProblem(node: StellarNode): Promise<string | undefined> {
  const protocol = await ask(node, 'getNetwork', {}, (answer) => optional(object(answer)['protocolVersion'], whole));
  if (protocol === undefined || protocol <= BigInt(newestProtocol)) return undefined;
  return (
    `Stellar runs protocol ${protocol}, and this release reads up to ${newestProtocol}: what it cannot decode is set aside ` +
    '(transactionUnreadable). Upgrade'
  );
}
