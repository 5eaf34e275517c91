import type { Messages } from '../language.ts';

export const de: Messages = {
  skip: 'Zum Inhalt',
  sandbox: 'Sandbox. Netzwerke und Geld sind auf diesem Rechner erfunden.',
  test: 'Testbetrieb. Testnetze: hier ist nichts etwas wert.',
  order: 'Bestellung {order}',
  payment: 'Zahlung',
  merchant: 'das Geschäft',
  language: 'Sprache',
  provable: 'Auf der Blockchain bezahlt, für alle nachprüfbar',

  helpTitle: 'Fragen?',
  helpContact:
    'Wenden Sie sich an {merchant}: {contact}. Nennen Sie die Bestellung oder die Transaktion, die Sie gesendet haben.',
  helpShop:
    'Wenden Sie sich an {merchant}, wo Sie gekauft haben. Zeigen Sie diese Seite oder die Transaktion, die Sie gesendet haben.',

  payTitle: '{amount} an {merchant} zahlen',
  payAnyTitle: 'An {merchant} zahlen',
  anyAmount: 'Beliebiger Betrag',
  atLeast: 'mindestens {amount}',
  on: 'auf {chain}',
  split: '{amount} für die Bestellung, {fee} Gebühr',
  waiting: 'Wartet auf Ihre Zahlung',
  left: 'noch {time}',
  until: 'bis {time}',
  payFrom: 'Zahlen mit',
  payFromRefused:
    'Das lässt sich jetzt nicht wählen, und nichts hat sich geändert. Versuchen Sie es gleich noch einmal, oder zahlen Sie, wie es hier steht.',
  openWallet: 'In Wallet öffnen',
  qr: 'QR-Code für Wallets',
  qrText: 'Inhalt des Codes: {link}',
  sendTo: 'Senden an',
  exactAmount: 'Genauer Betrag',
  amount: 'Betrag',
  network: 'Netzwerk',
  token: 'Token',
  memo: 'Memo, erforderlich',
  copy: 'Kopieren',
  copied: 'Kopiert',
  copiedWhat: '{what} kopiert',
  byHand: 'Markieren und von Hand kopieren',
  onlyThis:
    'Senden Sie nur {token}, nur auf {chain}. Zu wenig oder zu viel bleibt sicher verwahrt: {merchant} kann es zurücksenden.',
  fromExchange: 'Von einer Börse: Achten Sie darauf, dass dieser Betrag nach deren Gebühr ankommt.',
  withMemo: 'Senden Sie das Memo mit: Ohne es weiß niemand, wessen Geld es ist.',
  contractTitle: 'Vertrag aufrufen',
  contractText:
    'Rufen Sie von dem Stellar-Konto, das als Absender genannt ist, die Funktion {name} des Vertrags mit genau diesen Werten auf.',
  contract: 'Vertrag',
  sender: 'Absender, Ihr Konto',
  inUnits: 'Betrag in kleinsten Einheiten',
  command: 'Mit der Stellar-Kommandozeile',
  plainTransfer: 'Ohne den Vertrag: einfache Überweisung mit dem Memo, vom selben Konto',
  details: 'Einzelheiten',

  timeUpTitle: 'Die Zeit zum Zahlen ist vorbei',
  timeUpText:
    'Senden Sie jetzt nichts mehr. Was rechtzeitig gesendet wurde, zählt noch: Die letzten Blöcke werden durchgesehen.',
  detectedTitle: 'Zahlung gesehen',
  detectedText: 'Gesehen auf {chain}. Sie können diese Seite schließen.',
  confirmingTitle: 'Zahlung gesehen',
  confirmingText: 'Wird auf {chain} bestätigt. Sie können diese Seite schließen.',
  underpaidTitle: 'Es fehlen noch {amount}',
  underpaidText: 'fehlen noch von {amount}',
  underpaidNote:
    '{received} sind angekommen und sicher verwahrt. Senden Sie den Rest rechtzeitig an dieselbe Adresse. Kommt er nicht, kann {merchant} das Angekommene zurücksenden.',
  sendRest: 'Rest rechtzeitig senden',
  paidTitle: 'Bezahlt',
  paidText: 'Ihre Zahlung ist endgültig. Die Auszahlung an {merchant} wird vorbereitet.',
  payingOutTitle: 'Bezahlt',
  payingOutText: 'Ihre Zahlung ist endgültig. {merchant} wird auf {chain} ausgezahlt.',
  nothingToDo: 'Für Sie ist nichts mehr zu tun.',
  completedTitle: 'Bezahlt',
  completedText: '{merchant} hat Ihr Geld erhalten.',
  expiredTitle: 'Diese Zahlung ist abgelaufen',
  expiredText:
    'Es kam nichts rechtzeitig an, und nichts wurde eingezogen. Senden Sie nichts mehr an die Adresse: Bitten Sie {merchant} um eine neue Zahlung.',
  expiredAgainText:
    'Es kam nichts rechtzeitig an, und nichts wurde eingezogen. Senden Sie nichts mehr an die Adresse: Zum Bezahlen beginnen Sie eine neue Zahlung.',
  payAgain: 'Noch einmal bezahlen',
  againClosed:
    'Der Link, mit dem diese Zahlung begonnen wurde, ist geschlossen. Bitten Sie {merchant} um einen anderen.',
  lateTitle: 'Das Geld kam zu spät',
  lateText:
    'Es kam an, als die Zeit vorbei war, die Bestellung ist also nicht bezahlt. Es ist sicher verwahrt, und {merchant} kann es zurücksenden.',
  wrongTokenTitle: 'Ein anderer Token kam an',
  wrongTokenText:
    'Diese Zahlung nimmt nur {token}. Was ankam, ist sicher verwahrt, und {merchant} kann es zurücksenden.',
  wrongChainTitle: 'Es kam auf einem anderen Netzwerk an',
  wrongChainText:
    'Diese Zahlung nimmt {token} auf {chain}. Was ankam, ist sicher verwahrt, und {merchant} kann es zurücksenden.',
  otherSenderTitle: 'Es kam von einem anderen Konto',
  otherSenderText:
    'Nur das für diese Zahlung genannte Konto kann sie bezahlen. Was ankam, ist sicher verwahrt, und {merchant} kann es zurücksenden.',
  stillOpen: 'Die Bestellung kann noch bezahlt werden, wie unten steht.',
  tooLowTitle: 'Es kam zu wenig rechtzeitig an',
  tooLowText:
    '{received} kamen an, die Bestellung ist also nicht bezahlt. Das Geld ist sicher verwahrt, und {merchant} kann es zurücksenden.',
  tooHighTitle: 'Es kam mehr an als erlaubt',
  tooHighText:
    '{received} kamen an, mehr als auf einmal gezahlt werden darf. Das Geld ist sicher verwahrt, und {merchant} kann es zurücksenden.',
  unpayableTitle: 'Die Auszahlung ist nicht möglich',
  unpayableText:
    'Ihr Geld kam an, aber {merchant} kann es mit dieser Wallet nicht annehmen. Es ist sicher verwahrt und kann zurückgesendet werden.',
  refundingTitle: 'Ihr Geld ist auf dem Rückweg',
  refundingText: 'Es wird auf seinem eigenen Netzwerk zurückgesendet. Für Sie ist nichts zu tun.',
  refundedTitle: 'Ihr Geld wurde zurückgesendet',
  refundedText: 'Alles, was ankam, ist zurückgegangen, endgültig auf seinem Netzwerk.',
  heldExcess: '{amount} kamen mehr an als verlangt. Sie sind sicher verwahrt, und {merchant} kann sie zurücksenden.',
  heldElsewhere:
    '{amount} kamen auf {chain} an. Was aus verschiedenen Netzwerken kommt, wird nicht zusammengezählt: Es ist sicher verwahrt, und {merchant} kann es zurücksenden.',
  heldSurplus:
    '{amount} kamen an, als nichts mehr offen war. Sie sind sicher verwahrt, und {merchant} kann sie zurücksenden.',
  heldLate: '{amount} kamen zu spät. Sie sind sicher verwahrt, und {merchant} kann sie zurücksenden.',
  heldWrongToken:
    '{amount} kamen in einem anderen Token. Sie sind sicher verwahrt, und {merchant} kann sie zurücksenden.',
  heldWrongChain:
    '{amount} kamen auf einem anderen Netzwerk. Sie sind sicher verwahrt, und {merchant} kann sie zurücksenden.',
  heldOtherSender:
    '{amount} kamen von einem anderen als dem genannten Konto. Sie sind sicher verwahrt, und {merchant} kann sie zurücksenden.',
  gone: 'Der Block mit Ihrer Überweisung ist nicht mehr in der Kette. Meist kommt sie von selbst wieder: Warten Sie, bevor Sie noch einmal zahlen.',

  refundSay: 'Sagen, wohin es zurückgeht',
  refundChange: 'Andere Adresse',
  refundKnown: 'Es geht an {address} zurück, sobald {merchant} es sendet.',
  refundTitle: 'Wohin Ihr Geld zurückgeht',
  refundText:
    'Sagen Sie, wohin, und unterschreiben Sie es mit dem Konto, das bezahlt hat: dann kann es niemand sonst woandershin senden. Was das Senden kostet, wird abgezogen. Ein Konto bei einer Börse kann nicht unterschreiben: Fragen Sie {merchant}.',
  refundFrom: 'Konto, das bezahlt hat',
  refundTo: 'Adresse auf {chain}',
  refundMemo: 'Memo',
  refundMemoHint: 'Nur wenn der Empfänger eines verlangt.',
  refundShow: 'Text zum Unterschreiben zeigen',
  refundSign: 'Unterschreiben Sie diesen Text in Ihrer Wallet, mit {address}, und fügen Sie die Unterschrift ein.',
  refundWords: 'Text zum Unterschreiben',
  refundSignature: 'Unterschrift',
  refundSignNow: 'Mit der Wallet dieses Browsers unterschreiben',
  refundNotSigned:
    'Die Wallet hat nicht unterschrieben: Wählen Sie das Konto, das gezahlt hat, oder fügen Sie eine Unterschrift ein.',
  refundSave: 'Adresse speichern',
  refundWrongTo: 'Das ist keine Adresse auf {chain}.',
  refundWrongMemo: 'Dieses Memo kann dorthin nicht gesendet werden.',
  refundWrongSignature: 'Das ist nicht die Unterschrift dieses Kontos unter diesem Text.',
  refundLater:
    'Das kann jetzt nicht gespeichert werden, und nichts hat sich geändert. Versuchen Sie es gleich noch einmal.',

  stepDone: 'Erledigt:',
  stepNow: 'Jetzt:',
  stepNext: 'Danach:',
  stepProblem: 'Problem:',
  stepSent: 'Gesendet von {address}',
  stepSeen: 'Wird bestätigt auf {chain}',
  depth: '{count} von {needed}',
  depthOnly: 'Blöcke darüber: {count}',
  stepFinal: 'Endgültig auf {chain}',
  stepPayout: 'Zahlung an {merchant} auf {chain}',
  stepPaidOut: '{merchant} bezahlt auf {chain}',
  stepReceipt: 'Beleg',

  youSent: 'Sie sendeten',
  merchantGot: '{merchant} erhielt',
  sentBack: 'An Sie zurück',
  fee: 'Gebühr',
  took: 'Dauer',
  seconds: '{count} s',
  minutes: '{count} min',
  hours: '{count} h',
  amountOn: '{amount} auf {chain}',
  see: 'Ansehen',
  seeWhat: '{what}: im Explorer ansehen',
  backTo: 'Zurück zu {merchant}',
  backToMerchant: 'Zurück zum Geschäft',
  showReceipt: 'Beleg zum Drucken',

  receipt: 'Beleg',
  notYet: 'Diese Zahlung ist nicht abgeschlossen: Das ist noch kein Beleg.',
  backToPayment: 'Zurück zur Zahlung',
  print: 'Drucken',
  paidOn: 'Bezahlt am',
  forWhat: 'Für',
  transaction: 'Transaktion',
  block: 'Block',
  from: 'Von',
  to: 'An',
  paymentId: 'Zahlungs-ID',
  verify: 'Beide Transaktionen sind öffentlich: Jeder kann sie auf ihren Netzwerken nachprüfen.',

  linkAmount: 'Betrag in Dollar',
  linkAmountHint: 'Von {min} bis {max}, etwa 10.00',
  linkAmountWrong: 'Geben Sie einen Betrag von {min} bis {max} ein, etwa 10.00.',
  linkFrom: 'Zahlen mit',
  linkFromNext: 'Womit Sie bezahlen, wählen Sie auf der nächsten Seite:',
  linkSource: '{token} auf {chain}',
  linkPlusFee: 'Eine Gebühr kommt dazu. Die nächste Seite zeigt den ganzen Betrag, bevor Sie zahlen.',
  linkGo: 'Weiter zur Zahlung',
  linkOwn: 'Damit entsteht eine eigene Zahlung für Sie. Sie kann eine Stunde lang bezahlt werden.',
  linkNotNow:
    'Das kann gerade nicht bezahlt werden. Warten Sie einen Moment und versuchen Sie es noch einmal, oder fragen Sie {merchant}.',
  linkClosedTitle: 'Dieser Link ist geschlossen',
  linkClosedText:
    '{merchant} nimmt damit keine Zahlungen mehr an. Begonnene gehen weiter. Fragen Sie nach einem anderen Link.',
  linkUnknownTitle: 'Diesen Link gibt es nicht',
  linkUnknownText:
    'Der Link ist nicht vollständig oder nicht richtig. Kopieren Sie ihn noch einmal, oder bitten Sie um einen anderen.',

  unknownTitle: 'Diese Zahlung gibt es nicht',
  unknownText:
    'Der Link ist nicht vollständig oder nicht richtig. Kopieren Sie ihn noch einmal, oder lassen Sie sich einen neuen senden.',
  troubleTitle: 'Die Seite kann gerade nicht gezeigt werden',
  troubleText: 'Ihrer Zahlung ist nichts geschehen. Warten Sie einen Augenblick und laden Sie die Seite neu.',
};
