/** Texts about a payment’s problems, its proof, its note, its end, and test payments. */
import type { Translated } from './types.ts';

const en = {
  problemTooLow:
    'Less than the agreed or the least accepted amount arrived in time. The money is held and can be refunded.',
  problemTooHigh: 'More than the accepted limit arrived. The money is held and can be refunded.',
  problemLate: 'The money arrived after the payment had expired. It is held and can be refunded.',
  problemWrongToken: 'Another token than the agreed one arrived. It is held and can be refunded.',
  problemWrongChain: 'The money arrived on another chain than agreed. It is held and can be refunded.',
  problemOtherSender: 'The money came from another sender than the announced one. It is held and can be refunded.',
  problemPayoutImpossible: 'The destination cannot be paid. The money is held and can be refunded.',
  problemEmptyPayin:
    'The registered transaction contains no accepted token for this payment’s address. Check the token, its contract and the receiver, or register another transaction.',
  proof: 'Proof',
  downloadEvidence: 'Download evidence',
  evidenceText:
    'The evidence has every event of this payment up to the newest signed head of the log. Whoever gets it checks it offline, with one file and without trusting anybody. It also holds the payment’s metadata, its note and its tags.',
  asItWas: 'The payment as it was at (UTC)',
  show: 'Show',
  pastText: 'This is the payment as it was at {time}, made from its events. Later events are omitted.',
  showAsNow: 'Show it as it is now',
  notATime: 'This must be a time, such as 2026-11-22T10:00.',
  createdLater: 'The payment was created at {time}: ask for that time or a later one.',
  noteAndTags: 'Note and tags',
  noteForPeople: 'for the people of this app alone',
  note: 'Note',
  tags: 'Tags',
  tagsPlaceholder: 'wholesale repeat-order',
  tagsHint: 'Words between spaces, at most {max}. The search finds them by #tag.',
  cancelTitle: 'Cancel this payment?',
  cancelText:
    'The time to pay {name} ends now, for good. Its page says that it is over; the order needs a new payment.',
  cancelPart:
    '{received} came and {missing} is missing: your rule for too little decides what happens with it, as at the end of any payment.',
  cancelCounts:
    'A transfer that its chain holds by now still counts. Money that comes later is held and can be refunded, also where your rule accepts late money.',
  cancelPayment: 'Cancel the payment',
  testPayment: 'Test payment',
  testMakes: 'This makes a payment of {amount} on {chain}.',
  testPaidForYou: 'The customer of the sandbox pays it at once, and you can watch each step.',
  testPayYourself: 'Pay it from a wallet of yours, as a customer does, and watch each step.',
  testWebhooks: 'If the app has a webhook, your server gets its webhooks.',
  testFaucet: 'A faucet gives test tokens for nothing: {link}.',
  notNow: 'Not now',
} as const;

type Texts = Translated<typeof en>;

