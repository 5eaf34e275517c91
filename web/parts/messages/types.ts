/** Types of the dashboard's texts: English is the list of their names. */

import type { deliveryTexts } from './deliveries.ts';
import type { developerTexts } from './developers.ts';
import type { deskEnglish } from './en.ts';
import type { fundedRefundTexts } from './fundedRefunds.ts';
import type { linkTexts } from './links.ts';
import type { paymentTexts } from './payment.ts';
import type { paymentFormTexts } from './paymentForms.ts';
import type { refundTexts } from './refunds.ts';
import type { reportTexts } from './reports.ts';
import type { storyTexts } from './story.ts';
import type { storyLegTexts } from './storyLegs.ts';
import type { webhookTexts } from './webhooks.ts';
import type { wordTexts } from './words.ts';

/** The forms of a counted text. Each language has its own forms: Arabic has six. */
export type Plural = Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }>;

/** The texts of English in another language. A message that is missing does not compile. */
export type Translated<E> = { readonly [N in keyof E]: E[N] extends string ? string : Plural };

export type English = typeof deskEnglish &
  typeof wordTexts.en &
  typeof paymentTexts.en &
  typeof paymentFormTexts.en &
  typeof storyTexts.en &
  typeof storyLegTexts.en &
  typeof refundTexts.en &
  typeof fundedRefundTexts.en &
  typeof linkTexts.en &
  typeof reportTexts.en &
  typeof webhookTexts.en &
  typeof deliveryTexts.en &
  typeof developerTexts.en;
export type DeskMessages = Translated<English>;
