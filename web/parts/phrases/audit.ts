/** Entries of the audit trail, as queries/merchantAudit.ts and queries/merchantAudit.ts write them. */

import { roleOfName } from '../cells.ts';
import { type Phrase, phrased } from '../phrases.ts';
import { type PlainName, sayText } from '../say.ts';

/** Parts of an entry, each translated by its own form. */
const each =
  (forms: readonly Phrase[], separator: string) =>
  (list: string): string =>
    list
      .split(separator)
      .map((part) => phrased(forms, part) ?? part)
      .join(separator);

const fieldNames: Readonly<Record<string, PlainName>> = {
  name: 'name',
  supportContact: 'supportContact',
  returnUrlTemplate: 'returnUrl',
  colour: 'colour',
  logo: 'logo',
};

const fieldsText = (list: string): string =>
  list
    .split(', ')
    .map((field) => {
      const name = fieldNames[field];
      return name === undefined ? field : sayText(name);
    })
    .join(', ');

const ruleNames: Readonly<Record<string, PlainName>> = {
  under: 'tooLittle',
  over: 'tooMuch',
  late: 'tooLate',
  wrongToken: 'otherToken',
  wrongChain: 'otherChain',
};
const ruleText = (rule: string): string => {
  const name = ruleNames[rule];
  return name === undefined ? rule : sayText(name);
};

const chainText = (chain: string): string => (chain === 'every chain' ? sayText('everyChain') : chain);

const rule = (en: string, es: string, de: string, zh: string, ar: string): Phrase => ({
  en: `{rule} ${en}`,
  es: `{rule}: ${es}`,
  de: `{rule}: ${de}`,
  zh: `{rule}：${zh}`,
  ar: `{rule}: ${ar}`,
  within: { rule: ruleText },
});

const policyForms: readonly Phrase[] = [
  {
    en: '{points} basis points and {most} at most forgiven',
    es: 'se perdonan {points} puntos básicos y {most} como máximo',
    de: '{points} Basispunkte und höchstens {most} werden erlassen',
    zh: '最多免除 {points} 个基点和 {most}',
    ar: 'يُتسامح في {points} نقطة أساس و{most} على الأكثر',
  },
  {
    en: 'late within {minutes} minutes',
    es: 'tarde hasta {minutes} minutos',
    de: 'spät bis {minutes} Minuten',
    zh: '迟到 {minutes} 分钟以内',
    ar: 'متأخر حتى {minutes} دقيقة',
  },
  rule('hold', 'se retiene', 'wird zurückgehalten', '冻结', 'يُحتجز'),
  rule('accept', 'se acepta', 'wird angenommen', '接受', 'يُقبل'),
  rule('refund', 'se devuelve', 'geht zurück', '退回', 'يُعاد'),
];

const feeForms: readonly Phrase[] = [
  {
    en: 'from {from} to {to} {fixed} and {points} basis points, even below cost',
    es: 'de {from} a {to}, {fixed} y {points} puntos básicos, incluso por debajo del coste',
    de: 'von {from} nach {to} {fixed} und {points} Basispunkte, auch unter den Kosten',
    zh: '从 {from} 到 {to}，{fixed} 加 {points} 个基点，即使低于成本',
    ar: 'من {from} إلى {to}، {fixed} و{points} نقطة أساس، حتى دون التكلفة',
    within: { from: chainText, to: chainText },
  },
  {
    en: 'from {from} to {to} {fixed} and {points} basis points',
    es: 'de {from} a {to}, {fixed} y {points} puntos básicos',
    de: 'von {from} nach {to} {fixed} und {points} Basispunkte',
    zh: '从 {from} 到 {to}，{fixed} 加 {points} 个基点',
    ar: 'من {from} إلى {to}، {fixed} و{points} نقطة أساس',
    within: { from: chainText, to: chainText },
  },
];

