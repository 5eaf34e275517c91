import type { Submitted } from '../transactions/envelope.ts';
import { parseEnvelope } from '../transactions/envelope.ts';
import { refusedResult } from '../transactions/results.ts';
import { base64 } from '../xdr.ts';
import { invalid, type Method, type Node, textParam } from './method.ts';

export const sendTransaction: Method = (node, params) => {
  const { chain, queue } = node;
  const submitted = parsed(node, textParam(params, 'transaction'));
  const head = chain.history.head();
  const answer = { hash: submitted.hash, latestLedger: head.sequence, latestLedgerCloseTime: String(head.closedAt_s) };
  if (chain.history.find(submitted.hash)) return { ...answer, status: 'DUPLICATE' };
  const admission = queue.admit(submitted, chain.state, chain.next());
  if (admission.status === 'ERROR') {
    return { ...answer, status: 'ERROR', errorResultXdr: base64(refusedResult(admission.verdict)) };
  }
  if (admission.status === 'PENDING') node.submitted();
  return { ...answer, status: admission.status };
};

/** As if the node had taken it, or not now: nothing is kept. */
export const pretendTo = (node: Node, status: 'PENDING' | 'TRY_AGAIN_LATER', transaction: string): object => {
  const head = node.chain.history.head();
  return {
    hash: parsed(node, transaction).hash,
    latestLedger: head.sequence,
    latestLedgerCloseTime: String(head.closedAt_s),
    status,
  };
};

function parsed({ chain }: Node, envelopeXdr: string): Submitted {
  try {
    return parseEnvelope(envelopeXdr, chain.network.passphrase);
  } catch (error) {
    throw invalid(`invalid_xdr: ${(error as Error).message}`);
  }
}
