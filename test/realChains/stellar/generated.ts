/** Generated parameters: each field gets values of the right kind and of wrong ones. */
import fc from 'fast-check';
import type { Facts } from './calls.ts';

/** A ledger relative to a network's own. */
interface Relative {
  readonly ledgersAfter: number;
}

const relative = fc.record({ ledgersAfter: fc.constantFrom(0, 1_000) });
const integer = fc.constantFrom(0, 1, 2, 5, 200, 201, 10_000, 10_001, -1, 1.5, 2 ** 32, 2 ** 53);
const wrong = fc.constantFrom<unknown>(null, true, '', 'x', -7, [], {}, [null], ['x'], { x: 1 });
const usually = (usual: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ arbitrary: usual, weight: 4 }, { arbitrary: wrong, weight: 1 });
const fields = (all: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<unknown> =>
  fc.record(all, { requiredKeys: [] });

/** Names no ledger that only one of the networks has. */
const digits = fc
  .bigInt({ min: -(2n ** 65n), max: 2n ** 65n })
  .filter((each) => each < 2n || each > 2n ** 44n)
  .map(String);
const cursor = usually(fc.oneof(digits, fc.constantFrom('1', '-', '1-1', '0-0', '0099999', ' 1', '1e3')));
const pagination = usually(fields({ cursor, limit: usually(integer) }));
const format = usually(fc.constantFrom('', 'base64', 'bad'));
/** No ledger that only one of the networks has. */
const noLedger = fc.constantFrom(0, 1, -1, 1.5, 2 ** 32, 2 ** 53);
const ledger = usually(fc.oneof(relative, noLedger));
const segment = usually(fc.constantFrom('*', '**', 'AAAADwAAAAh0cmFuc2Zlcg==', 'AAAAAQ=='));
const filter = usually(
  fields({
    type: usually(fc.constantFrom('', 'contract', 'system', 'contract,system', 'diagnostic', ',')),
    contractIds: usually(
      fc.array(usually(fc.constant('CCW67TSZV3SSS2HXMBQ5JFGCKJNXKZM7UQUWUZPUTHXSTZLEO7SJMI75')), { maxLength: 6 }),
    ),
    topics: usually(fc.array(usually(fc.array(segment, { maxLength: 6 })), { maxLength: 6 })),
  }),
);
const hash = fc.stringMatching(/^[0-9a-fA-Fg]{62,66}$/);

/** A method with its params; `Relative` ledgers are still to be placed. */
export const generatedCall: fc.Arbitrary<readonly [string, unknown]> = fc.oneof(
  fc.tuple(
    fc.constantFrom('getTransactions', 'getLedgers'),
    fields({ startLedger: ledger, pagination, xdrFormat: format }),
  ),
  fc.tuple(
    fc.constant('getEvents'),
    fields({
      startLedger: ledger,
      endLedger: ledger,
      filters: usually(fc.array(filter, { maxLength: 6 })),
      pagination,
      xdrFormat: format,
    }),
  ),
  fc.tuple(fc.constant('getTransaction'), fields({ hash: usually(hash), xdrFormat: format })),
  fc.tuple(
    fc.constant('getLedgerEntries'),
    fields({
      keys: usually(fc.array(usually(fc.base64String({ maxLength: 40 })), { maxLength: 3 })),
      xdrFormat: format,
    }),
  ),
  fc.tuple(
    fc.constantFrom('sendTransaction', 'simulateTransaction'),
    fields({
      transaction: usually(fc.base64String({ maxLength: 60 })),
      authMode: usually(fc.constant('bad')),
      xdrFormat: format,
    }),
  ),
);

/** Replaces relative ledgers by a network's own numbers. */
export function placed(params: unknown, facts: Facts): unknown {
  if (Array.isArray(params)) return params.map((each) => placed(each, facts));
  if (typeof params !== 'object' || params === null) return params;
  if ('ledgersAfter' in params) return facts.ledger + Number((params as Relative).ledgersAfter);
  return Object.fromEntries(Object.entries(params).map(([name, inner]) => [name, placed(inner, facts)]));
}
