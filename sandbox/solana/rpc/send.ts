/** Takes transactions: checks them first, as far as the caller wants that, and puts them into the newest slot. */
import { getBase58Encoder, getSolanaErrorFromTransactionError } from '@solana/kit';
import type { TransactionError } from '../chain/errors.ts';
import type { Outcome } from '../chain/machine.ts';
import { isSigned } from '../chain/signatures.ts';
import { keysOf, loadAddresses, parseTransaction, type Submitted } from '../chain/transaction.ts';
import { airdrop } from '../faucet.ts';
import { checkHealth, latestBlockhash } from './cluster.ts';
import {
  addressParam,
  type Config,
  commitmentOf,
  configParam,
  contextSlot,
  inContext,
  integerParam,
  invalid,
  type Method,
  type Params,
  RpcError,
  rpcCodes,
  textParam,
  type View,
} from './method.ts';

export const sendTransaction: Method = (view, params) => {
  const config = configParam(params, 1);
  const submitted = submittedOf(params, config);
  if (config['skipPreflight'] !== true) preflight(view, submitted, config);
  // A transaction that cannot land is accepted, too, as on the network, and never lands.
  if (view.head === view.chain.head()) view.chain.land(submitted);
  return submitted.signature;
};

/** The bytes of a request's first parameter. @throws RpcError when they are no transaction */
export function submittedOf(params: Params, config: Config): Submitted {
  const text = textParam(params, 0, 'transaction');
  const { encoding = 'base58' } = config;
  if (encoding !== 'base58' && encoding !== 'base64') throw invalid(`unsupported encoding: ${String(encoding)}`);
  try {
    return parseTransaction(
      new Uint8Array(encoding === 'base64' ? Buffer.from(text, 'base64') : getBase58Encoder().encode(text)),
    );
  } catch (error) {
    throw invalid(`failed to deserialize solana_transaction::versioned::VersionedTransaction: ${textOf(error)}`);
  }
}

const textOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

function preflight(view: View, submitted: Submitted, config: Config): void {
  const slot = contextSlot(view, config, commitmentOf(config, 'preflightCommitment'));
  const outcome = simulate(view, submitted, { slot, signaturesChecked: true, anyBlockhash: false });
  if (outcome.err === 'SignatureFailure') {
    throw new RpcError(rpcCodes.signatureVerification, 'Transaction signature verification failure');
  }
  checkHealth(view);
  if (outcome.err === null) return;
  throw new RpcError(rpcCodes.preflightFailure, `Transaction simulation failed: ${errorText(outcome)}`, {
    ...simulationView(outcome),
    accounts: null,
  });
}

interface Simulation {
  /** The state that it runs on is that of this slot. */
  readonly slot: number;
  readonly signaturesChecked: boolean;
  readonly anyBlockhash: boolean;
}

const nothingRun = (err: TransactionError): Outcome => ({ err, logs: [], unitsConsumed: 0, inner: [] });

function simulate({ chain }: View, submitted: Submitted, options: Simulation): Outcome {
  const { slot, signaturesChecked, anyBlockhash } = options;
  const { transaction, message } = submitted;
  if (signaturesChecked && !isSigned(transaction)) return nothingRun('SignatureFailure');
  if (!anyBlockhash && chain.blockhashes.find(message.lifetimeToken, slot) === undefined) {
    return nothingRun('BlockhashNotFound');
  }
  // A block knows only of what came before it, in itself or in an earlier one.
  const landed = chain.history.find(submitted.signature);
  if (landed && landed.slot <= slot) return nothingRun('AlreadyProcessed');
  const loaded = loadAddresses(submitted, (address) => chain.accounts.get(address, slot));
  if (!loaded) return nothingRun('AddressLookupTableNotFound');
  chain.machine.setClock(slot, chain.times.at(slot));
  return chain.accounts.asOf(slot, keysOf(submitted, loaded), () => chain.machine.simulate(transaction));
}

/** As the network words it: what failed in an instruction stands in the last line of its logs, too. */
function errorText({ err, logs }: Outcome): string {
  if (typeof err !== 'object' || err === null || !('InstructionError' in err)) {
    return getSolanaErrorFromTransactionError(err as never).message;
  }
  const [index, reason] = err['InstructionError'] as [number, unknown];
  const [, said] = logs.findLast((line) => line.includes(' failed: '))?.split(' failed: ') ?? [];
  return `Error processing Instruction ${index}: ${said ?? JSON.stringify(reason)}`;
}

const simulationView = ({ err, logs, unitsConsumed }: Outcome) => ({
  err,
  logs,
  unitsConsumed,
  innerInstructions: null,
  returnData: null,
});

export const simulateTransaction: Method = (view, params) => {
  const config = configParam(params, 1);
  const { sigVerify = false, replaceRecentBlockhash = false } = config;
  if (sigVerify && replaceRecentBlockhash) throw invalid('sigVerify may not be used with replaceRecentBlockhash');
  if (config['accounts'] !== undefined) throw invalid('accounts after a simulation are not known here');
  const slot = contextSlot(view, config);
  const submitted = submittedOf(params, config);
  const outcome = simulate(view, submitted, {
    slot,
    signaturesChecked: sigVerify === true,
    anyBlockhash: replaceRecentBlockhash === true,
  });
  return inContext(slot, {
    ...simulationView(outcome),
    accounts: null,
    replacementBlockhash: replaceRecentBlockhash ? latestBlockhash(view, slot) : null,
  });
};

export const requestAirdrop: Method = ({ chain }, params) => {
  const to = addressParam(params, 0);
  const lamports = BigInt(integerParam(params, 1, 'lamports'));
  const latest = { blockhash: chain.blockhashes.at(chain.head()), count: chain.history.count() };
  const record = chain.land(airdrop(chain.genesis, to, lamports, latest));
  if (!record) throw new RpcError(rpcCodes.internal, 'airdrop request failed');
  return record.signature;
};
