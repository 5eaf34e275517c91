/** Every text of the dashboard in its languages. */
import { type Language, languages } from '../language.ts';
import { deskArabic } from './ar.ts';
import { deskGerman } from './de.ts';
import { deliveryTexts } from './deliveries.ts';
import { developerTexts } from './developers.ts';
import { deskEnglish } from './en.ts';
import { errorTexts } from './errors.ts';
import { deskSpanish } from './es.ts';
import { fundedRefundTexts } from './fundedRefunds.ts';
import { linkTexts } from './links.ts';
import { monthlyReportTexts } from './monthlyReport.ts';
import { monthlyReportMoneyTexts } from './monthlyReportMoney.ts';
import { notificationTexts } from './notifications.ts';
import { paymentTexts } from './payment.ts';
import { paymentFormTexts } from './paymentForms.ts';
import { personTexts } from './person.ts';
import { policyTexts } from './policy.ts';
import { refundTexts } from './refunds.ts';
import { reportTexts } from './reports.ts';
import { settlementTexts } from './settlement.ts';
import { storyTexts } from './story.ts';
import { storyLegTexts } from './storyLegs.ts';
import { teamTexts } from './team.ts';
import type { Translated } from './types.ts';
import { webhookTexts } from './webhooks.ts';
import { wordTexts } from './words.ts';
import { deskChinese } from './zh.ts';

const desk = { en: deskEnglish, es: deskSpanish, de: deskGerman, zh: deskChinese, ar: deskArabic };

/** One file per group of pages. No two of them have a name in common. */
export const groups = [
  desk,
  wordTexts,
  errorTexts,
  personTexts,
  settlementTexts,
  policyTexts,
  notificationTexts,
  teamTexts,
  paymentTexts,
  paymentFormTexts,
  storyTexts,
  storyLegTexts,
  refundTexts,
  fundedRefundTexts,
  linkTexts,
  reportTexts,
  monthlyReportTexts,
  monthlyReportMoneyTexts,
  webhookTexts,
  deliveryTexts,
  developerTexts,
] as const;

type Intersection<U> = (U extends unknown ? (each: U) => void : never) extends (each: infer I) => void ? I : never;

/** The texts in English, the reference for the other languages: same names, same {places}. */
export type English = Intersection<(typeof groups)[number]['en']>;

const textsIn = (language: Language) =>
  Object.assign({}, ...groups.map((group) => group[language])) as Translated<English>;

export const deskMessages = Object.fromEntries(languages.map((language) => [language, textsIn(language)])) as Readonly<
  Record<Language, Translated<English>>
>;
