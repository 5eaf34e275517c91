/** Refusals in the language of a page. The API's errors stay in English. */

import type { VNode } from 'preact';
import { actions, permissions } from '../../domain/merchant/roles.ts';
import { type ApiError, type ErrorCode, statusOfError } from '../../src/api/errors.ts';
import { lengthText, roleOfName } from '../parts/cells.ts';
import { linkButton } from '../parts/field.ts';
import type { Mode, Outer } from '../parts/frame.ts';
import { html } from '../parts/html.ts';
import type { Language } from '../parts/language.ts';
import { outerPage } from '../parts/layout.ts';
import { actionTexts } from '../parts/messages/actions.ts';
import { deskMessages } from '../parts/messages/index.ts';
import { paths } from '../parts/paths.ts';
import { fieldPhrases } from '../parts/phrases/fields.ts';
import { moreRefusals } from '../parts/phrases/moreRefusals.ts';
import { refusalPhrases } from '../parts/phrases/refusals.ts';
import { type Phrase, phrased } from '../parts/phrases.ts';
import { type PlainName, pageLanguage, sayContent, sayText } from '../parts/say.ts';

const roleRefusal: Phrase = {
  en: 'your role in this team, {role}, does not allow you to {action}: ask its owner',
  es: 'Tu rol en este equipo, {role}, no te permite {action}: pregunta a su propietario.',
  de: 'Ihre Rolle in diesem Team, {role}, erlaubt das nicht ({action}): Fragen Sie den Inhaber.',
  zh: '你在此团队中的角色（{role}）不允许{action}：请联系所有者。',
  ar: 'دورك في هذا الفريق، {role}، لا يسمح لك بـ {action}: اسأل مالكه.',
  within: { role: roleOfName, action: actionText },
};

function actionText(words: string): string {
  const action = actions.find((each) => permissions[each].words === words);
  return action === undefined ? words : actionTexts[pageLanguage()][action];
}

const ofWhole: readonly Phrase[] = [roleRefusal, ...refusalPhrases, ...moreRefusals];

