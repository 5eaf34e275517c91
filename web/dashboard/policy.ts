/** Policy for wrong amounts. POST: basisPoints, most, under, over, late, lateWithinMinutes, wrongToken, wrongChain. */

import type { VNode } from 'preact';
import Type from 'typebox';
import type { ManageMerchant } from '../../commands/manageMerchant.ts';
import { isRefusal } from '../../domain/decider.ts';
import type { FeeTier } from '../../domain/merchant/events.ts';
import { formatAmount, microUsdDecimals } from '../../domain/money.ts';
import {
  holdAll,
  overVerdicts,
  type ShownPolicy,
  shownPolicy,
  type Verdict,
  verdicts,
} from '../../domain/payment/amountPolicy.ts';
import type { InForce } from '../../src/api/issueKey.ts';
import type { SettingsReads } from '../../src/api/routes/settings.ts';
import { oneOf } from '../../src/api/schemas/base.ts';
import { card, empty } from '../parts/boxes.ts';
import { chainName } from '../parts/cells.ts';
import { emptyForm, type FormState, problems, selectField, submit, textField } from '../parts/field.ts';
import type { Frame } from '../parts/frame.ts';
import { html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths } from '../parts/paths.ts';
import { table } from '../parts/table.ts';
import { entry, fields } from './forms.ts';
import type { Frames } from './frames.ts';
import { type AnyForm, type AnyPage, form, type PageResult, page, type Visit } from './page.ts';

export interface PolicyModel extends Frame {
  readonly fees: readonly FeeTier[];
  readonly form: FormState;
}

/** The form filled with the policy in force. */
export const policyForm = ({ tolerance, lateWithinMinutes, ...verdicts }: ShownPolicy): FormState => ({
  values: {
    ...verdicts,
    basisPoints: String(tolerance.basisPoints),
    most: tolerance.most,
    lateWithinMinutes: String(lateWithinMinutes),
  },
  errors: {},
});

export const policyPage = (model: PolicyModel): VNode =>
  appPage(
    model,
    { title: 'Other amounts', section: 'policy' },
    html`<div class="stack narrow">
      ${card({ title: 'Money that is not what was agreed' }, policyFields(model))}
      ${card({ title: 'Your fees' }, model.fees.length > 0 ? feeTable(model.fees) : noFees())}
    </div>`,
  );

const policyFields = ({ app, form }: PolicyModel): VNode =>
  html`<form class="inside" method="post" action=${appPaths(app.appId).policy}>
    ${problems(form)}
    <p class="muted">Counts for payments created from now on. What goes back goes to an address that the payer has proven, and waits
    until he has; the network’s cost is taken off. Whatever is held, you can send back yourself on the payment’s page.</p>
    ${textField({
      form,
      name: 'basisPoints',
      label: 'Forgiven, in basis points',
      inputmode: 'numeric',
      maxlength: 4,
      hint: 'An amount that is short by no more pays at once, and you get that much less. 100 are 1 %; 0 for nothing.',
    })}
    ${textField({
      form,
      name: 'most',
      label: 'Forgiven at most, in dollars',
      inputmode: 'decimal',
      maxlength: 16,
      hint: 'Whatever share of the amount that is.',
    })}
    ${verdictField(form, 'under', 'Too little when the time is over', {
      hold: kept,
      accept: 'It pays for as much as came, if that is worth paying out',
      refund: back,
    })}
    ${verdictField(form, 'over', 'Too much', {
      hold: 'You get what was agreed, the rest is held until you decide',
      refund: 'You get what was agreed, the rest goes back',
    })}
    ${verdictField(form, 'late', 'Too late', {
      hold: kept,
      accept: 'It pays, if it is enough and comes soon enough',
      refund: back,
    })}
    ${textField({
      form,
      name: 'lateWithinMinutes',
      label: 'Soon enough: minutes after the end',
      inputmode: 'numeric',
      maxlength: 5,
      hint: 'For late money that pays, else 0. An order that you have given up may come alive; nothing pays of which something went back.',
    })}
    ${verdictField(form, 'wrongToken', 'Another token on the right chain', {
      hold: kept,
      accept: 'Another stablecoin that is known here pays one for one',
      refund: back,
    })}
    ${verdictField(form, 'wrongChain', 'The right address on another chain', {
      hold: kept,
      accept: 'It pays where that chain is served here, for no less than its own fee',
      refund: back,
    })}
    ${submit('Save')}
  </form>`;

