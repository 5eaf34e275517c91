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

/** Merchants translate the texts with the link's data-close, data-window and data-loading. */
function open(link) {
  const { close: closeText = 'Close', window: windowText = 'Open in a window', loading: loadingText = 'Loading' } = link.dataset;
  const shape = { minBlockSize: '44px', minInlineSize: '44px', padding: '0 14px', border: '0', background: 'none', color: 'inherit', font: '600 15px/1 system-ui, sans-serif', cursor: 'pointer' };
  const frame = make('iframe', { gridArea: '1 / 1', inlineSize: '100%', blockSize: '100%', border: '0', display: 'block', position: 'relative', background: 'transparent', colorScheme: 'light' });
  // An empty frame has the light scheme. With the scheme of its element it is transparent, so the spinner behind it is
  // visible until the page's own background covers it.
  frame.title = link.textContent.trim() || 'Payment';
  frame.allow = 'clipboard-write';
  frame.src = link.href;
  const close = make('button', shape);
  close.type = 'button';
  close.textContent = closeText;
  // Browser wallets reach a page in a window; few of them reach a page in a frame.
  const apart = make('a', { ...shape, fontWeight: '400', display: 'inline-flex', alignItems: 'center', textUnderlineOffset: '0.2em' });
  apart.href = link.href;
  apart.target = '_blank';
  apart.rel = 'noopener';
  apart.textContent = windowText;
  const bar = make('div', { display: 'flex', justifyContent: 'space-between', flex: 'none' });
  bar.append(apart, close);
  const wheel = spinner(loadingText);
  const stage = make('div', { display: 'grid', flex: '1 1 auto', minBlockSize: '0' });
  stage.append(wheel, frame);
  const dialog = make('dialog', { inlineSize: 'min(31rem, 100vw)', blockSize: 'min(54rem, 100dvh)', maxInlineSize: 'none', maxBlockSize: 'none', boxSizing: 'border-box', padding: '0', border: '0', borderRadius: '14px', overflow: 'hidden', flexDirection: 'column', colorScheme: 'light dark', background: 'Canvas', color: 'CanvasText', boxShadow: '0 0 0 100vmax rgb(0 0 0 / 55%)' });
  dialog.setAttribute('aria-label', frame.title);
  dialog.append(bar, stage);
  const over = new AbortController();
  shown = { link, frame, dialog, wheel, answer: null, over };
  close.addEventListener('click', () => dialog.close());
  dialog.addEventListener('close', end, { once: true });
  frame.addEventListener('load', greet);
  window.addEventListener('message', hear, { signal: over.signal });
  document.body.append(dialog);
  dialog.style.display = 'flex';
  dialog.showModal();
  // A frame that is still loading hears no key: Escape would be lost.
  wheel.focus();
}

const turn_ms = 900;

/** Turns in the middle of the frame until the page has loaded; does not turn if the visitor prefers reduced motion. */
function spinner(text) {
  const wheel = make('div', { gridArea: '1 / 1', placeSelf: 'center', inlineSize: '36px', blockSize: '36px', boxSizing: 'border-box', borderRadius: '50%', border: '3px solid color-mix(in srgb, CanvasText 20%, transparent)', borderBlockStartColor: 'CanvasText', outline: 'none' });
  wheel.tabIndex = -1;
  wheel.setAttribute('role', 'status');
  wheel.setAttribute('aria-label', text);
  if (!matchMedia('(prefers-reduced-motion: reduce)').matches)
    wheel.animate([{ transform: 'rotate(0turn)' }, { transform: 'rotate(1turn)' }], { duration: turn_ms, iterations: Infinity });
  return wheel;
}

function make(name, style) {
  const element = document.createElement(name);
  Object.assign(element.style, style);
  return element;
}

/** Only the service's own page can read it, and answer. */
function greet() {
  if (document.activeElement === shown.wheel) shown.frame.focus();
  shown.wheel.remove();
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