/** Texts of the codes, for a refusal of no known form. */
const codeTexts: Readonly<Record<Exclude<Language, 'en'>, Readonly<Record<ErrorCode, string>>>> = {
  es: {
    invalidRequest: 'La entrada no es válida.',
    codeWrong: 'El código no es correcto.',
    codeExpired: 'El código ha caducado: pide otro.',
    unauthenticated: 'Hace falta una clave de API válida.',
    scope_insufficient: 'El ámbito de la clave de API no es suficiente.',
    forbidden: 'No está permitido.',
    registrationClosed: 'El registro está cerrado.',
    paymentNotFound: 'El pago no existe.',
    deliveryNotFound: 'El envío no existe.',
    handleNotFound: 'El comercio no existe.',
    notFound: 'No existe.',
    methodNotAllowed: 'El método no está permitido.',
    requestTimeout: 'La solicitud tardó demasiado.',
    paymentNotUpdatable: 'No es posible en el estado del pago.',
    orderConflict: 'Este pedido ya se usó con otras condiciones.',
    conflict: 'No es posible en el estado actual.',
    settlementMissing: 'La aplicación no tiene billetera de liquidación: indica una.',
    appIdTaken: 'El id de la aplicación ya está ocupado.',
    deliveryNotRedeliverable: 'El envío no se puede repetir.',
    webhookUrlMissing: 'La aplicación no tiene URL de webhook.',
    refundAddressUnproven: 'La dirección de reembolso no está demostrada.',
    refundExceedsHeld: 'El reembolso supera el importe reembolsable.',
    refundTooSmall: 'El reembolso no cubre su coste de red.',
    relayTooDear: 'El gas cuesta demasiado para pagarlo por el cliente.',
    payloadTooLarge: 'La solicitud es demasiado grande.',
    unsupportedMediaType: 'El formato no se admite.',
    rateLimited: 'Demasiadas solicitudes: inténtalo más tarde.',
    headersTooLarge: 'Las cabeceras son demasiado grandes.',
    internal: 'Algo ha fallado por nuestra parte y lo hemos registrado.',
    routeUnavailable: 'Esta ruta no se puede abonar ahora mismo.',
    unavailable: 'El servicio no está disponible por ahora: inténtalo de nuevo.',
  },
  de: {
    invalidRequest: 'Die Eingabe ist ungültig.',
    codeWrong: 'Der Code ist falsch.',
    codeExpired: 'Der Code ist abgelaufen: Fordern Sie einen neuen an.',
    unauthenticated: 'Ein gültiger API-Schlüssel ist nötig.',
    scope_insufficient: 'Der Umfang des API-Schlüssels reicht nicht aus.',
    forbidden: 'Das ist nicht erlaubt.',
    registrationClosed: 'Die Registrierung ist geschlossen.',
    paymentNotFound: 'Diese Zahlung gibt es nicht.',
    deliveryNotFound: 'Diese Zustellung gibt es nicht.',
    handleNotFound: 'Diesen Händler gibt es nicht.',
    notFound: 'Das gibt es nicht.',
    methodNotAllowed: 'Die Methode ist nicht erlaubt.',
    requestTimeout: 'Die Anfrage hat zu lange gedauert.',
    paymentNotUpdatable: 'Im Status der Zahlung ist das nicht möglich.',
    orderConflict: 'Diese Bestellung wurde schon mit anderen Bedingungen benutzt.',
    conflict: 'Im jetzigen Zustand ist das nicht möglich.',
    settlementMissing: 'Die App hat keine Auszahlungs-Wallet: Legen Sie eine fest.',
    appIdTaken: 'Die App-ID ist vergeben.',
    deliveryNotRedeliverable: 'Die Zustellung lässt sich nicht wiederholen.',
    webhookUrlMissing: 'Die App hat keine Webhook-URL.',
    refundAddressUnproven: 'Die Erstattungsadresse ist nicht nachgewiesen.',
    refundExceedsHeld: 'Die Erstattung übersteigt den erstattbaren Betrag.',
    refundTooSmall: 'Die Erstattung deckt ihre Netzwerkkosten nicht.',
    relayTooDear: 'Das Gas ist zu teuer, um es für den Kunden zu zahlen.',
    payloadTooLarge: 'Die Anfrage ist zu groß.',
    unsupportedMediaType: 'Dieses Format wird nicht unterstützt.',
    rateLimited: 'Zu viele Anfragen: Versuchen Sie es später noch einmal.',
    headersTooLarge: 'Die Kopfzeilen sind zu groß.',
    internal: 'Bei uns ist etwas schiefgegangen, und wir haben es protokolliert.',
    routeUnavailable: 'Auf diesem Weg kann gerade nicht ausgezahlt werden.',
    unavailable: 'Der Dienst ist vorübergehend nicht verfügbar: Versuchen Sie es noch einmal.',
  },
  zh: {
    invalidRequest: '输入无效。',
    codeWrong: '验证码不正确。',
    codeExpired: '验证码已过期：请重新获取。',
    unauthenticated: '需要有效的 API 密钥。',
    scope_insufficient: 'API 密钥的权限不足。',
    forbidden: '不允许此操作。',
    registrationClosed: '注册已关闭。',
    paymentNotFound: '付款不存在。',
    deliveryNotFound: '投递不存在。',
    handleNotFound: '商家不存在。',
    notFound: '不存在。',
    methodNotAllowed: '不允许此方法。',
    requestTimeout: '请求超时。',
    paymentNotUpdatable: '付款的当前状态下无法执行。',
    orderConflict: '此订单已用于其他条款。',
    conflict: '当前状态下无法执行。',
    settlementMissing: '应用没有结算钱包：请先设置。',
    appIdTaken: '应用 ID 已被占用。',
    deliveryNotRedeliverable: '此投递无法重发。',
    webhookUrlMissing: '应用没有 webhook URL。',
    refundAddressUnproven: '退款地址尚未证明。',
    refundExceedsHeld: '退款超过可退金额。',
    refundTooSmall: '退款不足以支付网络成本。',
    relayTooDear: 'gas 费用过高，无法代付。',
    payloadTooLarge: '请求过大。',
    unsupportedMediaType: '不支持此格式。',
    rateLimited: '请求过多：请稍后重试。',
    headersTooLarge: '请求头过大。',
    internal: '我们这边出了问题，已记录下来。',
    routeUnavailable: '目前无法通过此路径付出。',
    unavailable: '服务暂时不可用：请重试。',
  },
  ar: {
    invalidRequest: 'المدخلات غير صالحة.',
    codeWrong: 'الرمز غير صحيح.',
    codeExpired: 'انتهت صلاحية الرمز: اطلب رمزًا جديدًا.',
    unauthenticated: 'يلزم مفتاح API صالح.',
    scope_insufficient: 'نطاق مفتاح API غير كافٍ.',
    forbidden: 'غير مسموح.',
    registrationClosed: 'التسجيل مغلق.',
    paymentNotFound: 'الدفعة غير موجودة.',
    deliveryNotFound: 'التسليم غير موجود.',
    handleNotFound: 'التاجر غير موجود.',
    notFound: 'غير موجود.',
    methodNotAllowed: 'الطريقة غير مسموحة.',
    requestTimeout: 'استغرق الطلب وقتًا طويلًا.',
    paymentNotUpdatable: 'غير ممكن في حالة الدفعة.',
    orderConflict: 'استُخدم هذا الطلب بشروط أخرى.',
    conflict: 'غير ممكن في الحالة الحالية.',
    settlementMissing: 'ليس للتطبيق محفظة تسوية: حدّد واحدة.',
    appIdTaken: 'معرّف التطبيق مأخوذ.',
    deliveryNotRedeliverable: 'لا يمكن إعادة هذا التسليم.',
    webhookUrlMissing: 'ليس للتطبيق عنوان خطاف ويب.',
    refundAddressUnproven: 'عنوان الاسترداد غير مثبت.',
    refundExceedsHeld: 'الاسترداد يتجاوز المبلغ القابل للاسترداد.',
    refundTooSmall: 'الاسترداد لا يغطي تكلفة شبكته.',
    relayTooDear: 'رسوم الشبكة أعلى من أن تُدفع عن العميل.',
    payloadTooLarge: 'الطلب أكبر من اللازم.',
    unsupportedMediaType: 'الصيغة غير مدعومة.',
    rateLimited: 'طلبات كثيرة جدًا: حاول لاحقًا.',
    headersTooLarge: 'ترويسات الطلب أكبر من اللازم.',
    internal: 'حدث خطأ من جانبنا وقد سجّلناه.',
    routeUnavailable: 'لا يمكن الصرف عبر هذا المسار الآن.',
    unavailable: 'الخدمة غير متاحة مؤقتًا: حاول مجددًا.',
  },
};

