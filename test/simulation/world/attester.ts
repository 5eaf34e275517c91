/** Circle's attestation service: it signs messages of final burns, with weather. Strangers submit some of the messages before the service does. */
import { type Hex, keccak256 } from 'viem';
import { formatBurnMessage, parseBurnMessage } from '../../../domain/rebalance/burnMessage.ts';
import { chainOfDomain, fast, standard } from '../../../domain/rebalance/cctp.ts';
import { attestationOf } from '../chains/evm/cctp.ts';
import type { Random, SimulatedChain } from '../kernel/ports.ts';
import { type SimulatedAttester, theRun } from '../kernel/run.ts';

const expiresAfter_blocks = 3;
const strangersWithin_ms = 20_000;

export function createAttester(random: Random, chains: readonly SimulatedChain[]): SimulatedAttester {
  /** Nonces whose messages were requested again: these have neither fee nor expiration. */
  const renewed = new Set<string>();
  const expirations = new Map<string, bigint>();
  const seen = new Set<string>();
  const onDomain = (domain: number) => chains.find(({ chainId }) => chainId === chainOfDomain(domain))?.cctp;

  return {
    messagesOf(domain, burnHash) {
      // Fast messages expire and strangers submit messages in calm weather, too.
      const { faults, agenda, note } = theRun();
      if (faults.fails('attester.away', 0.1)) return 'away';
      const sent = parseBurnMessage(onDomain(domain)?.burned(burnHash) ?? '');
      const destination = sent && onDomain(sent.destinationDomain);
      if (!sent || !destination || faults.fails('attester.unseen', 0.2)) return { attested: [], delay: null };
      if (faults.fails('attester.pending', 0.2)) return { attested: [], delay: 'insufficient_fee' };
      const nonce = keccak256(burnHash as Hex).slice(2);
      const isFast = sent.minFinality <= fast && !renewed.has(nonce);
      if (isFast && !expirations.has(nonce))
        expirations.set(nonce, random.below(2) === 0 ? destination.head() + BigInt(expiresAfter_blocks) : 0n);
      const message = formatBurnMessage({
        ...{ ...sent, nonce, finalityExecuted: isFast ? fast : standard },
        feeExecuted: isFast ? (sent.amount + 9_999n) / 10_000n : 0n,
        expirationBlock: isFast ? (expirations.get(nonce) ?? 0n) : 0n,
      });
      const attestation = attestationOf(message);
      const isNew = !seen.has(nonce);
      seen.add(nonce);
      if (isNew && random.below(3) === 0) {
        note(`a stranger submits message ${nonce}`);
        agenda.after(random.below(strangersWithin_ms), () => destination.mint(message, attestation));
      }
      return { attested: [{ message, attestation }], delay: null };
    },
    reattest(nonce) {
      if (theRun().faults.fails('attester.away', 0.1)) return 'away';
      renewed.add(nonce.slice(2));
      return 'done';
    },
    fees() {
      if (theRun().faults.fails('attester.away', 0.1)) return 'away';
      return [
        { finality: fast, fee_bps: 1 },
        { finality: standard, fee_bps: 0 },
      ];
    },
  };
}
