/** One authorization while the real process is killed at each point of its relay: the payer pays once, and a repeat of the header gets the result. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Keypair, Networks, rpc } from '@stellar/stellar-sdk';
import { type Address, parseAbiItem } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { verifyChain } from '../../commands/codec.ts';
import { chainOf, findToken } from '../../domain/chains.ts';
import { keepKeys, type SandboxKeys } from '../../sandbox/keys.ts';
import { fundAccount, usdc as stellarUsdc } from '../../sandbox/stellar/controls.ts';
import { fund } from '../../sandbox/tokens.ts';
import { chainClient } from '../support/anvil.ts';
import { isCutOff } from '../support/customers.ts';
import { patience_ms } from '../support/patience.ts';
import { createSandbox, type SandboxOptions } from '../support/sandbox.ts';
import { ownerHeaders } from '../support/signIn.ts';
import { entryTransaction, signedTransfer } from '../support/stellarRelays.ts';
import { poll_ms } from '../support/suite.ts';
import { anyPayer, ask402, authorize, headerOf, nowSeconds, type Requirement } from '../support/x402.ts';

/** In the order of a relay's life. The request passes the first three, the worker the others. */
export const relayPoints = [
  'relay.afterReserve',
  'RelayOrdered.beforeAppend',
  'RelayOrdered.afterAppend',
  'TreasuryOpened+NonceAssigned.afterAppend',
  'relay.beforeSign',
  'relay.afterSign',
  'RelaySigned.beforeAppend',
  'RelaySigned.afterAppend',
  'relay.beforeBroadcast',
  'relay.afterBroadcast',
  'RelayConfirmed.beforeAppend',
  'RelayConfirmed.afterAppend',
];

const settings = { POLL_MS_1: '50', POLL_MS_8453: '50' };
const { address: usdc } = findToken(chainOf(8453), 'USDC') ?? assert.fail();
const held = 20_000000n;
const stellarHeld = 20_0000000n;

export interface RelayCrashOptions extends Pick<SandboxOptions, 'eventStoreUrl'> {
  readonly points: readonly string[];
  /** Where the authorization is handed in. Default: at the payment's own link. */
  readonly at?: 'payment' | 'link' | 'facilitator';
  /** Chain of the payer. Default: Base. */
  readonly on?: 8453 | 1500;
}

/** Specs of one world whose service dies at each of the points, in this order. */
export function survivesRelayCrashes({ points, eventStoreUrl, at = 'payment', on = 8453 }: RelayCrashOptions): void {
  const sandbox = createSandbox({ chains: on === 8453 ? [8453, 1] : [8453, 1500], eventStoreUrl });
  after(() => sandbox.destroy());
  const rpcUrl = () => sandbox.file().chains[on]?.rpcUrl ?? '';
  const relayKeys = () => keepKeys(sandbox.dataDir);
  const payer = on === 8453 ? payerOnBase(rpcUrl, relayKeys) : payerOnStellar(rpcUrl, relayKeys);
  /** Path of the payment's link, or of the reusable link. */
  let path: string;
  let requirement: Requirement;
  let signed: object;

  // The service has a new port after each start.
  const link = () => `${sandbox.file().baseUrl}${path}`;

  /** Hands the authorization in, until a service that is not overloaded answers. */
  async function hand(): Promise<{ readonly success: boolean; readonly payer: string; readonly transaction: string }> {
    for (let left = patience_ms / poll_ms; ; left -= 1) {
      const { status, response } = await handOnce();
      if (status !== 503 || left <= 1) return response;
      await sleep(poll_ms);
    }
  }

  async function handOnce() {
    if (at !== 'facilitator') return ask402(link(), headerOf(requirement, signed));
    const paymentPayload = { x402Version: 2, accepted: requirement, payload: signed };
    const { status, body } = await sandbox.callOnce('POST', '/x402/settle', {
      key: sandbox.file().merchant.ordersKey,
      body: { x402Version: 2, paymentPayload, paymentRequirements: requirement },
    });
    assert.ok(status === 200 || status === 503, JSON.stringify(body));
    return { status, response: body };
  }

  async function linkPath(): Promise<string> {
    const headers = await ownerHeaders(sandbox, 'merchant_demo');
    const body = { type: 'exactOut', amount: '5.00', source: { chainId: '8453', tokenSymbol: 'USDC' } };
    const made = await sandbox.call('POST', '/merchant-api/me/links', { headers, body });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    return new URL(made.body.url).pathname;
  }

  async function paymentPath(): Promise<string> {
    const order = {
      type: 'exactOut',
      display: { title: 'Tea' },
      source: { chainId: on, tokenSymbol: 'USDC' },
      destination: { amount: '5.00' },
    };
    const { body } = await sandbox.create(order, sandbox.file().merchant.ordersKey);
    return new URL(body.paymentLink).pathname;
  }

  before(async () => {
    assert.equal(await sandbox.start(settings), 'ready', sandbox.printed());
    path = await (at === 'link' ? linkPath() : paymentPath());
    await payer.fund();
    await sandbox.until(async () => {
      // A read that fails is answered by 503, without the header.
      requirement = (await ask402(link())).required?.accepts[0];
      return requirement !== undefined;
    });
    signed = await payer.sign(requirement);
    await sandbox.kill();
  });

  for (const point of points) {
    it(`dies at ${point}`, async () => {
      if ((await sandbox.start({ ...settings, CRASH_AT: point })) === 'ready') {
        await hand().catch((error: unknown) => {
          if (!isCutOff(error)) throw error;
        });
      }
      assert.deepEqual(await sandbox.ended(), { code: null, signal: 'SIGKILL' }, sandbox.printed());
    });
  }

  describe('and without further crashes', () => {
    before(async () => {
      assert.equal(await sandbox.start(settings), 'ready', sandbox.printed());
    });

    it('the same header gets 200, and the payment is paid out', async () => {
      const { success, payer: by, transaction } = await hand();
      assert.deepEqual([success, by], [true, payer.address]);
      // The answer is from the log; the read model follows it.
      let payments: readonly { readonly payment_id: string }[] = [];
      await sandbox.until(async () => {
        payments = (await sandbox.query('SELECT payment_id FROM payments')) as typeof payments;
        return payments.length > 0;
      });
      assert.equal(payments.length, 1);
      const { status: last, source } = await sandbox.follow(payments[0]?.payment_id ?? '');
      const completed = at === 'link' ? 'payment_completed' : 'payment_payout_completed';
      assert.deepEqual([last, source.txHash], [completed, transaction]);
    });

    it('the payer has paid once and no gas, and the relay account has sent one transaction', async () => {
      await payer.hasPaidOnce(requirement);
    });

    it('the log has each step of the relay once, and its gas once', async () => {
      await sandbox.until(
        async () => (await sandbox.query("SELECT FROM transfers WHERE kind = 'relay' AND step = 'done'")).length > 0,
      );
      assert.deepEqual(await sandbox.stop(), { code: 0, signal: null }, sandbox.printed());
      const history = await sandbox.history();
      for (const [stream, events] of history) assert.equal(verifyChain(events), null, stream);
      const types = (prefix: string) =>
        [...history]
          .filter(([stream]) => stream.startsWith(prefix))
          .flatMap(([, events]) => events.map(({ type }) => type));
      assert.deepEqual(types('relay-'), ['RelayOrdered', 'RelaySigned', 'RelayConfirmed']);
      assert.deepEqual(types('relayGas-'), ['RelayGasReserved']);
    });
  });
}