const kept = 'It is held until you decide';
const back = 'It goes back';

const verdictField = (
  form: FormState,
  name: string,
  label: string,
  sentences: Readonly<Partial<Record<Verdict, string>>>,
): VNode =>
  selectField({
    form,
    name,
    label,
    options: Object.entries(sentences).map(([value, sentence]) => ({ value, label: sentence })),
  });

const feeTable = (fees: readonly FeeTier[]): VNode =>
  table(
    'Your fees',
    [
      { head: 'From', kind: 'title' },
      { head: 'To', kind: 'detail' },
      { head: 'Fee', kind: 'number' },
    ],
    fees.map(({ sourceChainId, destinationChainId, fixed_microUsd, basisPoints }) => [
      html`<strong>${nameOf(sourceChainId)}</strong>`,
      nameOf(destinationChainId),
      `$${formatAmount(BigInt(fixed_microUsd), microUsdDecimals)} and ${formatAmount(BigInt(basisPoints), 2)} %`,
    ]),
  );

const nameOf = (chainId: number | null): string => (chainId === null ? 'Every chain' : chainName(chainId));

const noFees = (): VNode =>
  empty('None of your own', 'You pay what this service takes of everybody. What it agrees with you is listed here.');

// Policy for wrong amounts, and the fees agreed with the operator.

/** Needs of the pages of the policy of amounts. */
export interface PolicyPagesDeps extends Pick<SettingsReads, 'getSettings'>, InForce {
  readonly merchants: Pick<ManageMerchant, 'setPolicy'>;
}

const path = '/dashboard/apps/{appId}/policy';

const whole = Type.Unsafe<string>({ type: 'string', pattern: '^[0-9]{1,5}$', description: 'a whole number' });

const Fields = fields({
  basisPoints: whole,
  most: entry(16),
  under: oneOf(verdicts),
  over: oneOf(overVerdicts),
  late: oneOf(verdicts),
  lateWithinMinutes: whole,
  wrongToken: oneOf(verdicts),
  wrongChain: oneOf(verdicts),
});

/** The tolerance has two fields in the form. */
const pointers = { '/tolerance': 'basisPoints', '/tolerance/basisPoints': 'basisPoints', '/tolerance/most': 'most' };

export function policyPages(deps: PolicyPagesDeps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const { merchants, getSettings, shown: readable } = deps;
  const shown = async (visit: Visit<'owner'>, state: FormState): Promise<PageResult> => {
    const [frame, settings] = await Promise.all([frames.ofApp(visit), getSettings(visit.visitor.appId)]);
    const inForce: ShownPolicy = shownPolicy(settings?.policy ?? holdAll);
    const form = state === emptyForm ? policyForm(inForce) : state;
    return { page: policyPage({ ...frame, fees: settings?.fees ?? [], form }) };
  };
  return [
    page({ path, audience: 'owner', show: (visit) => shown(visit, emptyForm) }),
    form({
      path,
      audience: 'owner',
      fields: Fields,
      pointers,
      async act({ visitor: { appId }, fields: stated, by }) {
        const { basisPoints, most, lateWithinMinutes, ...said } = stated;
        const tolerance = { basisPoints: Number(basisPoints), most };
        const policy = { ...said, tolerance, lateWithinMinutes: Number(lateWithinMinutes) };
        const changed = await merchants.setPolicy(appId, policy, by);
        if (isRefusal(changed)) return changed;
        await readable(changed);
        return { to: appPaths(appId).policy, told: 'policySaved' };
      },
      again: shown,
    }),
  ];
}
