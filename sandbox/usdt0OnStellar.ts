/** USDT0 on the local Stellar: plants its contracts, reads the messages that were sent from there, and verifies and delivers others. */
import {
  Account,
  Address,
  Contract,
  Keypair,
  nativeToScVal,
  rpc,
  scValToNative,
  TransactionBuilder,
  xdr,
} from '@stellar/stellar-sdk';
import type { Hex } from 'viem';
import { address32 } from '../domain/rebalance/burnMessage.ts';
import { endpointIdOf, oftOn, stellarUsdt0 } from '../domain/rebalance/usdt0.ts';
import type { MessageSide, Packet } from './messageSide.ts';
import { closeLedgers, fundAccount, plantStellarUsdt0 } from './stellar/controls.ts';
import { landing, send } from './stellar/landing.ts';
import { symbolMap, uint64 } from './stellar/xdr.ts';

let executorKeys: Keypair | undefined;

/** Returns the worthless key of the sandbox's verifiers and executor. Derived at the first use: a sandbox without Stellar needs no key. */
function executor(): Keypair {
  executorKeys ??= Keypair.fromRawEd25519Seed(Buffer.alloc(32, 'usdt0'));
  return executorKeys;
}

const oft = oftOn(1500);
const fee_stroops = '100000';
const validFor_s = 60;
/** More messages than a sandbox sends between two rounds. */
const eventsMax = 1_000;

export async function plantUsdt0OnStellar(rpcUrl: string): Promise<void> {
  await fundAccount(rpcUrl, executor().publicKey(), {});
  await plantStellarUsdt0(rpcUrl, executor().publicKey());
}

const bytes = (hex: Hex): xdr.ScVal => xdr.ScVal.scvBytes(Buffer.from(hex.slice(2), 'hex'));
const address = (text: string): xdr.ScVal => new Address(text).toScVal();
const u64 = (value: bigint): xdr.ScVal => xdr.ScVal.scvU64(uint64(value));
const senderOf = ({ from }: Packet): Hex => `0x${address32(oftOn(from))}`;
const originOf = (packet: Packet): xdr.ScVal =>
  symbolMap({
    nonce: u64(packet.nonce),
    sender: bytes(senderOf(packet)),
    src_eid: xdr.ScVal.scvU32(endpointIdOf(packet.from)),
  });

export function stellarMessageSide(rpcUrl: string): MessageSide {
  const server = new rpc.Server(rpcUrl, { allowHttp: true });
  let seen = 0;

  async function built(account: Account, contract: string, name: string, args: readonly xdr.ScVal[]) {
    const { passphrase: networkPassphrase } = await server.getNetwork();
    const builder = new TransactionBuilder(account, { fee: fee_stroops, networkPassphrase });
    return builder
      .addOperation(new Contract(contract).call(name, ...args))
      .setTimeout(validFor_s)
      .build();
  }

  /** False if the call would fail, or failed. */
  async function call(contract: string, name: string, args: readonly xdr.ScVal[]): Promise<boolean> {
    const plain = await built(await server.getAccount(executor().publicKey()), contract, name, args);
    const simulated = await server.simulateTransaction(plain);
    if (!rpc.Api.isSimulationSuccess(simulated)) return false;
    const transaction = rpc.assembleTransaction(plain, simulated).build();
    transaction.sign(executor());
    await send(server, transaction);
    await closeLedgers(rpcUrl);
    return (await landing(server, transaction)) === 'SUCCESS';
  }

  async function view(name: string, args: readonly xdr.ScVal[]): Promise<unknown> {
    const plain = await built(new Account(executor().publicKey(), '0'), stellarUsdt0.endpoint, name, args);
    const simulated = await server.simulateTransaction(plain);
    if (!rpc.Api.isSimulationSuccess(simulated) || !simulated.result)
      throw new Error(`the Endpoint cannot run ${name}`);
    return scValToNative(simulated.result.retval);
  }

  return {
    async sent() {
      const { oldestLedger, latestLedger } = await server.getHealth();
      const startLedger = Math.max(oldestLedger, seen + 1);
      if (startLedger > latestLedger) return [];
      const topics = [[xdr.ScVal.scvSymbol('packet_sent').toXDR('base64')]];
      const filters = [{ type: 'contract' as const, contractIds: [stellarUsdt0.endpoint], topics }];
      const page = await server.getEvents({ startLedger, filters, limit: eventsMax });
      seen = latestLedger;
      // Events of later ledgers are read in the next round.
      return page.events
        .filter(({ ledger }) => ledger <= latestLedger)
        .map(({ value }): Hex => {
          const { encoded_packet: packet } = scValToNative(value) as { readonly encoded_packet: Buffer };
          return `0x${packet.toString('hex')}`;
        });
    },
    async isDelivered(packet) {
      const path = [address(oft), xdr.ScVal.scvU32(endpointIdOf(packet.from)), bytes(senderOf(packet))];
      if (((await view('inbound_nonce', path)) as bigint) < packet.nonce) return false;
      return (await view('inbound_payload_hash', [...path, u64(packet.nonce)])) === null;
    },
    verify: (packet, hash) =>
      call(stellarUsdt0.endpoint, 'verify', [
        ...[address(executor().publicKey()), originOf(packet), address(oft), bytes(hash)],
      ]),
    deliver: (packet, message) =>
      call(oft, 'lz_receive', [
        ...[address(executor().publicKey()), originOf(packet), bytes(packet.guid), bytes(message), bytes('0x')],
        nativeToScVal(0n, { type: 'i128' }),
      ]),
  };
}