const es: Texts = {
  problemTooLow:
    'A tiempo llegó menos de lo acordado o del mínimo aceptado. El dinero está retenido y se puede reembolsar.',
  problemTooHigh: 'Llegó más del límite aceptado. El dinero está retenido y se puede reembolsar.',
  problemLate: 'El dinero llegó cuando el pago ya había vencido. Está retenido y se puede reembolsar.',
  problemWrongToken: 'Llegó otro token que el acordado. Está retenido y se puede reembolsar.',
  problemWrongChain: 'El dinero llegó por otra cadena que la acordada. Está retenido y se puede reembolsar.',
  problemOtherSender: 'El dinero vino de otro remitente que el anunciado. Está retenido y se puede reembolsar.',
  problemPayoutImpossible: 'No se puede pagar al destino. El dinero está retenido y se puede reembolsar.',
  problemEmptyPayin:
    'La transacción registrada no contiene ningún token aceptado para la dirección de este pago. Revisa el token, su contrato y el receptor, o registra otra transacción.',
  proof: 'Prueba',
  downloadEvidence: 'Descargar la prueba',
  evidenceText:
    'La prueba contiene todos los eventos de este pago hasta la última cabecera firmada del registro. Quien la reciba la comprueba sin conexión, con un solo archivo y sin confiar en nadie. También incluye los metadatos del pago, su nota y sus etiquetas.',
  asItWas: 'El pago tal como estaba a las (UTC)',
  show: 'Mostrar',
  pastText: 'Este es el pago tal como estaba el {time}, reconstruido con sus eventos. Los posteriores se omiten.',
  showAsNow: 'Mostrarlo como está ahora',
  notATime: 'Debe ser una hora, como 2026-11-22T10:00.',
  createdLater: 'El pago se creó el {time}: pide esa hora o una posterior.',
  noteAndTags: 'Nota y etiquetas',
  noteForPeople: 'solo para el equipo de esta aplicación',
  note: 'Nota',
  tags: 'Etiquetas',
  tagsPlaceholder: 'mayorista cliente-fijo',
  tagsHint: 'Palabras separadas por espacios, {max} como máximo. La búsqueda las encuentra con #etiqueta.',
  cancelTitle: '¿Cancelar este pago?',
  cancelText:
    'El plazo para pagar {name} termina ahora, para siempre. Su página dirá que terminó; el pedido necesita un pago nuevo.',
  cancelPart:
    'Llegaron {received} y faltan {missing}: decide tu regla para importes de menos, como al final de cualquier pago.',
  cancelCounts:
    'Una transferencia que ya esté en su cadena aún cuenta. El dinero que llegue después se retiene y se puede reembolsar, aunque tu regla acepte dinero tardío.',
  cancelPayment: 'Cancelar el pago',
  testPayment: 'Pago de prueba',
  testMakes: 'Esto crea un pago de {amount} en {chain}.',
  testPaidForYou: 'El cliente del entorno de pruebas lo paga al instante, y puedes seguir cada paso.',
  testPayYourself: 'Págalo desde una billetera tuya, como un cliente, y sigue cada paso.',
  testWebhooks: 'Si la aplicación tiene un webhook, tu servidor lo recibe.',
  testFaucet: 'Un grifo da tokens de prueba gratis: {link}.',
  notNow: 'Ahora no',
};

const de: Texts = {
  problemTooLow:
    'Rechtzeitig ist weniger als vereinbart oder als das Minimum eingegangen. Das Geld wird zurückgehalten und kann erstattet werden.',
  problemTooHigh:
    'Es ist mehr als die erlaubte Obergrenze eingegangen. Das Geld wird zurückgehalten und kann erstattet werden.',
  problemLate: 'Das Geld ist nach Ablauf der Zahlung eingegangen. Es wird zurückgehalten und kann erstattet werden.',
  problemWrongToken:
    'Ein anderer Token als vereinbart ist eingegangen. Er wird zurückgehalten und kann erstattet werden.',
  problemWrongChain:
    'Das Geld ist auf einer anderen Chain als vereinbart eingegangen. Es wird zurückgehalten und kann erstattet werden.',
  problemOtherSender:
    'Das Geld kam von einem anderen Absender als angekündigt. Es wird zurückgehalten und kann erstattet werden.',
  problemPayoutImpossible:
    'Das Ziel kann nicht ausgezahlt werden. Das Geld wird zurückgehalten und kann erstattet werden.',
  problemEmptyPayin:
    'Die gemeldete Transaktion enthält keinen angenommenen Token für die Adresse dieser Zahlung. Prüfen Sie Token, Vertrag und Empfänger, oder melden Sie eine andere Transaktion.',
  proof: 'Nachweis',
  downloadEvidence: 'Nachweis herunterladen',
  evidenceText:
    'Der Nachweis enthält jedes Ereignis dieser Zahlung bis zum neuesten signierten Kopf des Protokolls. Wer ihn bekommt, prüft ihn offline, mit einer Datei und ohne jemandem zu vertrauen. Er enthält auch Metadaten, Notiz und Tags der Zahlung.',
  asItWas: 'Die Zahlung, wie sie war um (UTC)',
  show: 'Zeigen',
  pastText: 'So war die Zahlung am {time}, aus ihren Ereignissen erstellt. Spätere Ereignisse fehlen.',
  showAsNow: 'Heutigen Stand zeigen',
  notATime: 'Das muss ein Zeitpunkt sein, etwa 2026-11-22T10:00.',
  createdLater: 'Die Zahlung wurde um {time} angelegt: Wählen Sie diesen oder einen späteren Zeitpunkt.',
  noteAndTags: 'Notiz und Tags',
  noteForPeople: 'nur für die Leute dieser App',
  note: 'Notiz',
  tags: 'Tags',
  tagsPlaceholder: 'großhandel stammkunde',
  tagsHint: 'Wörter zwischen Leerzeichen, höchstens {max}. Die Suche findet sie mit #Tag.',
  cancelTitle: 'Diese Zahlung stornieren?',
  cancelText:
    'Die Zahlungsfrist für {name} endet jetzt, endgültig. Ihre Seite sagt, dass sie vorbei ist; die Bestellung braucht eine neue Zahlung.',
  cancelPart:
    '{received} sind eingegangen und {missing} fehlen: Ihre Regel für zu geringe Beträge entscheidet, wie am Ende jeder Zahlung.',
  cancelCounts:
    'Eine Überweisung, die schon auf ihrer Chain ist, zählt noch. Später eingehendes Geld wird zurückgehalten und kann erstattet werden, auch wenn Ihre Regel spätes Geld annimmt.',
  cancelPayment: 'Zahlung stornieren',
  testPayment: 'Testzahlung',
  testMakes: 'Damit entsteht eine Zahlung über {amount} auf {chain}.',
  testPaidForYou: 'Die Kundschaft der Sandbox bezahlt sie sofort, und Sie sehen jeden Schritt.',
  testPayYourself: 'Bezahlen Sie sie aus einer eigenen Wallet, wie Ihre Kundschaft, und sehen Sie jeden Schritt.',
  testWebhooks: 'Wenn die App einen Webhook hat, bekommt Ihr Server ihre Webhooks.',
  testFaucet: 'Ein Faucet verschenkt Test-Token: {link}.',
  notNow: 'Nicht jetzt',
};

