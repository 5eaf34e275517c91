import type { Language } from '../language.ts';
import { deskArabic } from './ar.ts';
import { deskGerman } from './de.ts';
import { deliveryTexts } from './deliveries.ts';
import { developerTexts } from './developers.ts';
import { deskEnglish } from './en.ts';
import { deskSpanish } from './es.ts';
import { fundedRefundTexts } from './fundedRefunds.ts';
import { linkTexts } from './links.ts';
import { paymentTexts } from './payment.ts';
import { paymentFormTexts } from './paymentForms.ts';
import { refundTexts } from './refunds.ts';
import { reportTexts } from './reports.ts';
import { storyTexts } from './story.ts';
import { storyLegTexts } from './storyLegs.ts';
import type { DeskMessages } from './types.ts';
import { webhookTexts } from './webhooks.ts';
import { wordTexts } from './words.ts';
import { deskChinese } from './zh.ts';

/** Texts of groups of pages, each in every language. No two groups have the same name of a text. */
export const groups = [
  wordTexts,
  paymentTexts,
  paymentFormTexts,
  storyTexts,
  storyLegTexts,
  refundTexts,
  fundedRefundTexts,
  linkTexts,
  reportTexts,
  webhookTexts,
  deliveryTexts,
  developerTexts,
] as const;

export const deskMessages: Readonly<Record<Language, DeskMessages>> = {
  en: {
    ...deskEnglish,
    ...wordTexts.en,
    ...paymentTexts.en,
    ...paymentFormTexts.en,
    ...storyTexts.en,
    ...storyLegTexts.en,
    ...refundTexts.en,
    ...fundedRefundTexts.en,
    ...linkTexts.en,
    ...reportTexts.en,
    ...webhookTexts.en,
    ...deliveryTexts.en,
    ...developerTexts.en,
  },
  es: {
    ...deskSpanish,
    ...wordTexts.es,
    ...paymentTexts.es,
    ...paymentFormTexts.es,
    ...storyTexts.es,
    ...storyLegTexts.es,
    ...refundTexts.es,
    ...fundedRefundTexts.es,
    ...linkTexts.es,
    ...reportTexts.es,
    ...webhookTexts.es,
    ...deliveryTexts.es,
    ...developerTexts.es,
  },
  de: {
    ...deskGerman,
    ...wordTexts.de,
    ...paymentTexts.de,
    ...paymentFormTexts.de,
    ...storyTexts.de,
    ...storyLegTexts.de,
    ...refundTexts.de,
    ...fundedRefundTexts.de,
    ...linkTexts.de,
    ...reportTexts.de,
    ...webhookTexts.de,
    ...deliveryTexts.de,
    ...developerTexts.de,
  },
  zh: {
    ...deskChinese,
    ...wordTexts.zh,
    ...paymentTexts.zh,
    ...paymentFormTexts.zh,
    ...storyTexts.zh,
    ...storyLegTexts.zh,
    ...refundTexts.zh,
    ...fundedRefundTexts.zh,
    ...linkTexts.zh,
    ...reportTexts.zh,
    ...webhookTexts.zh,
    ...deliveryTexts.zh,
    ...developerTexts.zh,
  },
  ar: {
    ...deskArabic,
    ...wordTexts.ar,
    ...paymentTexts.ar,
    ...paymentFormTexts.ar,
    ...storyTexts.ar,
    ...storyLegTexts.ar,
    ...refundTexts.ar,
    ...fundedRefundTexts.ar,
    ...linkTexts.ar,
    ...reportTexts.ar,
    ...webhookTexts.ar,
    ...deliveryTexts.ar,
    ...developerTexts.ar,
  },
};
