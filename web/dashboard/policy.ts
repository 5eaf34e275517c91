/** Policy for wrong amounts. POST: percent, most, under, over, late, lateWithinMinutes, wrongToken, wrongChain. */

import type { VNode } from 'preact';
import Type from 'typebox';
import type { ManageMerchant } from '../../commands/manageMerchant.ts';
import { isRefusal, refuse } from '../../domain/decider.ts';
import type { FeeTier } from '../../domain/merchant/events.ts';
import { formatAmount, microUsdDecimals } from '../../domain/money.ts';
import {
  holdAll,
  overVerdicts,
  type ShownPolicy,
  shownPolicy,
  toleranceMax,
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
import { type Content, html } from '../parts/html.ts';
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

/** A basis point is a hundredth of a percent. */
const percentDecimals = 2;

/** The form filled with the policy in force. */
export const policyForm = ({ tolerance, lateWithinMinutes, ...verdicts }: ShownPolicy): FormState => ({
  values: {
    ...verdicts,
    percent: formatAmount(BigInt(tolerance.basisPoints), percentDecimals),
    most: tolerance.most,
    lateWithinMinutes: String(lateWithinMinutes),
  },
  errors: {},
});

export const policyPage = (model: PolicyModel): VNode =>
  appPage(
    model,
    { title: 'Other amounts', section: 'policy', script: 'policy.js' },
    html`<div class="stack narrow">
      ${card({ title: 'Money that is not what was agreed' }, policyFields(model))}
      ${card({ title: 'Your fees' }, model.fees.length > 0 ? feeTable(model.fees) : noFees())}
    </div>`,
  );

const policyFields = ({ app, form }: PolicyModel): VNode =>
  html`<form class="inside" method="post" action=${appPaths(app.appId).policy} data-policy="yes">
    ${problems(form)}
    <p class="muted">Counts for payments created from now on. A refund goes to an address that the payer has proven, and waits
    for that proof; the network’s cost is taken off. You can refund held money yourself on the payment’s page.</p>
    ${group('Too little', [
      html`<div class="columns">
          ${textField({
            form,
            name: 'percent',
            label: 'Tolerance',
            inputmode: 'decimal',
            maxlength: 5,
            pattern: ' *[0-9]{1,2}([.][0-9]{1,2})? *',
            behind: '%',
            hint: 'Of the amount, from 0 to 10 %.',
          })}
          ${textField({
            form,
            name: 'most',
            label: 'Tolerance, at most',
            inputmode: 'decimal',
            maxlength: 16,
            before: '$',
            hint: 'Both limits apply. 0 in both: none.',
          })}
        </div>`,
      example('tolerance', toleranceTexts, toleranceText(form)),
      verdictField(form, 'under', 'Too little when the time is over', {
        hold: kept,
        accept: 'It pays for as much as came, if that is worth paying out',
        refund: back,
      }),
    ])}
    ${group(
      'Too much',
      verdictField(form, 'over', 'More than the amount', {
        hold: 'You get what was agreed, the rest is held until you decide',
        refund: 'You get what was agreed, the rest goes back',
      }),
    )}
    ${group('Too late', [
      verdictField(form, 'late', 'Money after the end of the payment', {
        hold: kept,
        accept: 'It pays, if it is enough and comes soon enough',
        refund: back,
      }),
      textField({
        form,
        name: 'lateWithinMinutes',
        label: 'Soon enough',
        behind: 'minutes after the end',
        inputmode: 'numeric',
        maxlength: 5,
        hint: 'For late money that pays, else 0. An order that you have given up may come alive; nothing pays of which something went back.',
      }),
      example('late', lateTexts, lateText(form)),
    ])}
    ${group('Wrong token or chain', [
      verdictField(form, 'wrongToken', 'Another token on the right chain', {
        hold: kept,
        accept: 'Another stablecoin that is known here pays one for one',
        refund: back,
      }),
      verdictField(form, 'wrongChain', 'The right address on another chain', {
        hold: kept,
        accept: 'It pays where that chain is served here, for no less than its own fee',
        refund: back,
      }),
    ])}
    ${submit('Save')}
  </form>`;

const group = (title: string, content: Content): VNode =>
  html`<fieldset class="group rows"><legend>${title}</legend>${content}</fieldset>`;

/** Sentences about an example order; client/policy.js fills in their number while the fields change. */
interface ExampleTexts {
  readonly some: string;
  readonly none: string;
}

const toleranceTexts: ExampleTexts = {
  some: 'An order of 100.00 that receives {least} counts as paid.',
  none: 'An order of 100.00 that receives 99.99 does not count as paid.',
};

const lateTexts: ExampleTexts = {
  some: 'Money that arrives up to {minutes} minutes after the end counts as paid.',
  none: 'Money that arrives after the end does not count as paid.',
};

const example = (name: string, { some, none }: ExampleTexts, shown: string): VNode =>
  html`<p class="example" aria-live="polite" data-example=${name} data-some=${some} data-none=${none}>${shown}</p>`;

/** Sentence for the values of the form; wrong values of a refused form tolerate nothing. */
function toleranceText({ values: { percent = '', most = '' } }: FormState): string {
  const [share = 0, dollars = 0] = [percent, most].map((text) => Math.round(Number(text) * 100) || 0);
  const forgiven_cents = Math.min(share, dollars);
  if (forgiven_cents <= 0) return toleranceTexts.none;
  return toleranceTexts.some.replace('{least}', formatAmount(BigInt(exampleOrder_cents - forgiven_cents), 2));
}

function lateText({ values: { late, lateWithinMinutes = '0' } }: FormState): string {
  const counts = late === 'accept' && Number(lateWithinMinutes) > 0;
  return counts ? lateTexts.some.replace('{minutes}', String(Number(lateWithinMinutes))) : lateTexts.none;
}

const exampleOrder_cents = 10_000;

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

const share = Type.Unsafe<string>({
  type: 'string',
  pattern: '^[0-9]{1,2}([.][0-9]{1,2})?$',
  description: 'a percentage with at most two decimals, such as 0.5',
});

const Fields = fields({
  percent: share,
  most: entry(16),
  under: oneOf(verdicts),
  over: oneOf(overVerdicts),
  late: oneOf(verdicts),
  lateWithinMinutes: whole,
  wrongToken: oneOf(verdicts),
  wrongChain: oneOf(verdicts),
});

const tooMuch = refuse(
  'invalidRequest',
  `must be at most ${toleranceMax.basisPoints / 10 ** percentDecimals} percent`,
  '/percent',
);

/** The tolerance has two fields in the form. */
const pointers = { '/tolerance': 'percent', '/tolerance/basisPoints': 'percent', '/tolerance/most': 'most' };

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
        const { percent, most, lateWithinMinutes, ...said } = stated;
        const basisPoints = Math.round(Number(percent) * 10 ** percentDecimals);
        if (basisPoints > toleranceMax.basisPoints) return tooMuch;
        const tolerance = { basisPoints, most };
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
