/** Replaces src/chains/attestations.ts: calls reach the simulated attestation service, or are lost. */
import { TransientError } from '../../../commands/ports.ts';
import type { Attestations, createAttestations as real } from '../../../src/chains/attestations.ts';
import { call, theRun } from '../kernel/run.ts';

export class AttestationsUnavailable extends TransientError {
  override readonly name = 'AttestationsUnavailable';
}

const broken = () => new AttestationsUnavailable('the attestation service does not answer');

function answered<T>(port: string, serve: () => T | 'away'): Promise<T> {
  const serveOrBreak = (): T => {
    const answer = serve();
    if (answer === 'away') throw broken();
    return answer;
  };
  return call({ port: `attester.${port}`, serve: serveOrBreak, lost: broken, repeats: true });
}

export const createAttestations: typeof real = (): Attestations => ({
  messagesOf: (domain, burnHash) => answered('messages', () => theRun().attester.messagesOf(domain, burnHash)),
  async reattest(nonce) {
    await answered('reattest', () => theRun().attester.reattest(nonce));
  },
  fees: () => answered('fees', () => theRun().attester.fees()),
});
