// Colour picker and live preview of the branding page: the frame follows the fields half a second after the last change.
const form = document.querySelector('form[data-preview]');
const frame = document.querySelector('iframe[name="preview"]');
const picker = document.querySelector('input[type="color"]');
const colour = form.elements.colour;
const wellFormed = /^#[0-9a-f]{6}$/i;
let waiting;

function renew() {
  const shown = new URL(form.dataset.preview, location.href);
  for (const name of ['name', 'supportContact', 'colour']) {
    const text = form.elements[name].value.trim();
    if (text !== '') shown.searchParams.set(name, text);
  }
  // Replaces the frame's page, so the browser's Back leaves this page.
  frame.contentWindow.location.replace(shown);
}

picker.hidden = false;
picker.addEventListener('input', () => {
  colour.value = picker.value;
});
form.addEventListener('input', () => {
  if (wellFormed.test(colour.value)) picker.value = colour.value;
  clearTimeout(waiting);
  waiting = setTimeout(renew, 500);
});
