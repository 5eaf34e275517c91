/** Payers who sign an authorization instead of a transfer. Sometimes a stranger sends it first, and sometimes the payer hands it in twice. */
import { encodeFunctionData, type Hex, parseAbi, parseSignature } from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import type { SignedAuthorization } from '../../../commands/relayPorts.ts';
import { chainOf } from '../../../domain/chains.ts';
import { isRefusal } from '../../../domain/decider.ts';
import type { Payment } from '../../../domain/payment/state.ts';
import type { Random } from '../kernel/ports.ts';
import { theRun } from '../kernel/run.ts';
import { askUntilAnswered } from './ask.ts';
import type { Order } from './customers.ts';
import type { SignedOrder } from './relayChecks.ts';
import type { Instance } from './service.ts';
import { signsOnSolana } from './solanaPayers.ts';

export interface RelayedPayers {
  readonly signed: readonly SignedOrder[];
  /** As `signs` of customers. */
  signs(order: Order, payment: Payment, ended: () => void): boolean;
}

/** Chains whose USDC has authorizations that a program signs as typed data. */
const chainIds: ReadonlySet<number> = new Set([8453, 1, 42161, 137]);
const abi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
]);
const types = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

const signedWithin_ms = 8_000;
const valid_s = 3_000;
/** One of this many authorizations is sent by a stranger too. */
const frontRuns = 3;
/** Refusals that a payer without money yet gets, and the answers while nodes are away. */
const triesMost = 40;
const passing: ReadonlySet<string> = new Set(['invalid_exact_evm_insufficient_balance', 'gas_limit', 'unavailable']);

export function createRelayedPayers(random: Random, instances: readonly Instance[]): RelayedPayers {
  const { agenda, note } = theRun();
  const signed: SignedOrder[] = [];

  function hand(paymentId: string, authorization: SignedAuthorization, ended: () => void): void {
    let tries = 0;
    askUntilAnswered(
      instances,
      `authorization of ${paymentId}`,
      (api) => api.relay(paymentId, authorization),
      (answer) => {
        tries += 1;
        const fault = isRefusal(answer) ? answer.fault : null;
        note(`authorization of ${paymentId}: ${fault ?? 'accepted'}`);
        // A payment that was created a moment ago may not be offered while its chain's nodes are away.
        if ((passing.has(fault ?? '') || fault === 'invalid_network') && tries < triesMost) return false;
        ended();
        return true;
      },
    );
  }

  return {
    signed,
    signs(order, payment, ended) {
      const { source, other } = order;
      if (source.family === 'solana') {
        const onSolana = signsOnSolana(random, instances, order, payment, ended);
        if (onSolana) signed.push(onSolana);
        return onSolana !== null;
      }
      const token = chainOf(source.chainId).tokens[0];
      const deposit = payment.deposits.evm;
      const amount = payment.sources[0]?.amount ?? null;
      if (!chainIds.has(source.chainId) || !token || !deposit || other !== null || amount === null) return false;
      const { paymentId } = payment.terms;
      const payer = privateKeyToAccount(`0x${Buffer.from(random.bytes(32)).toString('hex')}`);
      const nonce: Hex = `0x${Buffer.from(random.bytes(32)).toString('hex')}`;
      const [wait_ms, isFrontRun, frontRun_ms] = [
        500 + random.below(signedWithin_ms),
        random.below(frontRuns) === 0,
        random.below(2 * signedWithin_ms),
      ];
      signed.push({
        ...{ paymentId, source, payer: payer.address, deposit: deposit.address, amount: BigInt(amount) },
      });
      source.pay({ address: payer.address, memo: null, tokenAddress: token.address, amount: BigInt(amount) });
      const message = {
        from: payer.address,
        to: deposit.address as Hex,
        value: BigInt(amount),
        validAfter: 0n,
        validBefore: BigInt(Math.floor(agenda.now_ms() / 1_000) + valid_s),
        nonce,
      };
      const domain = {
        name: 'USD Coin',
        version: '2',
        chainId: source.chainId,
        verifyingContract: token.address as Hex,
      };
      signatureOf(payer, domain, message).then((signature) => {
        const fields = {
          ...{ chainId: source.chainId, tokenAddress: token.address, signature, nonce },
          ...{ from: message.from, to: message.to, value: amount, validAfter: '0' },
          validBefore: String(message.validBefore),
        };
        agenda.after(wait_ms, () => hand(paymentId, fields, ended));
        if (!isFrontRun) return;
        agenda.after(wait_ms + frontRun_ms, () => {
          note(`a stranger sends the authorization of ${paymentId}`);
          source.call?.({ address: token.address, data: callOf(message, signature) });
        });
      });
      return true;
    },
  };
}

type Message = Readonly<Record<'from' | 'to' | 'nonce', Hex>> &
  Readonly<Record<'value' | 'validAfter' | 'validBefore', bigint>>;
interface Domain {
  readonly name: string;
  readonly version: string;
  readonly chainId: number;
  readonly verifyingContract: Hex;
}

const signatureOf = (payer: PrivateKeyAccount, domain: Domain, message: Message): Promise<Hex> =>
  payer.signTypedData({ domain, types, primaryType: 'TransferWithAuthorization', message });

function callOf({ from, to, value, validAfter, validBefore, nonce }: Message, signature: Hex): string {
  const { r, s, yParity } = parseSignature(signature);
  const args = [from, to, value, validAfter, validBefore, nonce, 27 + yParity, r, s] as const;
  return encodeFunctionData({ abi, functionName: 'transferWithAuthorization', args });
}