const walletForms: readonly Phrase[] = [
  {
    en: '{token} on {chain} to {address} with memo {memo}',
    es: '{token} en {chain} a {address} con memo {memo}',
    de: '{token} auf {chain} an {address} mit Memo {memo}',
    zh: '{chain} 上的 {token}，转到 {address}，备注 {memo}',
    ar: '{token} على {chain} إلى {address} مع مذكرة {memo}',
  },
  {
    en: '{token} on {chain} to {address}',
    es: '{token} en {chain} a {address}',
    de: '{token} auf {chain} an {address}',
    zh: '{chain} 上的 {token}，转到 {address}',
    ar: '{token} على {chain} إلى {address}',
  },
];

const sourceForms: readonly Phrase[] = [
  {
    en: '{token} on {chain}',
    es: '{token} en {chain}',
    de: '{token} auf {chain}',
    zh: '{chain} 上的 {token}',
    ar: '{token} على {chain}',
  },
];

const untilForms: readonly Phrase[] = [
  {
    en: '{hint}, until {time}',
    es: '{hint}, hasta {time}',
    de: '{hint}, bis {time}',
    zh: '{hint}，截至 {time}',
    ar: '{hint}، حتى {time}',
  },
];

const linkForms: readonly Phrase[] = [
  {
    en: 'of an amount that the payer chooses',
    es: 'con un importe que elige quien paga',
    de: 'mit einem Betrag, den die zahlende Person wählt',
    zh: '金额由付款人选择',
    ar: 'بمبلغ يختاره الدافع',
  },
  {
    en: 'of {amount} dollars',
    es: 'de {amount} dólares',
    de: 'über {amount} Dollar',
    zh: '金额 {amount} 美元',
    ar: 'بقيمة {amount} دولار',
  },
];

const wallet = each(walletForms, '\n');
const linkSum = each(linkForms, '\n');