/** Codes whose English detail helps nobody who fills in a form. */
const complete: ReadonlySet<ErrorCode> = new Set(['rateLimited', 'internal', 'unavailable', 'requestTimeout']);

/**
 * A refusal as a sentence that reads alone. A refusal of no known form becomes the text of its code, with the English detail.
 *
 * @param field of the form, whose label begins the sentence; '' for the whole form
 */
export function refusalText(code: ErrorCode, message: string, field = ''): string {
  const language = pageLanguage();
  if (language === 'en') return englishSentence(message, field);
  const own = withoutField(message, field);
  const ofField = phrased(fieldPhrases, own);
  const label = labels[field];
  if (ofField !== null) return label === undefined ? ofField : `${sayText(label)}: ${ofField}`;
  const known = phrased(ofWhole, own) ?? phrased(ofWhole, message);
  if (known !== null) return known;
  const text = codeTexts[language][code];
  return complete.has(code) ? text : `${text} (${englishSentence(message, field)})`;
}

/** Labels of fields as the pages have them. A field of another name has no label of its own. */
const labels: Readonly<Record<string, PlainName>> = {
  amount: 'amount',
  asset: 'token',
  chainId: 'chain',
  code: 'code',
  colour: 'colour',
  description: 'description',
  displayName: 'name',
  email: 'email',
  logo: 'logo',
  maxAmount: 'labelAtMost',
  minAmount: 'labelAtLeast',
  name: 'name',
  most: 'labelMost',
  orderId: 'labelOrderId',
  percent: 'tolerance',
  receiverAddress: 'address',
  receiverMemo: 'memo',
  returnUrlTemplate: 'returnUrl',
  scope: 'labelScope',
  settlementAddress: 'address',
  settlementChainId: 'chain',
  settlementMemo: 'memo',
  settlementTokenSymbol: 'token',
  slug: 'shortName',
  sourceChainId: 'chain',
  sourceTokenSymbol: 'token',
  supportContact: 'supportContact',
  title: 'title',
  tokenSymbol: 'token',
  types: 'events',
  url: 'labelUrl',
  webhookUrl: 'labelWebhookUrl',
};

