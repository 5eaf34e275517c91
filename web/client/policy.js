// Renews the example sentences of the money policy while its fields change. The server writes the same sentences when the page opens.
const cents = (text) => (/^ *\d{1,10}([.]\d{1,2})? *$/.test(text) ? Math.round(Number(text) * 100) : null);

/** @param {number} amount @param {string | undefined} locale of a page in another language than English */
const decimal = (amount, locale) =>
  locale ? new Intl.NumberFormat(locale, { minimumFractionDigits: 2 }).format(amount) : amount.toFixed(2);

/** @param {HTMLFormElement} form @param {HTMLElement} line */
function renewTolerance(form, line) {
  const share = cents(form.elements.percent.value);
  const most = cents(form.elements.most.value);
  if (share === null || most === null) return;
  const forgiven = Math.min(share, most);
  const least = decimal((10_000 - forgiven) / 100, line.dataset.locale);
  line.textContent = forgiven > 0 ? line.dataset.some.replace('{least}', least) : line.dataset.none;
}

/** @param {HTMLFormElement} form @param {HTMLElement} line */
function renewLate(form, line) {
  const minutes = form.elements.lateWithinMinutes.value.trim();
  if (!/^\d{1,5}$/.test(minutes)) return;
  const counts = form.elements.late.value === 'accept' && Number(minutes) > 0;
  line.textContent = counts ? line.dataset.some.replace('{minutes}', String(Number(minutes))) : line.dataset.none;
}

for (const form of document.querySelectorAll('form[data-policy]')) {
  const tolerance = form.querySelector('[data-example="tolerance"]');
  const late = form.querySelector('[data-example="late"]');
  const renew = () => {
    renewTolerance(form, tolerance);
    renewLate(form, late);
  };
  form.addEventListener('input', renew);
  renew();
}
