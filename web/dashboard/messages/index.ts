import type { Messages } from '../../parts/say.ts';
import type { Language } from '../../pay/language.ts';
import { ar } from './ar.ts';
import { de } from './de.ts';
import { en } from './en.ts';
import { es } from './es.ts';
import { zh } from './zh.ts';

export const messages: Readonly<Record<Language, Messages>> = { en, es, de, zh, ar };