const zh: Texts = {
  problemTooLow: '按时到账的金额少于约定或最低可接受金额。款项已留存，可以退款。',
  problemTooHigh: '到账金额超过可接受的上限。款项已留存，可以退款。',
  problemLate: '款项在付款过期后到账。已留存，可以退款。',
  problemWrongToken: '到账的代币与约定不同。已留存，可以退款。',
  problemWrongChain: '款项从约定之外的链到账。已留存，可以退款。',
  problemOtherSender: '款项来自预告之外的付款方。已留存，可以退款。',
  problemPayoutImpossible: '无法向目的地付款。款项已留存，可以退款。',
  problemEmptyPayin: '登记的交易中没有付到此付款地址的可接受代币。请检查代币、合约和收款人，或登记另一笔交易。',
  proof: '证明',
  downloadEvidence: '下载证据',
  evidenceText:
    '证据包含此付款截至最新已签名日志头的每个事件。拿到它的人只用一个文件就能离线核对，无需信任任何人。其中也有付款的元数据、内部备注和标签。',
  asItWas: '付款在该时间的状态（UTC）',
  show: '显示',
  pastText: '这是付款在 {time} 的状态，由其事件重建。之后的事件已省略。',
  showAsNow: '显示当前状态',
  notATime: '必须是时间，例如 2026-11-22T10:00。',
  createdLater: '付款创建于 {time}：请选择该时间或之后的时间。',
  noteAndTags: '内部备注和标签',
  noteForPeople: '仅供此应用的成员查看',
  note: '内部备注',
  tags: '标签',
  tagsPlaceholder: '批发 老客户',
  tagsHint: '用空格分隔的词，最多 {max} 个。可用 #标签 搜索。',
  cancelTitle: '取消此付款？',
  cancelText: '{name} 的付款期限现在永久结束。付款页会说明已结束；该订单需要新的付款。',
  cancelPart: '已到账 {received}，还差 {missing}：与任何付款结束时一样，按你的金额不足规则处理。',
  cancelCounts: '此刻已上链的转账仍然算数。之后到账的款项会被留存，可以退款，即使你的规则接受迟到的款项。',
  cancelPayment: '取消付款',
  testPayment: '测试付款',
  testMakes: '这会创建一笔 {chain} 上 {amount} 的付款。',
  testPaidForYou: '沙盒的顾客会立即付款，你可以观察每一步。',
  testPayYourself: '像顾客一样用你自己的钱包付款，并观察每一步。',
  testWebhooks: '如果应用设有 webhook，你的服务器会收到通知。',
  testFaucet: '水龙头免费发放测试代币：{link}。',
  notNow: '以后再说',
};

