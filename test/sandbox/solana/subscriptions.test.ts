import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createSolanaRpcSubscriptions, type Signature } from '@solana/kit';
import { Keypair } from 'solana-web3-v1';
import { WebSocket } from 'ws';
import { forkTo } from '../../../sandbox/solana/controls.ts';
import { type SolanaLab, solanaLab } from '../../support/solana.ts';

interface News {
  readonly id?: number;
  readonly result?: number | boolean;
  readonly method?: string;
  readonly error?: { readonly code: number; readonly message: string };
  readonly params?: { readonly subscription: number; readonly result: { readonly value: unknown } };
}

describe('local Solana: subscriptions', () => {
  let lab: SolanaLab;
  let payer: Keypair;
  before(async () => {
    lab = await solanaLab();
    payer = await lab.person();
  });
  after(() => lab.stop());
  const payment = async () => {
    const to = Keypair.generate().publicKey;
    return lab.signed(payer, await lab.payment({ from: payer, to, amount: 1n }));
  };

  /** A connection without a client: its messages, one by one. */
  async function converse() {
    const socket = new WebSocket(lab.solana.wsUrl);
    const heard: News[] = [];
    socket.on('message', (data) => heard.push(JSON.parse(String(data))));
    await once(socket, 'open');
    return {
      heard,
      async say(message: unknown): Promise<News | undefined> {
        socket.send(typeof message === 'string' ? message : JSON.stringify(message));
        await once(socket, 'message');
        return heard.at(-1);
      },
      async nothingMore(): Promise<void> {
        const ponged = once(socket, 'pong');
        socket.ping();
        await ponged;
      },
      end: () => socket.terminate(),
    };
  }
  const subscribe = (signature: string, commitment: string) => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'signatureSubscribe',
    params: [signature, { commitment }],
  });

  it('notifies @solana/web3.js of a transaction, also a failed one, at the commitment that it waits for', async () => {
    const good = await payment();
    const bad = await lab.signed(
      payer,
      await lab.payment({ from: payer, to: Keypair.generate().publicKey, amount: 10n ** 15n }),
    );
    const latest = await lab.connection.getLatestBlockhash('processed');
    for (const [transaction, err] of [
      [good, null],
      [bad, { InstructionError: [1, { Custom: 1 }] }],
    ] as const) {
      const signature = await lab.send(transaction, { skipPreflight: true });
      const finalized = lab.connection.confirmTransaction({ signature, ...latest }, 'finalized');
      lab.solana.advanceSlots(4);
      assert.deepEqual((await finalized).value, { err });
    }
  });

  it('notifies @solana/kit of slots and signatures', async () => {
    const subscriptions = createSolanaRpcSubscriptions(lab.solana.wsUrl);
    const abort = new AbortController();
    const slots = await subscriptions.slotNotifications().subscribe({ abortSignal: abort.signal });
    const transaction = await payment();
    const signature = (await lab.send(transaction)) as Signature;
    const signatures = await subscriptions
      .signatureNotifications(signature, { commitment: 'confirmed' })
      .subscribe({ abortSignal: abort.signal });
    const head = BigInt(await lab.connection.getSlot('processed'));
    // The client keeps no notifications for later listeners.
    const [nextSlot, nextSignature] = [slots, signatures].map((each) => each[Symbol.asyncIterator]().next());
    lab.solana.advanceSlots();
    assert.deepEqual((await nextSlot)?.value, { parent: head, root: head - 3n, slot: head + 1n });
    assert.deepEqual((await nextSignature)?.value, {
      context: { slot: head },
      value: { err: null },
    });
    abort.abort();
  });

  it('notifies once of each signature, at once when it is there already', async () => {
    const signature = await lab.send(await payment());
    const socket = await converse();
    const answered = await socket.say(subscribe(signature, 'processed'));
    assert.ok(answered);
    await socket.nothingMore();
    lab.solana.advanceSlots(5);
    await socket.nothingMore();
    const [answer, notice, ...more] = socket.heard;
    assert.equal(notice?.method, 'signatureNotification');
    assert.equal(notice?.params?.subscription, answer?.result);
    assert.deepEqual(notice?.params?.result.value, { err: null });
    assert.deepEqual(more, []);
    socket.end();
  });

  it('notifies nothing of a transaction that a fork removed before its commitment was reached', async () => {
    lab.solana.advanceSlots(5);
    const before = await lab.connection.getSlot('processed');
    lab.solana.advanceSlots();
    const transaction = await payment();
    const signature = await lab.send(transaction);
    const socket = await converse();
    await socket.say(subscribe(signature, 'finalized'));
    await forkTo(lab.solana.rpcUrl, before);
    lab.solana.advanceSlots(10);
    await socket.nothingMore();
    assert.equal(socket.heard.length, 1);
    socket.end();
  });

  it('notifies nothing more after an unsubscription', async () => {
    const socket = await converse();
    const transaction = await payment();
    const signature = await lab.send(transaction);
    const { result } = (await socket.say(subscribe(signature, 'finalized'))) ?? {};
    const unsubscribe = { jsonrpc: '2.0', id: 2, method: 'signatureUnsubscribe', params: [result] };
    assert.equal((await socket.say(unsubscribe))?.result, true);
    assert.deepEqual((await socket.say(unsubscribe))?.error, { code: -32602, message: 'Invalid subscription id.' });
    lab.solana.advanceSlots(5);
    await socket.nothingMore();
    assert.equal(socket.heard.length, 3);
    socket.end();
  });

  it('refuses unknown subscriptions', async () => {
    const socket = await converse();
    const codeOf = async (message: unknown) => (await socket.say(message))?.error?.code;
    assert.equal(await codeOf({ jsonrpc: '2.0', id: 1, method: 'blockSubscribe', params: ['all'] }), -32601);
    assert.equal(await codeOf({ jsonrpc: '2.0', id: 1, method: 'toString' }), -32601);
    assert.equal(await codeOf({ id: 1, method: 'slotSubscribe' }), -32600);
    assert.equal(await codeOf(subscribe('abc', 'processed')), -32602);
    assert.equal(await codeOf({ ...subscribe('abc', 'processed'), params: ['1'.repeat(64), 5] }), -32602);
    assert.equal(await codeOf('no json'), -32700);
    socket.end();
  });

  it('allows a thousand subscriptions of one connection', async () => {
    const socket = await converse();
    const unknown = subscribe('1'.repeat(64), 'processed');
    for (let count = 0; count < 1_000; count++) assert.ok((await socket.say(unknown))?.result);
    assert.equal((await socket.say(unknown))?.error?.message, 'too many subscriptions');
    socket.end();
  });
});
