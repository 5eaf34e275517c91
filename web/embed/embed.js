// On a merchant's page: a payment link with data-payment opens the payment in a frame over the page. Without this script, or if the frame
// is refused, it stays a link.

const service = new URL(import.meta.url).origin;
/** A page that may be framed answers as soon as it is loaded; others never answer. */
const answer_ms = 3000;

/** The one open payment. */
let shown = null;

document.addEventListener('click', (event) => {
  const link = event.target instanceof Element && event.target.closest('a[data-payment]');
  const plain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (!link || !plain || event.defaultPrevented || shown || !isPayment(new URL(link.href))) return;
  event.preventDefault();
  open(link);
});

/** Other links stay links; of the service's pages only payments may be framed. */
const isPayment = ({ origin, pathname }) => origin === service && /\/pay\/[\w-]+$/.test(pathname);

function open(link) {
  const frame = make('iframe', { inlineSize: '100%', blockSize: '100%', border: '0', display: 'block', background: 'Canvas' });
  frame.title = link.textContent.trim() || 'Payment';
  frame.allow = 'clipboard-write';
  frame.src = link.href;
  const close = make('button', { alignSelf: 'end', minBlockSize: '44px', minInlineSize: '44px', padding: '0 14px', border: '0', background: 'none', color: 'inherit', font: '600 15px/1 system-ui, sans-serif', cursor: 'pointer' });
  close.type = 'button';
  close.textContent = link.dataset.close ?? 'Close';
  const dialog = make('dialog', { inlineSize: 'min(31rem, 100vw)', blockSize: 'min(54rem, 100dvh)', maxInlineSize: 'none', maxBlockSize: 'none', boxSizing: 'border-box', padding: '0', border: '0', borderRadius: '14px', overflow: 'hidden', flexDirection: 'column', background: 'Canvas', color: 'CanvasText', boxShadow: '0 0 0 100vmax rgb(0 0 0 / 55%)' });
  dialog.setAttribute('aria-label', frame.title);
  dialog.append(close, frame);
  const over = new AbortController();
  shown = { link, frame, dialog, answer: null, over };
  close.addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', end, { once: true });
  frame.addEventListener('load', greet);
  window.addEventListener('message', hear, { signal: over.signal });
  document.body.append(dialog);
  dialog.style.display = 'flex';
  dialog.showModal();
  frame.focus();
}

function make(name, style) {
  const element = document.createElement(name);
  Object.assign(element.style, style);
  return element;
}

/** Only the service's own page can read it, and answer. */
function greet() {
  shown.frame.contentWindow.postMessage({ payment: 'hello' }, service);
  clearTimeout(shown.answer);
  shown.answer = setTimeout(() => location.assign(shown.link.href), answer_ms);
}

function hear({ origin, source, data }) {
  if (origin !== service || source !== shown.frame.contentWindow) return;
  if (data?.payment === 'close') return shown.dialog.close();
  if (data?.payment !== 'standing') return;
  clearTimeout(shown.answer);
  const detail = { standing: String(data.standing) };
  tell(shown.link, new CustomEvent('payment', { bubbles: true, detail }));
}

function end() {
  const { link, dialog, answer, over } = shown;
  clearTimeout(answer);
  over.abort();
  dialog.remove();
  shown = null;
  (link.isConnected ? link : document.querySelector('main'))?.focus();
  tell(link, new CustomEvent('paymentclose', { bubbles: true }));
}

/** The site may have re-rendered its page meanwhile. */
const tell = (link, event) => (link.isConnected ? link : document).dispatchEvent(event);
