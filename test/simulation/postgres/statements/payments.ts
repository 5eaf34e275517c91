/** Payments, their payins, deposits, and due work. */
import type { Row, View } from '../server.ts';
import type { Statements } from '../statement.ts';
import { by, compare, decimalSum, inUnits, isOneOf, notWaiting } from '../values.ts';

const isUnfunded = isOneOf('payment_unpaid', 'payment_started');
const isPaidOut = isOneOf('payment_payin_completed', 'payment_bridging', 'payment_payout_started');

const reaches = (amount: string | null, limit: unknown): boolean =>
  amount !== null && inUnits(String(amount)) >= inUnits(String(limit));

const hasLeft = isOneOf('orphaned', 'lost');
const isPending = (row: Row, leftAfter: string): boolean =>
  row['phase'] === 'detected' || (hasLeft(row['phase']) && row['block_time'] > leftAfter);

const recorded = (row: Row, largeFrom: unknown): Row => ({
  paymentId: row['payment_id'],
  appId: row['app_id'],
  transferId: row['transfer_id'],
  txHash: row['tx_hash'],
  blockNumber: BigInt(row['block_number']),
  blockHash: row['block_hash'],
  left: hasLeft(row['phase']),
  agreed_usd: row['agreed_usd'] === null ? null : BigInt(row['agreed_usd']),
  large: largeFrom !== null && (reaches(row['amount'], largeFrom) || reaches(row['agreed_usd'], largeFrom)),
});

const payinsOf = (view: View, chainId: number): readonly Row[] =>
  view.rows('payins').filter((row) => row['chain_id'] === chainId);

const matched = (row: Row): Row => ({
  address: row['address'],
  memo: row['memo'],
  paymentId: row['payment_id'],
  appId: row['app_id'],
  agreed_usd: row['agreed_usd'] === null ? null : BigInt(row['agreed_usd']),
});

/** Chains whose passes all have a cursor, and the slowest one's time. */
function scannedTo(view: View, chainIds: readonly number[], passes: readonly string[]): ReadonlyMap<number, string> {
  const wanted = Map.groupBy(
    chainIds.map((chainId, at) => ({ chainId, pass: passes[at] })),
    ({ chainId }) => chainId,
  );
  return new Map(
    [...wanted].flatMap(([chainId, ofChain]) => {
      const times = ofChain.map(({ pass }) => view.get('ops.chain_cursors', [chainId, pass])?.['chain_time']);
      return times.includes(undefined) ? [] : [[chainId, times.sort(compare)[0] as string] as const];
    }),
  );
}

function isExplained(view: View, paymentId: string): boolean {
  const own = view.rows('deposits').filter((row) => row['payment_id'] === paymentId && row['memo'] === '');
  return own.every(
    ({ address, chain_id }) =>
      view.get('ops.work_failures', [`payins:${chain_id}:unexplained`, address])?.['parked_at'] !== null,
  );
}

function isRead(view: View, paymentId: string): boolean {
  const own = new Set(
    view
      .rows('deposits')
      .filter((row) => row['payment_id'] === paymentId && row['memo'] === '')
      .map(({ address }) => address),
  );
  return view
    .rows('ops.unreadable_transactions')
    .every(
      ({ worker, key, addresses }) =>
        !(addresses as string[]).some((address) => own.has(address)) ||
        view.get('ops.work_failures', [worker, key])?.['parked_at'] !== null,
    );
}

const seenInFull = (row: Row): boolean =>
  row['status'] === 'payment_started' &&
  row['amount_received'] !== null &&
  row['source_amount'] !== null &&
  inUnits(row['amount_received']) >= inUnits(row['source_amount']);

/** False where a missing amount leaves the condition unknown to SQL. */
const notSeenInFull = (row: Row): boolean =>
  row['status'] !== 'payment_started' ||
  (row['amount_received'] !== null && row['source_amount'] !== null && !seenInFull(row));

/** Sums of amounts by chain, token and, where it is given, owner. */
function sums(rows: readonly { chainId: number; tokenAddress: string; appId?: string | null; amount: string }[]) {
  const groups = Map.groupBy(rows, ({ chainId, tokenAddress, appId }) => `${chainId} ${tokenAddress} ${appId}`);
  return [...groups.values()].map((group) => ({ ...group[0], amount: decimalSum(group.map(({ amount }) => amount)) }));
}

const paidOutOf = (row: Row) => ({
  chainId: row['destination_chain_id'] as number,
  tokenAddress: row['destination_token_address'] as string,
  amount: row['destination_amount'] as string,
});