/** A payer with USDC, who pays by one signature. */
interface CrashPayer {
  readonly address: string;
  fund(): Promise<void>;
  /** The payload of a header that is valid for the whole spec. */
  sign(requirement: Requirement): Promise<object>;
  /** Asserts one transfer of the payer and no fee, and one transaction of the relay account. */
  hasPaidOnce(requirement: Requirement): Promise<void>;
}

type RelayKeys = () => Pick<SandboxKeys, 'relay' | 'stellar'>;

function payerOnBase(rpcUrl: () => string, keys: RelayKeys): CrashPayer {
  const payer = anyPayer();
  return {
    address: payer.address,
    fund: () => fund(rpcUrl(), 8453, payer.address, { tokens: { USDC: held } }),
    sign: (requirement) => authorize(payer, requirement, { validBefore: String(nowSeconds() + 3_000) }),
    async hasPaidOnce({ payTo }) {
      const client = chainClient(rpcUrl());
      const logs = await client.getLogs({
        address: usdc as Address,
        event: parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)'),
        args: { from: payer.address },
        fromBlock: 0n,
        strict: true,
      });
      assert.deepEqual(
        logs.map(({ args: { to } }) => to),
        [payTo],
      );
      assert.equal(await client.getBalance({ address: payer.address }), 0n);
      const relay = privateKeyToAddress(keys().relay);
      assert.equal(await client.getTransactionCount({ address: relay }), 1);
    },
  };
}

function payerOnStellar(rpcUrl: () => string, keys: RelayKeys): CrashPayer {
  const payer = Keypair.random();
  const address = payer.publicKey();
  const server = () => new rpc.Server(rpcUrl(), { allowHttp: true });
  const relaySequence = async () => {
    const relay = Keypair.fromSecret(keys().stellar.relay).publicKey();
    return BigInt((await server().getAccount(relay)).sequenceNumber());
  };
  const lumens = async () => (await server().getAccountEntry(address)).balance().toString();
  let before: { readonly sequence: bigint; readonly lumens: string };
  return {
    address,
    async fund() {
      await fundAccount(rpcUrl(), address, { usdc: stellarHeld });
      before = { sequence: await relaySequence(), lumens: await lumens() };
    },
    async sign({ asset: contract, payTo: to, amount }) {
      const { sequence } = await server().getLatestLedger();
      const terms = {
        contract,
        to,
        amount: BigInt(amount),
        passphrase: Networks.PUBLIC,
        validUntil: sequence + 10_000,
      };
      return { transaction: entryTransaction((await signedTransfer(payer, terms)).entry) };
    },
    async hasPaidOnce({ amount }) {
      const { balanceEntry } = await server().getAssetBalance(address, stellarUsdc, Networks.PUBLIC);
      assert.equal(balanceEntry?.amount, String(stellarHeld - BigInt(amount)));
      assert.deepEqual([await lumens(), await relaySequence()], [before.lumens, before.sequence + 1n]);
    },
  };
}
