// Times in the reader's own zone and language; without this script they are in UTC.
const forms = {
  day: { day: 'numeric', month: 'short', year: 'numeric' },
  minutes: { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  clock: { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  exactly: { hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3, hourCycle: 'h23' },
};
const { lang } = document.documentElement;
const own = navigator.languages.find((language) => language.startsWith(lang)) ?? (lang === 'en' ? 'en-GB' : lang);
const formats = Object.fromEntries(
  Object.entries(forms).map(([name, form]) => [name, new Intl.DateTimeFormat(own, form)]),
);

/** @param {ParentNode} part */
export function localTimes(part) {
  for (const time of part.querySelectorAll('time[data-local]')) {
    const at = new Date(time.dateTime);
    const format = formats[time.dataset.local];
    if (!format || Number.isNaN(at.getTime())) continue;
    time.title = time.dataset.local === 'day' ? time.dateTime : `${time.dateTime.replace('T', ' ').replace('Z', '')} UTC`;
    time.textContent = format.format(at);
    delete time.dataset.local;
  }
}

localTimes(document);