const ar: Texts = {
  problemTooLow: 'وصل في الوقت أقل من المبلغ المتفق عليه أو من الحد الأدنى. الأموال محتجزة ويمكن ردّها.',
  problemTooHigh: 'وصل أكثر من الحد المقبول. الأموال محتجزة ويمكن ردّها.',
  problemLate: 'وصلت الأموال بعد انتهاء الدفعة. وهي محتجزة ويمكن ردّها.',
  problemWrongToken: 'وصلت عملة غير المتفق عليها. وهي محتجزة ويمكن ردّها.',
  problemWrongChain: 'وصلت الأموال على سلسلة غير المتفق عليها. وهي محتجزة ويمكن ردّها.',
  problemOtherSender: 'جاءت الأموال من مُرسل غير المُعلن. وهي محتجزة ويمكن ردّها.',
  problemPayoutImpossible: 'لا يمكن الصرف إلى الوجهة. الأموال محتجزة ويمكن ردّها.',
  problemEmptyPayin:
    'لا تحتوي المعاملة المسجلة على عملة مقبولة لعنوان هذه الدفعة. تحقق من العملة وعقدها والمستلم، أو سجّل معاملة أخرى.',
  proof: 'الإثبات',
  downloadEvidence: 'تنزيل الأدلة',
  evidenceText:
    'تضم الأدلة كل حدث لهذه الدفعة حتى أحدث رأس موقَّع للسجل. ومن يحصل عليها يتحقق منها دون اتصال، بملف واحد ودون الثقة بأحد. وفيها أيضًا بيانات الدفعة الوصفية وملاحظتها ووسومها.',
  asItWas: 'الدفعة كما كانت في (UTC)',
  show: 'عرض',
  pastText: 'هذه الدفعة كما كانت في {time}، مبنية من أحداثها. حُذفت الأحداث اللاحقة.',
  showAsNow: 'عرضها كما هي الآن',
  notATime: 'يجب أن يكون وقتًا، مثل 2026-11-22T10:00.',
  createdLater: 'أُنشئت الدفعة في {time}: اختر ذلك الوقت أو وقتًا بعده.',
  noteAndTags: 'الملاحظة والوسوم',
  noteForPeople: 'لأعضاء هذا التطبيق فقط',
  note: 'الملاحظة',
  tags: 'الوسوم',
  tagsPlaceholder: 'جملة عميل-دائم',
  tagsHint: 'كلمات بينها مسافات، {max} على الأكثر. يجدها البحث بـ #وسم.',
  cancelTitle: 'إلغاء هذه الدفعة؟',
  cancelText: 'تنتهي مهلة دفع {name} الآن نهائيًا. تذكر صفحتها أنها انتهت؛ ويحتاج الطلب إلى دفعة جديدة.',
  cancelPart: 'وصل {received} وينقص {missing}: تقرر قاعدتك للمبالغ الناقصة مصيره، كما في نهاية أي دفعة.',
  cancelCounts:
    'التحويل الموجود على سلسلته الآن يُحتسب. والأموال التي تصل لاحقًا تُحتجز ويمكن ردّها، حتى إن كانت قاعدتك تقبل الأموال المتأخرة.',
  cancelPayment: 'إلغاء الدفعة',
  testPayment: 'دفعة تجريبية',
  testMakes: 'ينشئ هذا دفعة بقيمة {amount} على {chain}.',
  testPaidForYou: 'يدفعها عميل بيئة التجربة فورًا، ويمكنك متابعة كل خطوة.',
  testPayYourself: 'ادفعها من محفظة لك كما يفعل العميل، وتابع كل خطوة.',
  testWebhooks: 'إذا كان للتطبيق خطاف ويب، يتلقى خادمك خطافاتها.',
  testFaucet: 'يمنح موقع «faucet» عملات تجريبية مجانًا: {link}.',
  notNow: 'ليس الآن',
};

export const paymentFormTexts = { en, es, de, zh, ar };