const isOpenOperation = isOneOf('waitsForApproval', 'ordered', 'signed');
const openRefunds = (view: View): readonly Row[] =>
  view.rows('transfers').filter((row) => row['kind'] === 'refund' && row['step'] !== 'done');
/** @param but a burn that does not count, by its reference */
const openBurns = (view: View, but: unknown): readonly Row[] =>
  view.rows('transfers').filter((row) => row['kind'] === 'burn' && row['step'] !== 'done' && row['reference'] !== but);
const leavesTreasury = isOneOf('withdrawal', 'rebalance');
/** @param but an operation that does not count */
const openTokenOperations = (view: View, but: unknown): readonly Row[] =>
  view
    .rows('operations')
    .filter(({ standing, kind }) => isOpenOperation(standing) && leavesTreasury(kind))
    .filter((row) => row['token_address'] !== 'coin' && row['operation_id'] !== but);

export const paymentStatements: Statements = [
  [
    'WITH scanned AS MATERIALIZED',
    (view, [worker, now, chainIds, passes, max]) => {
      const scanned = scannedTo(view, chainIds, passes);
      const todo = view.rows('todo_payments');
      const isPast = (row: Row) => row['due_at'] <= (scanned.get(row['chain_id']) ?? '');
      const due = todo.filter(
        (row) =>
          isPast(row) &&
          notWaiting(view, worker, row['payment_id'], now) &&
          isExplained(view, row['payment_id']) &&
          isRead(view, row['payment_id']) &&
          todo.every((other) => other['payment_id'] !== row['payment_id'] || isPast(other)),
      );
      const ids = new Set(due.sort(by('due_at')).map(({ payment_id }) => payment_id));
      return [...ids].slice(0, max).map((paymentId) => ({ paymentId }));
    },
  ],
  [
    'WHERE chain_id = $1 AND block_hash = ANY ($3)',
    (view, [chainId, largeFrom, hashes]) =>
      payinsOf(view, chainId)
        .filter((row) => hashes.includes(row['block_hash']))
        .map((row) => recorded(row, largeFrom)),
  ],
  [
    "phase IN ('detected', 'confirmed') AND block_number > $3",
    (view, [chainId, largeFrom, above, afterBlock, afterId, max]) =>
      payinsOf(view, chainId)
        .filter((row) => ['detected', 'confirmed'].includes(row['phase']))
        .map((row) => recorded(row, largeFrom))
        .filter(({ blockNumber, transferId }) => {
          const after = BigInt(afterBlock);
          return (
            blockNumber > BigInt(above) && (blockNumber > after || (blockNumber === after && transferId > afterId))
          );
        })
        .sort(by('blockNumber', 'transferId'))
        .slice(0, max),
  ],
  [
    'SELECT coalesce(ceil(sum(amount) * 1000000), 0)::bigint AS micro FROM payins',
    (view, [chainId]) => {
      const passed = BigInt(view.get('ops.chain_cursors', [chainId, 'finalLarge'])?.['block_number'] ?? 0);
      const amounts = payinsOf(view, chainId)
        .filter((row) => row['phase'] === 'confirmed' && row['standing'] === 'counted')
        .filter((row) => BigInt(row['block_number']) > passed)
        .map(({ amount }) => amount as string);
      const unit = inUnits('1');
      return [{ micro: (inUnits(decimalSum(amounts)) * 1_000_000n + unit - 1n) / unit }];
    },
  ],
  [
    'AND block_number <= $3 ORDER BY block_number',
    (view, [chainId, largeFrom, upTo, leftAfter]) =>
      payinsOf(view, chainId)
        .filter((row) => isPending(row, leftAfter))
        .map((row) => recorded(row, largeFrom))
        .filter(({ blockNumber }) => blockNumber <= BigInt(upTo))
        .sort(by('blockNumber')),
  ],
  [
    'SELECT least( (SELECT created_at FROM payments',
    (view) => {
      const payments = view.rows('payments');
      const [oldest] = payments.filter(({ status }) => isUnfunded(status)).sort(by('created_at'));
      const [newest] = payments.sort(by('-updated_at'));
      const times = [oldest?.['created_at'], newest?.['updated_at']].filter((at) => at !== undefined).sort(compare);
      return [{ at: times[0] ?? null }];
    },
  ],
  [
    'AS "oldestPending"',
    (view, [chainId, after, leftAfter]) => {
      const blocks = payinsOf(view, chainId).filter((row) => isPending(row, leftAfter));
      const due = view
        .rows('todo_payments')
        .filter((row) => row['chain_id'] === chainId && row['due_at'] >= after)
        .sort(by('due_at'));
      const numbers = blocks.map((row) => BigInt(row['block_number'])).sort(compare);
      return [{ oldestPending: numbers[0] ?? null, nextExpiry: due[0]?.['due_at'] ?? null }];
    },
  ],
  [
    'SELECT EXISTS (SELECT FROM todo_payments WHERE chain_id = $1)',
    (view, [chainId]) => {
      const here = (row: Row) => row['chain_id'] === chainId;
      const awaited =
        view.rows('todo_payments').some(here) ||
        view
          .rows('transfers')
          .some(
            (row) => here(row) && ['order', 'sign', 'broadcast', 'tell', 'batched', 'hold'].includes(row['step']),
          ) ||
        payinsOf(view, chainId).some((row) => row['phase'] === 'detected') ||
        view
          .rows('payments')
          .some(
            (row) =>
              row['source_chain_id'] === chainId && (row['status'] === 'payment_started' || isPaidOut(row['status'])),
          );
      return [{ awaited }];
    },
  ],
  [
    "FROM deposits WHERE address = ANY ($1) AND memo = ''",
    (view, [addresses]) =>
      view
        .rows('deposits')
        .filter((row) => row['memo'] === '' && addresses.includes(row['address']))
        .map(matched),
  ],
  [
    'AS paid (address, memo) JOIN deposits USING (address, memo)',
    (view, [addresses, memos]) =>
      (addresses as string[]).flatMap((address, at) =>
        view
          .rows('deposits')
          .filter((row) => row['address'] === address && row['memo'] === memos[at])
          .map(matched),
      ),
  ],
  [
    'SELECT address FROM deposits WHERE address = ANY ($1)',
    (view, [addresses]) => view.rows('deposits').filter(({ address }) => addresses.includes(address)),
  ],
  [
    'FROM todo_payments JOIN deposits USING (payment_id, chain_id)',
    (view, [chainId, afterAt, afterKey, max]) => {
      const deposits = view.rows('deposits').filter((row) => row['chain_id'] === chainId);
      return view
        .rows('todo_payments')
        .filter((row) => row['chain_id'] === chainId)
        .flatMap((row) =>
          deposits
            .filter(({ payment_id }) => payment_id === row['payment_id'])
            .map(({ address }) => ({ address, at: row['due_at'], key: row['payment_id'] })),
        )
        .filter(({ at, key }) => afterAt === null || at < afterAt || (at === afterAt && key < afterKey))
        .sort(by('-at', '-key'))
        .slice(0, max);
    },
  ],
  [
    'SELECT DISTINCT ON (payment_id) payment_id AS "paymentId", to_address AS address FROM (',
    (view, [chainId, statuses, after, max, since]) => {
      const isOver = (paymentId: string): boolean => {
        const status = view.get('payments', [paymentId])?.['status'];
        return status !== undefined && statuses.includes(status);
      };
      const paid = [
        ...payinsOf(view, chainId)
          .filter((row) => row['phase'] === 'confirmed')
          .map((row): Row => ({ ...row, paymentId: row['payment_id'] })),
        ...view
          .rows('unmatched')
          .filter((row) => row['chain_id'] === chainId && row['beyond_payment'] !== null)
          .map((row): Row => ({ ...row, paymentId: row['beyond_payment'] })),
      ]
        .filter((row) => row['paymentId'] > after && isOver(row['paymentId']))
        .filter((row) => since === null || row['block_time'] >= since)
        .map((row) => ({ paymentId: row['paymentId'] as string, address: row['to_address'] as string }));
      const first = new Map(paid.toReversed().map((row) => [row.paymentId, row]));
      return [...first.values()].sort(by('paymentId')).slice(0, max);
    },
  ],
  [
    'SELECT address, expires_at AS at, address AS key FROM deposits',
    (view, [chainId, since, afterAt, afterKey, max]) =>
      view
        .rows('deposits')
        .filter((row) => row['chain_id'] === chainId && row['expires_at'] >= since)
        .map(({ address, expires_at }) => ({ address, at: expires_at, key: address }))
        .filter(({ at, key }) => afterAt === null || at < afterAt || (at === afterAt && key < afterKey))
        .sort(by('-at', '-key'))
        .slice(0, max),
  ],
  [
    'FROM (SELECT *, row_number() OVER (PARTITION BY app_id, endpoint_id ORDER BY created_at, payment_id, event_revision) AS nth',
    (view, [worker, now, max, perApp, perEndpoint]) => {
      const counts = new Map<string, number>();
      return view
        .rows('todo_webhooks')
        .map((row): Row => ({ ...row, receiver: row['endpoint_id'] ?? '' }))
        .filter(({ payment_id, receiver }) =>
          notWaiting(view, worker, receiver === '' ? payment_id : `${payment_id}:${receiver}`, now),
        )
        .sort(by('created_at', 'payment_id', 'event_revision', 'receiver'))
        .filter(({ app_id, receiver }) => {
          const one = `${app_id} ${receiver}`;
          const nth = (counts.get(one) ?? 0) + 1;
          counts.set(one, nth);
          return nth <= (receiver === '' ? perApp : perEndpoint);
        })
        .slice(0, max)
        .map((row) => ({
          deliveryId: row['delivery_id'],
          paymentId: row['payment_id'],
          appId: row['app_id'],
          eventType: row['event_type'],
          eventId: row['event_id'],
          eventRevision: row['event_revision'],
          url: row['url'],
          endpointId: row['endpoint_id'] ?? null,
        }));
    },
  ],
  [
    'SELECT u.transfer_id AS id FROM unmatched u',
    (view, [worker, now, max]) =>
      view
        .rows('unmatched')
        .filter((row) => row['verdict'] === 'assigned' && notWaiting(view, worker, row['transfer_id'], now))
        .filter(
          (row) =>
            !view
              .rows('payins')
              .some((p) => p['payment_id'] === row['payment_id'] && p['transfer_id'] === row['transfer_id']),
        )
        .sort(by('decided_at'))
        .slice(0, max)
        .map((row) => ({ id: row['transfer_id'] })),
  ],
  [
    'SELECT payment_id AS "paymentId", proven FROM todo_policy_refunds',
    (view, [worker, now, max]) => {
      const payins = view.rows('payins');
      const signs = ({ from_address }: Row) => view.get('credit_signers', [from_address]) !== undefined;
      return view
        .rows('todo_policy_refunds')
        .filter(
          ({ payment_id, proven }) => proven || payins.some((row) => row['payment_id'] === payment_id && signs(row)),
        )
        .filter((row) => notWaiting(view, worker, row['payment_id'], now))
        .sort(by('due_at', 'payment_id'))
        .slice(0, max)
        .map((row) => ({ paymentId: row['payment_id'], proven: row['proven'] }));
    },
  ],
  [
    'FROM todo_funded_refunds',
    (view, [worker, now, max]) =>
      view
        .rows('todo_funded_refunds')
        .filter((row) => String(row['due_at']) <= String(now))
        .filter((row) => notWaiting(view, worker, row['funding_payment_id'], now))
        .sort(by('due_at'))
        .slice(0, max)
        .map((row) => ({
          ...{ paymentId: row['payment_id'], fundingPaymentId: row['funding_payment_id'] },
          ...{ appId: row['app_id'], refund: row['refund'] },
        })),
  ],
  [
    'SELECT count(*) AS open FROM (SELECT FROM payments',
    (view, [appId, max], text) => {
      const waiting = view
        .rows('payments')
        .filter((row) => row['app_id'] === appId && isUnfunded(row['status']))
        .filter((row) => !text.includes('AND keyless') || row['keyless']);
      return [{ open: BigInt(Math.min(max, waiting.length)) }];
    },
  ],
  [
    'SELECT "chainId", "tokenAddress", sum(amount) AS amount FROM (',
    (view, [but]) =>
      sums([
        ...view
          .rows('payments')
          .filter((row) => row['destination_amount'] !== null && (isPaidOut(row['status']) || seenInFull(row)))
          .map(paidOutOf),
        ...[...openRefunds(view), ...openBurns(view, but), ...openTokenOperations(view, but)].map((row) => ({
          chainId: row['chain_id'],
          tokenAddress: row['token_address'],
          amount: row['amount'],
        })),
      ]),
  ],
  [
    'CASE WHEN keyless THEN NULL ELSE app_id END AS "appId"',
    (view) =>
      sums(
        view
          .rows('payments')
          .filter((row) => row['destination_amount'] !== null && isUnfunded(row['status']) && notSeenInFull(row))
          .map((row) => ({ ...paidOutOf(row), appId: row['keyless'] ? null : (row['app_id'] as string) })),
      ),
  ],
  [
    'SELECT (SELECT count(*) FROM payments WHERE destination_chain_id = $1',
    (view, [chainId, but]) => {
      const paidOut = view
        .rows('payments')
        .filter((row) => row['destination_chain_id'] === chainId && isPaidOut(row['status']));
      const refunds = openRefunds(view).filter((row) => row['chain_id'] === chainId);
      const withdrawn = view
        .rows('operations')
        .filter((row) => row['chain_id'] === chainId && row['token_address'] === 'coin' && row['operation_id'] !== but)
        .filter(({ standing }) => isOpenOperation(standing))
        .map(({ amount }) => amount as string);
      return [{ payouts: BigInt(paidOut.length + refunds.length), withdrawn: decimalSum(withdrawn) }];
    },
  ],
];
