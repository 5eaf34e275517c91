import type { Messages } from '../language.ts';

export const de: Messages = {
  skip: 'Zum Inhalt springen',
  sandbox: 'Sandbox: Netzwerke und Geld werden auf diesem Rechner simuliert.',
  test: 'Testmodus: Hier fließt kein echtes Geld.',
  order: 'Bestellung {order}',
  payment: 'Zahlung',
  merchant: 'das Geschäft',
  language: 'Sprache',
  provable: 'Auf der Blockchain bezahlt, für alle nachprüfbar',

  helpTitle: 'Brauchen Sie Hilfe?',
  helpContact: 'Wenden Sie sich an {merchant}: {contact}. Geben Sie die Bestellung oder Ihre Transaktion an.',
  helpShop: 'Wenden Sie sich an {merchant}. Zeigen Sie dort diese Seite oder Ihre Transaktion.',

  payTitle: '{amount} an {merchant} zahlen',
  payAnyTitle: 'An {merchant} zahlen',
  anyAmount: 'Beliebiger Betrag',
  atLeast: 'mindestens {amount}',
  on: 'auf {chain}',
  split: '{amount} für die Bestellung, {fee} Gebühr',
  waiting: 'Wartet auf Ihre Zahlung',
  left: 'noch {time}',
  until: 'bis {time}',
  payFrom: 'Zahlen von',
  payFromRefused:
    'Diese Auswahl ist gerade nicht möglich. Es wurde nichts geändert. Versuchen Sie es gleich noch einmal, oder zahlen Sie wie hier angegeben.',
  openWallet: 'Wallet öffnen',
  qr: 'QR-Code für Wallets',
  qrText: 'Inhalt des Codes: {link}',
  sendTo: 'Senden an',
  exactAmount: 'Genauer Betrag',
  amount: 'Betrag',
  network: 'Netzwerk',
  token: 'Token',
  memo: 'Memo (erforderlich)',
  copy: 'Kopieren',
  copied: 'Kopiert',
  copiedWhat: '{what} kopiert',
  byHand: 'Markieren und von Hand kopieren',
  onlyThis:
    'Senden Sie nur {token}, nur auf {chain}. Wenn Sie zu wenig oder zu viel senden, kann {merchant} es zurückzahlen.',
  fromExchange:
    'Bei Zahlung von einer Börse: Achten Sie darauf, dass nach Abzug der Börsengebühr genau dieser Betrag ankommt.',
  withMemo: 'Geben Sie unbedingt das Memo an, sonst können wir Ihre Zahlung nicht zuordnen.',
  contractTitle: 'Smart Contract aufrufen',
  contractText:
    'Rufen Sie vom Stellar-Konto, das als Absender angegeben ist, die Funktion {name} des Smart Contracts mit genau diesen Werten auf.',
  contract: 'Smart Contract',
  sender: 'Absender (Ihr Konto)',
  inUnits: 'Betrag in der kleinsten Einheit',
  command: 'Mit der Stellar-Kommandozeile',
  plainTransfer: 'Ohne Smart Contract: einfache Überweisung mit Memo, vom selben Konto',
  walletTitle: 'Mit einer Wallet in diesem Browser zahlen',
  walletPay: 'Mit {wallet} zahlen',
  walletUnnamed: 'Ihrer Wallet',
  walletConnecting: 'Öffnen Sie {wallet} und erlauben Sie die Verbindung.',
  walletNetwork: 'Bestätigen Sie {chain} als Netzwerk in {wallet}.',
  walletPreparing: 'Die Zahlung wird vorbereitet.',
  walletConfirm: 'Bestätigen Sie die Zahlung in {wallet}.',
  walletSending: 'Die Zahlung wird gesendet.',
  walletSent: 'Gesendet, das Netzwerk bestätigt noch. Zahlen Sie nicht noch einmal.',
  walletRefused: 'Sie haben in der Wallet abgelehnt. Es wurde nichts gesendet.',
  walletPending:
    '{wallet} hat nicht geantwortet. Dort kann eine Anfrage offen sein: Öffnen Sie die Wallet und beantworten Sie sie.',
  walletOtherAccount: 'Nur das Konto {account} kann zahlen. Wählen Sie es in der Wallet. Es wurde nichts gesendet.',
  walletOtherNetwork:
    '{wallet} ist nicht auf {chain}. Es wurde nichts gesendet. Wählen Sie dieses Netzwerk und versuchen Sie es noch einmal.',
  walletRealNetwork:
    'Diese Wallet ist in einem echten Netzwerk, und diese Zahlung ist eine Simulation. Es wurde nichts gesendet.',
  walletNoToken: 'Das Konto hat zu wenig {token} auf {chain}. Es wurde nichts gesendet.',
  walletNoCoin: 'Das Konto hat zu wenig {coin} für die Netzwerkkosten auf {chain}. Es wurde nichts gesendet.',
  walletFailed:
    'Die Wallet konnte die Zahlung nicht senden. Prüfen Sie die Wallet, versuchen Sie es noch einmal oder zahlen Sie anders.',
  walletBusy:
    'Die Zahlung kann gerade nicht vorbereitet werden. Es wurde nichts gesendet. Versuchen Sie es gleich noch einmal.',
  walletExpired: 'Es hat zu lange gedauert, darum wurde nichts gesendet. Versuchen Sie es noch einmal.',
  walletReverted: 'Das Netzwerk hat die Transaktion abgelehnt. Es wurde nichts bezahlt.',
  walletDropped:
    'Das Netzwerk kennt diese Transaktion nicht mehr. Hat die Wallet sie ersetzt, warten Sie. Hat die Wallet sie abgebrochen, zahlen Sie noch einmal.',
  walletNotSeen:
    'Das Netzwerk zeigt die Zahlung noch nicht. Prüfen Sie die Wallet: Zahlen Sie nur noch einmal, wenn die Zahlung dort fehlgeschlagen ist.',
  walletAgain: 'Noch einmal zahlen',
  appsTitle: 'Mit einer App auf diesem Telefon zahlen',
  appsOpen: 'In {wallet} öffnen',
  otherDevice: 'Von einem anderen Gerät zahlen',
  forDevelopers: 'Für Entwickler',
  details: 'Details',

  timeUpTitle: 'Die Zahlungsfrist ist abgelaufen',
  timeUpText:
    'Senden Sie jetzt nichts mehr. Rechtzeitig gesendete Zahlungen zählen noch: Die letzten Blöcke werden gerade geprüft.',
  detectedTitle: 'Zahlung erkannt',
  detectedText: 'Erkannt auf {chain}. Sie können diese Seite schließen.',
  confirmingTitle: 'Zahlung erkannt',
  confirmingText: 'Wird auf {chain} bestätigt. Sie können diese Seite schließen.',
  underpaidTitle: 'Es fehlen noch {amount}',
  underpaidText: 'noch offen von {amount}',
  underpaidNote:
    '{received} sind eingegangen und sicher verwahrt. Senden Sie den Rest rechtzeitig an dieselbe Adresse. Geht er nicht ein, kann {merchant} den eingegangenen Betrag zurückzahlen.',
  sendRest: 'Rest rechtzeitig senden',
  paidTitle: 'Bezahlt',
  paidText: 'Ihre Zahlung ist endgültig bestätigt. Die Auszahlung an {merchant} wird vorbereitet.',
  payingOutTitle: 'Bezahlt',
  payingOutText: 'Ihre Zahlung ist endgültig bestätigt. Die Auszahlung an {merchant} auf {chain} läuft.',
  nothingToDo: 'Sie müssen nichts weiter tun.',
  completedTitle: 'Bezahlt',
  completedText: '{merchant} hat Ihr Geld erhalten.',
  expiredTitle: 'Diese Zahlung ist abgelaufen',
  expiredText:
    'Es ist nichts rechtzeitig eingegangen, und es wurde nichts abgebucht. Senden Sie nichts mehr an diese Adresse. Bitten Sie {merchant} um einen neuen Zahlungslink.',
  expiredAgainText:
    'Es ist nichts rechtzeitig eingegangen, und es wurde nichts abgebucht. Senden Sie nichts mehr an diese Adresse. Zum Bezahlen starten Sie eine neue Zahlung.',
  payAgain: 'Erneut bezahlen',
  againClosed:
    'Der Link, über den diese Zahlung gestartet wurde, ist geschlossen. Bitten Sie {merchant} um einen neuen.',
  lateTitle: 'Das Geld ist zu spät eingegangen',
  lateText:
    'Es ist erst nach Ablauf der Frist eingegangen, die Bestellung ist also nicht bezahlt. Es ist sicher verwahrt, und {merchant} kann es zurückzahlen.',
  wrongTokenTitle: 'Es ist ein anderer Token eingegangen',
  wrongTokenText:
    'Für diese Zahlung wird nur {token} akzeptiert. Der eingegangene Betrag ist sicher verwahrt, und {merchant} kann ihn zurückzahlen.',
  wrongChainTitle: 'Eingang in einem anderen Netzwerk',
  wrongChainText:
    'Für diese Zahlung wird {token} auf {chain} akzeptiert. Der eingegangene Betrag ist sicher verwahrt, und {merchant} kann ihn zurückzahlen.',
  otherSenderTitle: 'Eingang von einem anderen Konto',
  otherSenderText:
    'Nur das für diese Zahlung angegebene Konto kann sie bezahlen. Der eingegangene Betrag ist sicher verwahrt, und {merchant} kann ihn zurückzahlen.',
  stillOpen: 'Die Bestellung kann noch bezahlt werden, wie unten angegeben.',
  tooLowTitle: 'Der Betrag ist nicht vollständig eingegangen',
  tooLowText:
    '{received} sind rechtzeitig eingegangen, die Bestellung ist also nicht bezahlt. Das Geld ist sicher verwahrt, und {merchant} kann es zurückzahlen.',
  tooHighTitle: 'Der Betrag liegt über dem Limit',
  tooHighText:
    '{received} sind eingegangen, mehr als das Limit pro Zahlung. Das Geld ist sicher verwahrt, und {merchant} kann es zurückzahlen.',
  unpayableTitle: 'Die Auszahlung ist nicht möglich',
  unpayableText:
    'Ihr Geld ist eingegangen, aber {merchant} kann es mit der hinterlegten Wallet nicht empfangen. Es ist sicher verwahrt und kann zurückgezahlt werden.',
  refundingTitle: 'Ihr Geld ist auf dem Weg zurück zu Ihnen',
  refundingText: 'Es wird im selben Netzwerk zurückgezahlt. Sie müssen nichts tun.',
  refundedTitle: 'Ihr Geld wurde zurückgezahlt',
  refundedText: 'Der gesamte eingegangene Betrag wurde zurückgezahlt. Die Rückzahlung ist endgültig.',
  heldExcess: '{amount} sind zu viel eingegangen. Sie sind sicher verwahrt, und {merchant} kann sie zurückzahlen.',
  heldElsewhere:
    '{amount} sind auf {chain} eingegangen. Beträge aus verschiedenen Netzwerken werden nicht zusammengezählt. Sie sind sicher verwahrt, und {merchant} kann sie zurückzahlen.',
  heldSurplus:
    '{amount} sind eingegangen, als nichts mehr offen war. Sie sind sicher verwahrt, und {merchant} kann sie zurückzahlen.',
  heldLate: '{amount} sind zu spät eingegangen. Sie sind sicher verwahrt, und {merchant} kann sie zurückzahlen.',
  heldWrongToken:
    '{amount} sind in einem anderen Token eingegangen. Sie sind sicher verwahrt, und {merchant} kann sie zurückzahlen.',
  heldWrongChain:
    '{amount} sind in einem anderen Netzwerk eingegangen. Sie sind sicher verwahrt, und {merchant} kann sie zurückzahlen.',
  heldOtherSender:
    '{amount} sind von einem anderen als dem angegebenen Konto eingegangen. Sie sind sicher verwahrt, und {merchant} kann sie zurückzahlen.',
  gone: 'Der Block mit Ihrer Überweisung ist nicht mehr in der Blockchain. Meist erscheint sie von selbst wieder: Warten Sie, bevor Sie erneut zahlen.',

  refundSay: 'Rückzahlungsadresse angeben',
  refundChange: 'Adresse ändern',
  refundKnown: 'Die Rückzahlung geht an {address}, sobald {merchant} sie sendet.',
  refundTitle: 'Rückzahlungsadresse',
  refundText:
    'Geben Sie die Adresse an und signieren Sie sie mit dem Konto, das bezahlt hat: So kann niemand sonst Ihr Geld umleiten. Die Netzwerkkosten werden abgezogen. Ein Konto bei einer Börse kann nicht signieren: Fragen Sie in diesem Fall {merchant}.',
  refundFrom: 'Konto, das bezahlt hat',
  refundTo: 'Adresse auf {chain}',
  refundMemo: 'Memo',
  refundMemoHint: 'Nur wenn der Empfänger eines verlangt.',
  refundShow: 'Text zum Signieren anzeigen',
  refundSign: 'Signieren Sie diesen Text in Ihrer Wallet mit {address} und fügen Sie die Signatur ein.',
  refundWords: 'Text zum Signieren',
  refundSignature: 'Signatur',
  refundSignNow: 'Mit der Wallet dieses Browsers signieren',
  refundNotSigned:
    'Die Wallet hat nicht signiert. Wählen Sie das Konto, das bezahlt hat, oder fügen Sie eine Signatur ein.',
  refundSave: 'Adresse speichern',
  refundWrongTo: 'Das ist keine Adresse auf {chain}.',
  refundWrongMemo: 'Dieses Memo kann nicht an diese Adresse gesendet werden.',
  refundWrongSignature: 'Das ist keine Signatur dieses Textes durch dieses Konto.',
  refundLater:
    'Die Adresse kann gerade nicht gespeichert werden. Es wurde nichts geändert. Versuchen Sie es gleich noch einmal.',

  stepDone: 'Erledigt:',
  stepNow: 'Jetzt:',
  stepNext: 'Danach:',
  stepProblem: 'Problem:',
  stepSent: 'Gesendet von {address}',
  stepSeen: 'Wird bestätigt auf {chain}',
  depth: '{count} von {needed}',
  depthOnly: 'Nachfolgende Blöcke: {count}',
  stepFinal: 'Endgültig auf {chain}',
  stepPayout: 'Auszahlung an {merchant} auf {chain}',
  stepPaidOut: '{merchant} hat die Auszahlung auf {chain} erhalten',
  stepReceipt: 'Beleg',

  youSent: 'Gesendet',
  merchantGot: '{merchant} hat erhalten',
  sentBack: 'An Sie zurückgezahlt',
  fee: 'Gebühr',
  took: 'Dauer',
  amountOn: '{amount} auf {chain}',
  see: 'Ansehen',
  seeWhat: '{what}: im Explorer ansehen',
  backTo: 'Zurück zu {merchant}',
  backToMerchant: 'Zurück zum Geschäft',
  showReceipt: 'Beleg drucken',

  receipt: 'Beleg',
  notYet: 'Diese Zahlung ist noch nicht abgeschlossen: Das ist noch kein Beleg.',
  backToPayment: 'Zurück zur Zahlung',
  print: 'Drucken',
  paidOn: 'Bezahlt am',
  forWhat: 'Für',
  transaction: 'Transaktion',
  block: 'Block',
  from: 'Von',
  to: 'An',
  paymentId: 'Zahlungs-ID',
  verify: 'Beide Transaktionen sind öffentlich: Jeder kann sie im jeweiligen Netzwerk nachprüfen.',

  linkAmount: 'Betrag in Dollar',
  linkAmountHint: 'Von {min} bis {max}, z. B. 10.00',
  linkAmountWrong: 'Geben Sie einen Betrag von {min} bis {max} ein, z. B. 10.00.',
  linkFrom: 'Zahlen mit',
  linkFromNext: 'Womit Sie bezahlen, wählen Sie auf der nächsten Seite:',
  linkSource: '{token} auf {chain}',
  linkPlusFee: 'Dazu kommt eine Gebühr. Die nächste Seite zeigt den Gesamtbetrag, bevor Sie zahlen.',
  linkGo: 'Weiter zur Zahlung',
  linkOwn: 'Damit starten Sie eine neue Zahlung, die eine Stunde lang gültig ist.',
  linkNotNow:
    'Die Zahlung ist gerade nicht möglich. Warten Sie einen Moment und versuchen Sie es noch einmal, oder fragen Sie {merchant}.',
  linkClosedTitle: 'Dieser Link ist geschlossen',
  linkClosedText:
    '{merchant} nimmt über diesen Link keine Zahlungen mehr an. Bereits begonnene Zahlungen laufen weiter. Fragen Sie nach einem neuen Link.',
  linkUnknownTitle: 'Link nicht gefunden',
  linkUnknownText:
    'Der Link ist unvollständig oder falsch. Kopieren Sie ihn noch einmal, oder lassen Sie sich einen neuen senden.',

  unknownTitle: 'Zahlung nicht gefunden',
  unknownText:
    'Der Link ist unvollständig oder falsch. Kopieren Sie ihn noch einmal, oder lassen Sie sich einen neuen senden.',
  troubleTitle: 'Die Seite kann gerade nicht angezeigt werden',
  troubleText: 'Ihre Zahlung ist davon nicht betroffen. Warten Sie einen Augenblick und laden Sie die Seite neu.',
};
