/** The audit only reads: nothing that writes, signs or sends is reachable from its modules. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const root = new URL('../../../', import.meta.url).pathname;

/** Every file that one of these imports by value, not only by type. */
function reached(entries: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const open = [...entries];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    const text = readFileSync(join(root, file), 'utf8');
    for (const [, names = '', path = ''] of text.matchAll(
      /^(?:import|export)\s+(?!type\b)([^;]*?)\s*from '(\.[^']+)';/gm,
    )) {
      const values = names
        .replace(/[{}]/g, '')
        .split(',')
        .some((name) => name.trim() !== '' && !name.trim().startsWith('type '));
      if (values) open.push(normalize(join(dirname(file), path)));
    }
  }
  return seen;
}

describe('the audit’s reach', () => {
  const own = globSync('tools/audit/**/*.ts', { cwd: root });
  const files = [...reached(own)];

  it('contains no decider and no signer: it computes separately', () => {
    const deciding =
      /^domain\/(payment\/(state|payins|split|fees|payout|refund\w*|close|create)|treasury\/(operation|state|nonces|reckoning|books)|transfer\/(record|rules|leg))\.ts$/;
    const reckoning = [...reached(own.filter((file) => /tools\/audit\/(reckon|compare|sums|spill|claims)/.test(file)))];
    assert.deepEqual(
      reckoning.filter((file) => deciding.test(file)),
      [],
    );
    assert.deepEqual(
      files.filter((file) => /\/signer\/|payouts\/rail|src\/workers\/(?!lastAudit)/.test(file)),
      [],
    );
  });

  it('contains no append, in any of its files', () => {
    for (const file of [...own, 'tools/audit.ts', 'tools/audit.ts', 'src/workers/audit/index.ts']) {
      const text = readFileSync(join(root, file), 'utf8');
      assert.doesNotMatch(text, /\.append\(|createHandle|withSeals|\.broadcast\(|openSigner|\.sign\(/, file);
    }
  });
});
