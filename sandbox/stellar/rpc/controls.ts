/** Methods that no public node has: tests and the sandbox control the world with them, from any process. */
import { Asset } from '@stellar/stellar-sdk';
import { type StellarFaultKind, stellarFaultKinds } from '../../faults.ts';
import { plantCctpContracts } from '../contracts/cctp.ts';
import { plantUsdt0Contracts } from '../contracts/usdt0.ts';
import type { View } from '../ledger/view.ts';
import { type Planting, plantAsset, plantFunds } from '../plant.ts';
import { integerParam, invalid, type Method, type Node, objectParam, textParam } from './method.ts';

const ledgersMax = 1_000_000;

/**
 * `{ count, seconds }`: the first ledger includes the pending transactions; each closes at least this many seconds after the previous one.
 */
export const closeLedgers: Method = ({ chain, queue }, params) => {
  const count = integerParam(params, 'count') ?? 1;
  if (count > ledgersMax) throw invalid(`count must not exceed ${ledgersMax}`);
  for (let closed = 0; closed < count; closed++)
    chain.close(queue.take(chain.next().sequence), integerParam(params, 'seconds'));
  return { sequence: chain.history.head().sequence };
};

/** `{ asset: "CODE:G…" }` */
export const plant: Method = (node, params) => {
  const asset = assetOf(textParam(params, 'asset'));
  planted(node, (planting) => plantAsset(planting, asset));
  return { contractId: asset.contractId(node.chain.network.passphrase) };
};

/** `{ attesters }`: 20 bytes each in hex, joined by commas, in ascending order. */
export const plantCctp: Method = (node, params) => {
  const attesters = textParam(params, 'attesters').split(',');
  planted(node, ({ view }) =>
    plantCctpContracts(
      view,
      attesters.map((each) => Buffer.from(each, 'hex')),
    ),
  );
  return {};
};

/** `{ verifier }`: account that verifies messages. */
export const plantUsdt0: Method = (node, params) => {
  const verifier = textParam(params, 'verifier');
  planted(node, (planting) => plantUsdt0Contracts(planting, verifier));
  return {};
};

/** `{ address, lumens, tokens: { "CODE:G…": amount } }`, amounts in smallest units as text. */
export const fund: Method = (node, params) => {
  const address = textParam(params, 'address');
  const tokens = Object.entries(objectParam(params, 'tokens')).map(([name, amount]) => ({
    asset: assetOf(name),
    amount: BigInt(String(amount)),
  }));
  planted(node, (planting) => plantFunds(planting, address, { lumens: BigInt(String(params['lumens'] ?? 0)), tokens }));
  return {};
};

/** `{ method, kind, times }`, see faults.ts. */
export const addFault: Method = ({ faults }, params) => {
  const kind = textParam(params, 'kind');
  if (!stellarFaultKinds.includes(kind as StellarFaultKind))
    throw invalid(`kind must be one of ${stellarFaultKinds.join(', ')}`);
  const fault = { method: textParam(params, 'method'), kind: kind as StellarFaultKind };
  faults.add({ ...fault, times: integerParam(params, 'times') ?? 1 });
  return {};
};

/** Removes faults that have not occurred yet. */
export const clearFaults: Method = ({ faults }) => {
  faults.clear();
  return {};
};

/** `{ before }`: the first ledger that the node remembers from now on. */
export const forget: Method = ({ chain }, params) => {
  chain.history.forget(integerParam(params, 'before') ?? 0);
  return { oldestLedger: chain.history.oldest().sequence };
};

function planted({ chain }: Node, write: (planting: Planting) => void): void {
  chain.plant((view: View) => write({ view, network: chain.network, ledger: chain.next() }));
}

function assetOf(name: string): Asset {
  const [code = '', issuer] = name.split(':');
  try {
    return new Asset(code, issuer);
  } catch (error) {
    throw invalid(`asset must be CODE:ISSUER: ${(error as Error).message}`);
  }
}
