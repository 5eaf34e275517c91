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
import { chainName, grouped } from '../parts/cells.ts';
import { emptyForm, type FormState, problems, selectField, submit, textField } from '../parts/field.ts';
import type { Frame } from '../parts/frame.ts';
import { type Content, html } from '../parts/html.ts';
import { appPage } from '../parts/layout.ts';
import { appPaths } from '../parts/paths.ts';
import { pageLanguage, pageLocale, sayContent, sayText } from '../parts/say.ts';
import { table } from '../parts/table.ts';
import { entry, fields } from './forms.ts';
import { type AnyForm, type AnyPage, type Frames, form, type PageResult, page, type Visit } from './page.ts';

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
    { title: sayText('policy'), section: 'policy', script: 'policy.js' },
    html`<div class="stack narrow">
      ${card({ title: sayText('notAgreedTitle') }, policyFields(model))}
      ${card({ title: sayText('yourFees') }, model.fees.length > 0 ? feeTable(model.fees) : noFees())}
    </div>`,
  );

const policyFields = ({ app, form }: PolicyModel): VNode =>
  html`<form class="inside" method="post" action=${appPaths(app.appId).policy} data-policy="yes">
    ${problems(form)}
    <p class="muted">${sayContent('policyText')}</p>
    ${group(sayText('tooLittle'), [
      html`<div class="columns">
          ${textField({
            form,
            name: 'percent',
            label: sayText('tolerance'),
            inputmode: 'decimal',
            maxlength: 5,
            pattern: ' *[0-9]{1,2}([.][0-9]{1,2})? *',
            behind: '%',
            hint: sayContent('toleranceHint'),
          })}
          ${textField({
            form,
            name: 'most',
            label: sayText('toleranceMost'),
            inputmode: 'decimal',
            maxlength: 16,
            before: '$',
            hint: sayContent('toleranceMostHint'),
          })}
        </div>`,
      example('tolerance', toleranceTexts(), toleranceText(form)),
      verdictField(form, 'under', sayText('tooLittleAtEnd'), {
        hold: sayText('heldUntilYouDecide'),
        accept: sayText('paysAsMuch'),
        refund: sayText('goesBack'),
      }),
    ])}
    ${group(
      sayText('tooMuch'),
      verdictField(form, 'over', sayText('moreThanAmount'), {
        hold: sayText('restHeld'),
        refund: sayText('restBack'),
      }),
    )}
    ${group(sayText('tooLate'), [
      verdictField(form, 'late', sayText('moneyAfterEnd'), {
        hold: sayText('heldUntilYouDecide'),
        accept: sayText('paysIfSoon'),
        refund: sayText('goesBack'),
      }),
      textField({
        form,
        name: 'lateWithinMinutes',
        label: sayText('soonEnough'),
        behind: sayText('minutesAfterEnd'),
        inputmode: 'numeric',
        maxlength: 5,
        hint: sayContent('soonHint'),
      }),
      example('late', lateTexts(), lateText(form)),
    ])}
    ${group(sayText('wrongTokenOrChain'), [
      verdictField(form, 'wrongToken', sayText('otherToken'), {
        hold: sayText('heldUntilYouDecide'),
        accept: sayText('otherTokenPays'),
        refund: sayText('goesBack'),
      }),
      verdictField(form, 'wrongChain', sayText('otherChain'), {
        hold: sayText('heldUntilYouDecide'),
        accept: sayText('otherChainPays'),
        refund: sayText('goesBack'),
      }),
    ])}
    ${submit(sayContent('save'))}
  </form>`;

const group = (title: string, content: Content): VNode =>
  html`<fieldset class="group rows"><legend>${title}</legend>${content}</fieldset>`;

/** Sentences about an example order; client/policy.js fills in their number while the fields change. */
interface ExampleTexts {
  readonly some: string;
  readonly none: string;
}

const toleranceTexts = (): ExampleTexts => {
  const order = grouped('100.00');
  return {
    some: sayText('exampleTolerated', { order, least: '{least}' }),
    none: sayText('exampleNotTolerated', { order, received: grouped('99.99') }),
  };
};

const lateTexts = (): ExampleTexts => ({
  some: sayText('exampleLate', { minutes: '{minutes}' }),
  none: sayText('exampleNotLate'),
});

const example = (name: string, { some, none }: ExampleTexts, shown: string): VNode =>
  html`<p class="example" aria-live="polite" data-example=${name} data-some=${some} data-none=${none} data-locale=${pageLanguage() === 'en' ? undefined : pageLocale()}>${shown}</p>`;

/** Sentence for the values of the form; wrong values of a refused form tolerate nothing. */
function toleranceText({ values: { percent = '', most = '' } }: FormState): string {
  const [share = 0, dollars = 0] = [percent, most].map((text) => Math.round(Number(text) * 100) || 0);
  const forgiven_cents = Math.min(share, dollars);
  if (forgiven_cents <= 0) return toleranceTexts().none;
  return toleranceTexts().some.replace(
    '{least}',
    grouped(formatAmount(BigInt(exampleOrder_cents - forgiven_cents), 2)),
  );
}

function lateText({ values: { late, lateWithinMinutes = '0' } }: FormState): string {
  const counts = late === 'accept' && Number(lateWithinMinutes) > 0;
  return counts ? lateTexts().some.replace('{minutes}', String(Number(lateWithinMinutes))) : lateTexts().none;
}

const exampleOrder_cents = 10_000;

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
    sayText('yourFees'),
    [
      { head: sayText('feeFrom'), kind: 'title' },
      { head: sayText('feeTo'), kind: 'detail' },
      { head: sayText('fee'), kind: 'number' },
    ],
    fees.map(({ sourceChainId, destinationChainId, fixed_microUsd, basisPoints }) => [
      html`<strong>${nameOf(sourceChainId)}</strong>`,
      nameOf(destinationChainId),
      sayContent('fixedAndShare', {
        fixed: `$${grouped(formatAmount(BigInt(fixed_microUsd), microUsdDecimals))}`,
        share: grouped(formatAmount(BigInt(basisPoints), 2)),
      }),
    ]),
  );

const nameOf = (chainId: number | null): string => (chainId === null ? sayText('everyChain') : chainName(chainId));

const noFees = (): VNode => empty(sayText('noFees'), sayContent('noFeesText'));

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
