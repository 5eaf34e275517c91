// A form is sent once: a second press of its button is ignored while the first request is pending.
document.addEventListener('submit', (event) => {
  const form = event.target;
  if (form.method === 'get') return;
  if (form.dataset.sent) return event.preventDefault();
  form.dataset.sent = 'yes';
  event.submitter?.setAttribute('aria-busy', 'true');
});

// After returning from the next page, the form can be sent again.
window.addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[data-sent]')) delete form.dataset.sent;
  for (const button of document.querySelectorAll('[aria-busy]')) button.removeAttribute('aria-busy');
});
