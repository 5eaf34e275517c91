/** A lying node of each chain family: it reports every token transfer as a hundred times its amount. */
import { nativeToScVal, scValToNative, xdr } from '@stellar/stellar-sdk';
import { encodeAbiParameters, type Hex, hexToBigInt } from 'viem';
import type { ChainFamily } from '../../domain/chains.ts';
import { transferTopic } from '../../src/chains/evm/reads.ts';
import type { Behaviour } from '../chains/proxy.ts';

const factor = 100n;

export const inflating: Readonly<Record<ChainFamily, Behaviour>> = {
  evm: async (method, params, forward) => changed(await forward(method, params), inflatedLog),
  solana: async (method, params, forward) => changed(await forward(method, params), inflatedBalances),
  stellar: async (method, params, forward) => changed(await forward(method, params), inflatedEvent),
};

type Fields = Readonly<Record<string, unknown>>;

/** Applies a change to every object of an answer, however deep. */
function changed(answer: unknown, change: (fields: Fields) => Fields): unknown {
  if (Array.isArray(answer)) return answer.map((each) => changed(each, change));
  if (typeof answer !== 'object' || answer === null) return answer;
  const entries = Object.entries(change(answer as Fields)).map(([name, value]) => [name, changed(value, change)]);
  return Object.fromEntries(entries);
}

function inflatedLog(fields: Fields): Fields {
  const { topics, data } = fields;
  if (!Array.isArray(topics) || topics[0] !== transferTopic) return fields;
  return { ...fields, data: encodeAbiParameters([{ type: 'uint256' }], [hexToBigInt(data as Hex) * factor]) };
}

function inflatedBalances(fields: Fields): Fields {
  const { postTokenBalances } = fields;
  if (!Array.isArray(postTokenBalances)) return fields;
  const inflated = postTokenBalances.map(({ uiTokenAmount, ...rest }) => ({
    ...rest,
    uiTokenAmount: { ...uiTokenAmount, amount: String(BigInt(uiTokenAmount.amount) * factor) },
  }));
  return { ...fields, postTokenBalances: inflated };
}

function inflatedEvent(fields: Fields): Fields {
  const { topic, value } = fields;
  if (!Array.isArray(topic) || typeof value !== 'string') return fields;
  if (scValToNative(xdr.ScVal.fromXDR(String(topic[0]), 'base64')) !== 'transfer') return fields;
  return { ...fields, value: inflatedAmount(xdr.ScVal.fromXDR(value, 'base64')).toXDR('base64') };
}

/** An amount, or a map that holds one beside the receiver's muxed id (CAP-67). */
function inflatedAmount(value: xdr.ScVal): xdr.ScVal {
  if (value.switch().name === 'scvI128') return times(value);
  const entries = (value.map() ?? []).map((entry) => {
    const isAmount = scValToNative(entry.key()) === 'amount';
    return isAmount ? new xdr.ScMapEntry({ key: entry.key(), val: times(entry.val()) }) : entry;
  });
  return xdr.ScVal.scvMap(entries);
}

const times = (amount: xdr.ScVal): xdr.ScVal => nativeToScVal(BigInt(scValToNative(amount)) * factor, { type: 'i128' });
