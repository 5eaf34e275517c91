/** Cashback: balance, movements, and a withdrawal, which is asked about before it is made. */
import { isRefusal, type Refusal, refuse } from '../../domain/decider.ts';
import { parseAmount } from '../../domain/money.ts';
import { centDecimals } from '../../domain/payment/cashback.ts';
import type { App, HttpDeps } from '../../src/api/deps.ts';
import { amountMax_cents } from '../../src/api/routes/schemas_cashback.ts';
import { Decimal, Uuid } from '../../src/api/schemas/base.ts';
import { emptyForm, type FormState } from '../parts/form.ts';
import { appPaths } from '../parts/paths.ts';
import { cashbackPage } from './cashback.ts';
import { confirmPage } from './confirm.ts';
import { fields } from './fields.ts';
import type { Frames } from './frames.ts';
import { type AnyForm, type AnyPage, form, page, type Shown, type Visit } from './page.ts';
import { noSuchPage } from './router.ts';

type Deps = Pick<HttpDeps, 'cashback' | 'withdrawCashback' | 'findApp' | 'ids'>;

const path = '/dashboard/apps/{appId}/cashback';
const movementsMax = 100;

export function cashbackPages(deps: Deps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const { cashback, withdrawCashback, findApp, ids } = deps;
  const shown = async (visit: Visit<'owner'>, state: FormState): Promise<Shown> => {
    const { appId } = visit.visitor;
    const [frame, app, { payments: _, ...account }, movements] = await Promise.all([
      frames.ofApp(visit),
      findApp(appId),
      cashback.of(appId, 1),
      cashback.movements(appId, movementsMax),
    ]);
    const settlement = app?.settlement ?? null;
    return { page: cashbackPage({ ...frame, ...account, movements, form: state, settlement }) };
  };
  const own = async ({ visitor }: Visit<'owner'>): Promise<App> => {
    const app = await findApp(visitor.appId);
    if (!app) throw noSuchPage();
    return app;
  };
  return [
    page({ path, audience: 'owner', show: (visit) => shown(visit, emptyForm) }),
    form({
      path,
      audience: 'owner',
      fields: fields({ amount: Decimal }),
      async act(visit) {
        const { amount } = visit.fields;
        const { settlement: wallet } = await own(visit);
        if (!wallet) return refuse('settlementMissing', 'set a settlement wallet before withdrawing');
        const { balance_cents } = await cashback.of(visit.visitor.appId, 1);
        const cents = readCents(amount, BigInt(balance_cents));
        if (isRefusal(cents)) return cents;
        const danger = { kind: 'withdrawCashback', amount, withdrawalId: ids.eventId(), wallet } as const;
        return { page: confirmPage({ ...(await frames.ofApp(visit)), danger }) };
      },
      again: shown,
    }),
    form({
      path: `${path}/withdraw`,
      audience: 'owner',
      fields: fields({ amount: Decimal, withdrawalId: Uuid }),
      pointers: { '/amount_usd_cents': 'amount' },
      async act(visit) {
        const { amount, withdrawalId } = visit.fields;
        const cents = readCents(amount, BigInt(amountMax_cents));
        if (isRefusal(cents)) return cents;
        // The account in the log decides; this question answered twice is one withdrawal.
        const withdrawn = await withdrawCashback(await own(visit), { withdrawalId, cents }, visit.by);
        if (isRefusal(withdrawn)) return withdrawn;
        return { to: appPaths(visit.visitor.appId).payment(withdrawn.paymentId), told: 'withdrawn' };
      },
      again: shown,
    }),
  ];
}

function readCents(text: string, max: bigint): bigint | Refusal {
  const cents = parseAmount(text, centDecimals);
  if (typeof cents !== 'bigint' || cents === 0n)
    return refuse('invalidRequest', 'must be an amount like 10.00, in whole cents', '/amount');
  return cents <= max ? cents : refuse('invalidRequest', 'is more than the balance: withdraw less', '/amount');
}