const predicate = /^(is|has|must|cannot|accepts)\b/;

/** Without the field's name in the API, which begins some messages. */
const withoutField = (message: string, field: string): string =>
  message.replace(new RegExp(`^/?${field}(?= (is|has|must|cannot|accepts)\\b)`), '').trimStart();

/** The field's name in the API becomes the label of the page. */
function englishSentence(message: string, field: string): string {
  const name = labels[field];
  const own = withoutField(message, field);
  const whole = predicate.test(own)
    ? `${name === undefined ? 'This' : englishLabel(name)} ${own}`
    : `${message.charAt(0).toUpperCase()}${message.slice(1)}`;
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}

const englishLabel = (name: PlainName): string => deskMessages.en[name];

// Error pages for people, with the status and text of the API's answer.

export interface ErrorModel extends Outer {
  readonly status: 400 | 403 | 404 | 413 | 429 | 500 | 503;
  /** Remedy, if more specific than the status. */
  readonly message: string | null;
  readonly retryAfter_s: number | null;
  /** Whether the page is requested again after this time: a form is not. */
  readonly isAgain: boolean;
  readonly requestId: string;
}

const words: Readonly<Record<ErrorModel['status'], readonly [title: PlainName, text: PlainName]>> = {
  400: ['badTitle', 'badText'],
  403: ['deniedTitle', 'deniedText'],
  404: ['missingTitle', 'missingText'],
  413: ['largeTitle', 'largeText'],
  429: ['manyTitle', 'manyText'],
  500: ['failedTitle', 'failedText'],
  503: ['busyTitle', 'busyText'],
};

export const errorPage = (model: ErrorModel): VNode => {
  const [title, text] = words[model.status];
  return outerPage(
    model,
    sayText(title),
    html`<div class="single"><section class="card"><div class="inside">
      <p class="muted small">${model.status}</p>
      <h1>${sayContent(title)}</h1>
      <p>${model.message ?? sayContent(text)}</p>
      ${model.retryAfter_s !== null && html`<p>${sayContent('tryAgainIn', { time: lengthText(1_000 * model.retryAfter_s) })}</p>`}
      ${model.isAgain && model.retryAfter_s !== null && html`<script type="module" src=${paths.asset('again.js')} data-after=${model.retryAfter_s}></script>`}
      <div class="controls">${linkButton(paths.home, sayContent('toYourApps'), 'primary')}</div>
      <p class="small muted">${sayContent('giveRequestId', { id: html`<span class="mono" dir=${pageLanguage() === 'en' ? undefined : 'ltr'}>${model.requestId}</span>` })}</p>
    </div></section></div>`,
  );
};

export function pageOfError(error: ApiError, method: string, requestId: string, mode: Mode): VNode {
  const retryAfter_s = Number(error.headers['Retry-After'] ?? 0);
  return errorPage({
    mode,
    person: null,
    flash: null,
    status: shownAs(statusOfError(error.code)),
    message: error.code === 'notFound' ? null : messageOf(error),
    retryAfter_s: retryAfter_s > 0 ? retryAfter_s : null,
    isAgain: method === 'GET',
    requestId,
  });
}

/** In English, the message of the API's answer. */
const messageOf = ({ code, message }: ApiError): string =>
  pageLanguage() === 'en' ? message : refusalText(code, message);

const shown: readonly ErrorModel['status'][] = [400, 403, 404, 413, 429, 500, 503];

/** Pages distinguish fewer kinds than statuses. */
const shownAs = (status: number): ErrorModel['status'] =>
  shown.find((known) => known === status) ?? (status < 500 ? 400 : 500);