export const auditPhrases: readonly Phrase[] = [
  {
    en: 'registered the app',
    es: 'registró la aplicación',
    de: 'registrierte die App',
    zh: '注册了应用',
    ar: 'سجّل التطبيق',
  },
  {
    en: 'set the owner',
    es: 'fijó el propietario',
    de: 'legte den Inhaber fest',
    zh: '设置了所有者',
    ar: 'حدّد المالك',
  },
  {
    en: 'changed what it shows of itself: {fields}',
    es: 'cambió lo que ven quienes pagan: {fields}',
    de: 'änderte, was Zahlende sehen: {fields}',
    zh: '更改了付款人看到的内容：{fields}',
    ar: 'غيّر ما يراه الدافعون: {fields}',
    within: { fields: fieldsText },
  },
  {
    en: 'set its wallet: {wallet}',
    es: 'indicó su billetera: {wallet}',
    de: 'legte die Wallet fest: {wallet}',
    zh: '设置了钱包：{wallet}',
    ar: 'حدّد محفظته: {wallet}',
    within: { wallet },
  },
  {
    en: 'asked for another wallet from {time} on: {wallet}',
    es: 'pidió otra billetera desde {time}: {wallet}',
    de: 'beantragte eine andere Wallet ab {time}: {wallet}',
    zh: '申请从 {time} 起更换钱包：{wallet}',
    ar: 'طلب محفظة أخرى ابتداءً من {time}: {wallet}',
    within: { wallet },
  },
  {
    en: 'called off the change of its wallet',
    es: 'canceló el cambio de billetera',
    de: 'brach die Wallet-Änderung ab',
    zh: '取消了钱包更改',
    ar: 'ألغى تغيير محفظته',
  },
  {
    en: 'removed its webhook',
    es: 'eliminó su webhook',
    de: 'entfernte den Webhook',
    zh: '移除了 webhook',
    ar: 'أزال خطاف الويب',
  },
  {
    en: 'set its webhook: {url}',
    es: 'indicó su webhook: {url}',
    de: 'setzte den Webhook: {url}',
    zh: '设置了 webhook：{url}',
    ar: 'حدّد خطاف الويب: {url}',
  },
  {
    en: 'chose no further types of webhooks',
    es: 'no eligió más tipos de webhooks',
    de: 'wählte keine weiteren Webhook-Typen',
    zh: '未选择其他 webhook 类型',
    ar: 'لم يختر أنواعًا أخرى من خطافات الويب',
  },
  {
    en: 'chose further types of webhooks: {types}',
    es: 'eligió más tipos de webhooks: {types}',
    de: 'wählte weitere Webhook-Typen: {types}',
    zh: '选择了其他 webhook 类型：{types}',
    ar: 'اختار أنواعًا أخرى من خطافات الويب: {types}',
  },
  {
    en: 'made a new webhook secret, fingerprint {fingerprint}',
    es: 'creó un nuevo secreto de webhook, huella {fingerprint}',
    de: 'erzeugte ein neues Webhook-Geheimnis, Fingerabdruck {fingerprint}',
    zh: '生成了新的 webhook 密钥，指纹 {fingerprint}',
    ar: 'أنشأ سرًا جديدًا لخطاف الويب، بصمته {fingerprint}',
  },
  {
    en: 'kept its webhook secret under a new master key',
    es: 'guardó su secreto de webhook con una nueva clave maestra',
    de: 'bewahrte das Webhook-Geheimnis unter einem neuen Hauptschlüssel auf',
    zh: '用新的主密钥保存了 webhook 密钥',
    ar: 'حفظ سر خطاف الويب بمفتاح رئيسي جديد',
  },
  {
    en: 'added webhook endpoint {url}, for {types}',
    es: 'añadió el destino de webhook {url}, para {types}',
    de: 'fügte den Webhook-Endpunkt {url} hinzu, für {types}',
    zh: '添加了 webhook 端点 {url}，用于 {types}',
    ar: 'أضاف نقطة استقبال {url}، لأنواع {types}',
  },
  {
    en: 'chose types for webhook endpoint {id}: {types}',
    es: 'eligió tipos para el destino de webhook {id}: {types}',
    de: 'wählte Typen für den Webhook-Endpunkt {id}: {types}',
    zh: '为 webhook 端点 {id} 选择了类型：{types}',
    ar: 'اختار أنواعًا لنقطة الاستقبال {id}: {types}',
  },
  {
    en: 'made a new secret for webhook endpoint {id}, fingerprint {fingerprint}',
    es: 'creó un nuevo secreto para el destino de webhook {id}, huella {fingerprint}',
    de: 'erzeugte ein neues Geheimnis für den Webhook-Endpunkt {id}, Fingerabdruck {fingerprint}',
    zh: '为 webhook 端点 {id} 生成了新密钥，指纹 {fingerprint}',
    ar: 'أنشأ سرًا جديدًا لنقطة الاستقبال {id}، بصمته {fingerprint}',
  },
  {
    en: 'kept the secret of webhook endpoint {id} under a new master key',
    es: 'guardó el secreto del destino de webhook {id} con una nueva clave maestra',
    de: 'bewahrte das Geheimnis des Webhook-Endpunkts {id} unter einem neuen Hauptschlüssel auf',
    zh: '用新的主密钥保存了 webhook 端点 {id} 的密钥',
    ar: 'حفظ سر نقطة الاستقبال {id} بمفتاح رئيسي جديد',
  },
  {
    en: 'removed webhook endpoint {id}',
    es: 'eliminó el destino de webhook {id}',
    de: 'entfernte den Webhook-Endpunkt {id}',
    zh: '移除了 webhook 端点 {id}',
    ar: 'أزال نقطة الاستقبال {id}',
  },
  {
    en: 'opened it for creation without a key',
    es: 'permitió crear pagos sin clave',
    de: 'erlaubte Zahlungen ohne Schlüssel',
    zh: '允许无密钥创建付款',
    ar: 'سمح بإنشاء المدفوعات دون مفتاح',
  },
  {
    en: 'closed it for creation without a key',
    es: 'dejó de permitir crear pagos sin clave',
    de: 'verbot Zahlungen ohne Schlüssel',
    zh: '禁止无密钥创建付款',
    ar: 'منع إنشاء المدفوعات دون مفتاح',
  },
  {
    en: 'let no site show its payment pages in a frame',
    es: 'no permitió a ningún sitio mostrar sus páginas de pago en un marco',
    de: 'erlaubte keiner Website, Zahlungsseiten in einem Rahmen zu zeigen',
    zh: '不允许任何网站在框架中显示付款页',
    ar: 'لم يسمح لأي موقع بعرض صفحات الدفع في إطار',
  },
  {
    en: 'let sites show its payment pages in a frame: {sites}',
    es: 'permitió a sitios mostrar sus páginas de pago en un marco: {sites}',
    de: 'erlaubte Websites, Zahlungsseiten in einem Rahmen zu zeigen: {sites}',
    zh: '允许网站在框架中显示付款页：{sites}',
    ar: 'سمح لمواقع بعرض صفحات الدفع في إطار: {sites}',
  },
  {
    en: 'lets payers choose no other chain',
    es: 'no deja elegir otra cadena a quienes pagan',
    de: 'lässt Zahlende keine andere Chain wählen',
    zh: '不允许付款人选择其他链',
    ar: 'لا يتيح للدافعين سلسلة أخرى',
  },
  {
    en: 'lets payers choose: {sources}',
    es: 'deja elegir a quienes pagan: {sources}',
    de: 'lässt Zahlende wählen: {sources}',
    zh: '允许付款人选择：{sources}',
    ar: 'يتيح للدافعين: {sources}',
    within: { sources: each(sourceForms, ', ') },
  },
  {
    en: 'set what happens with money that is not what was agreed: {policy}',
    es: 'fijó qué pasa con el dinero que no es lo acordado: {policy}',
    de: 'legte fest, was mit Geld geschieht, das nicht dem Vereinbarten entspricht: {policy}',
    zh: '设置了如何处理与约定不符的资金：{policy}',
    ar: 'حدّد ما يحدث للأموال التي لا تطابق المتفق عليه: {policy}',
    within: { policy: each(policyForms, ', ') },
  },
  {
    en: 'is charged the installation’s fee again',
    es: 'vuelve a pagar la comisión general',
    de: 'zahlt wieder die allgemeine Gebühr',
    zh: '恢复使用通用费率',
    ar: 'عاد إلى الرسوم العامة',
  },
  {
    en: 'agreed fees of its own: {fees}',
    es: 'acordó comisiones propias: {fees}',
    de: 'vereinbarte eigene Gebühren: {fees}',
    zh: '约定了专属费率：{fees}',
    ar: 'اتفق على رسوم خاصة: {fees}',
    within: { fees: each(feeForms, '; ') },
  },
  {
    en: 'issued key "{name}" ({scope}, {hint})',
    es: 'emitió la clave "{name}" ({scope}, {hint})',
    de: 'stellte den Schlüssel "{name}" aus ({scope}, {hint})',
    zh: '签发了密钥 "{name}"（{scope}，{hint}）',
    ar: 'أصدر المفتاح "{name}" ({scope}، {hint})',
    within: { hint: each(untilForms, '\n') },
  },
  {
    en: 'renamed key {id} to "{name}"',
    es: 'cambió el nombre de la clave {id} a "{name}"',
    de: 'benannte den Schlüssel {id} in "{name}" um',
    zh: '将密钥 {id} 重命名为 "{name}"',
    ar: 'أعاد تسمية المفتاح {id} إلى "{name}"',
  },
  {
    en: 'revoked key "{name}" ({hint})',
    es: 'revocó la clave "{name}" ({hint})',
    de: 'widerrief den Schlüssel "{name}" ({hint})',
    zh: '撤销了密钥 "{name}"（{hint}）',
    ar: 'ألغى المفتاح "{name}" ({hint})',
  },
  {
    en: 'invited {person} to the team as {role}',
    es: 'invitó a {person} al equipo como {role}',
    de: 'lud {person} ins Team ein, Rolle {role}',
    zh: '邀请 {person} 加入团队，角色为{role}',
    ar: 'دعا {person} إلى الفريق بدور {role}',
    within: { role: roleOfName },
  },
  {
    en: 'ended the invitation of {person}',
    es: 'terminó la invitación de {person}',
    de: 'beendete die Einladung von {person}',
    zh: '结束了对 {person} 的邀请',
    ar: 'أنهى دعوة {person}',
  },
  {
    en: 'added {person} to the team as {role}',
    es: 'añadió a {person} al equipo como {role}',
    de: 'nahm {person} ins Team auf, Rolle {role}',
    zh: '将 {person} 加入团队，角色为{role}',
    ar: 'أضاف {person} إلى الفريق بدور {role}',
    within: { role: roleOfName },
  },
  {
    en: 'changed the role of {person} to {role}',
    es: 'cambió el rol de {person} a {role}',
    de: 'änderte die Rolle von {person} in {role}',
    zh: '将 {person} 的角色改为{role}',
    ar: 'غيّر دور {person} إلى {role}',
    within: { role: roleOfName },
  },
  {
    en: 'removed {person} from the team',
    es: 'quitó a {person} del equipo',
    de: 'entfernte {person} aus dem Team',
    zh: '将 {person} 移出团队',
    ar: 'أزال {person} من الفريق',
  },
  {
    en: 'chose their own notifications',
    es: 'eligió sus propias notificaciones',
    de: 'wählte eigene Benachrichtigungen',
    zh: '选择了自己的通知',
    ar: 'اختار إشعاراته',
  },
  {
    en: 'made a reusable link {sum}: "{title}"',
    es: 'creó un enlace reutilizable {sum}: "{title}"',
    de: 'erstellte einen mehrfach nutzbaren Link {sum}: "{title}"',
    zh: '创建了可重复使用的链接，{sum}："{title}"',
    ar: 'أنشأ رابطًا قابلًا لإعادة الاستخدام {sum}: "{title}"',
    within: { sum: linkSum },
  },
  {
    en: 'made a reusable link {sum}',
    es: 'creó un enlace reutilizable {sum}',
    de: 'erstellte einen mehrfach nutzbaren Link {sum}',
    zh: '创建了可重复使用的链接，{sum}',
    ar: 'أنشأ رابطًا قابلًا لإعادة الاستخدام {sum}',
    within: { sum: linkSum },
  },
  {
    en: 'closed a reusable link {sum}: "{title}"',
    es: 'cerró un enlace reutilizable {sum}: "{title}"',
    de: 'schloss einen mehrfach nutzbaren Link {sum}: "{title}"',
    zh: '关闭了可重复使用的链接，{sum}："{title}"',
    ar: 'أغلق رابطًا قابلًا لإعادة الاستخدام {sum}: "{title}"',
    within: { sum: linkSum },
  },
  {
    en: 'closed a reusable link {sum}',
    es: 'cerró un enlace reutilizable {sum}',
    de: 'schloss einen mehrfach nutzbaren Link {sum}',
    zh: '关闭了可重复使用的链接，{sum}',
    ar: 'أغلق رابطًا قابلًا لإعادة الاستخدام {sum}',
    within: { sum: linkSum },
  },
  {
    en: 'ordered a refund of {money} of payment {payment} to {receiver}',
    es: 'ordenó un reembolso de {money} del pago {payment} a {receiver}',
    de: 'beauftragte eine Erstattung von {money} der Zahlung {payment} an {receiver}',
    zh: '下达了付款 {payment} 的退款 {money}，退到 {receiver}',
    ar: 'طلب استرداد {money} من الدفعة {payment} إلى {receiver}',
  },
  {
    en: 'called off the refund of {money} of payment {payment} to {receiver}',
    es: 'canceló el reembolso de {money} del pago {payment} a {receiver}',
    de: 'brach die Erstattung von {money} der Zahlung {payment} an {receiver} ab',
    zh: '取消了付款 {payment} 的退款 {money}（退到 {receiver}）',
    ar: 'ألغى استرداد {money} من الدفعة {payment} إلى {receiver}',
  },
];
