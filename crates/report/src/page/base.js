// Helpers for elements. Also formats numbers as the rest of the page does.
const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];
const root = document.documentElement;
const data = JSON.parse($('#data').textContent);
const names = data.names ?? [];

// Sets attributes of an element, and returns the element.
function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}
// Makes an element with attributes and children. A child that is not an element becomes a text
// node.
const maker = space => (tag, attributes = {}, ...children) => {
  const made = set(document.createElementNS(space, tag), attributes);
  made.append(...children);
  return made;
};
const html = maker('http://www.w3.org/1999/xhtml');
const svg = maker('http://www.w3.org/2000/svg');

const NBSP = '\u00a0';
const whole = value => Math.round(value).toLocaleString('en');
const percent = share => {
  const value = 100 * share;
  return (value > 0 && value < 9.95 ? significant(value, 2) : Math.round(value)) + NBSP + '%';
};

// Formats a number with three significant digits. The value is rounded first, because 999.96
// becomes 1,000, which has four digits before the decimal point.
function significant(value, digits = 3) {
  if (value === 0) return '0';
  const rounded = Number(value.toPrecision(digits));
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(rounded))));
  const both = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  return rounded.toLocaleString('en', both);
}
function latency(us) {
  if (us < 999.5) return significant(us) + NBSP + 'µs';
  if (us < 999500) return significant(us / 1e3) + NBSP + 'ms';
  return significant(us / 1e6) + NBSP + 's';
}
// Formats the label of an axis, such as 20k or 1.5M.
function short(value) {
  if (value >= 1e6) return +(value / 1e6).toPrecision(3) + 'M';
  return value >= 1e3 ? +(value / 1e3).toPrecision(3) + 'k' : String(+value.toPrecision(3));
}
// Returns about `count` round values between 0 and `most`.
function ticks(most, count, least = 0) {
  const size = 10 ** Math.floor(Math.log10(most / count));
  const factor = [1, 2, 2.5, 5, 10].find(f => f * size >= most / count);
  const step = Math.max(least, factor * size);
  return Array.from({ length: Math.floor(most / step * 1.0001) + 1 }, (_, k) => k * step);
}
const limited = (value, low, high) => Math.max(low, Math.min(high, value));
