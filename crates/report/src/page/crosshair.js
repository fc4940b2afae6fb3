// Crosshairs: a slider and the pointer choose a position; a line of text has the values there.

// Place of a pointer in a plot: 0 at its left edge, 1 at its right edge.
function fraction(event, plot) {
  const box = plot.getBoundingClientRect();
  return limited((event.clientX - box.left) / box.width, 0, 1);
}
// Value with the range over seeds, if there are several.
function withRange(value, low, high, text) {
  const isRange = low != null && high != null && low !== high;
  return isRange ? `${text(value)} (${text(low)} to ${text(high)})` : text(value);
}
const percentile = nines => {
  const decimals = Math.max(0, Math.ceil(nines) - 1);
  return 'p' + Number((100 * (1 - 10 ** -nines)).toFixed(decimals));
};
// Per kind of chart: number of positions, position of a fraction, and what a position shows.
const charts = {
  cdf: cdf => ({
    nearest: f => cdf.f.reduce((best, v, k) =>
      Math.abs(v - f) < Math.abs(cdf.f[best] - f) ? k : best, 0),
    at: k => cdf.f[k],
    head: k => percentile(cdf.x[k]),
    value: (i, k) => withRange(cdf.y[i][k], cdf.lo?.[i]?.[k], cdf.hi?.[i]?.[k], latency),
  }),
  time: (time, count) => ({
    nearest: f => Math.min(count - 1, Math.floor(f * count)),
    at: k => (k + 0.5) / count,
    head: k => significant((k + 0.5) / count * time.max) + NBSP + 's',
    // A run that ended earlier has its own, shorter windows.
    value: (i, k) => {
      const windows = time.y[i].length;
      const own = Math.floor((k + 0.5) / count * time.max / time.T[i] * windows);
      if (!(own < windows)) return 'ended';
      const tail = withRange(time.y[i][own], time.lo?.[i]?.[own], time.hi?.[i]?.[own], latency);
      const rate = time.r?.[i]?.[own];
      return rate == null ? tail : `${tail}, ${whole(rate)} pages/s`;
    },
  }),
};
function crosshair(chart) {
  const kind = chart.dataset.k;
  const slider = $('.scrub', chart);
  if (!data[kind] || !charts[kind] || !slider) return;
  const reader = charts[kind](data[kind], Number(slider.max) + 1);
  const show = k => {
    for (const line of $$('.cross', chart)) {
      line.setAttribute('x1', 100 * reader.at(k) + '%');
      line.setAttribute('x2', 100 * reader.at(k) + '%');
    }
    const values = names.map((_, i) => reader.value(i, k));
    $('.read', chart).replaceChildren(
      html('b', {}, reader.head(k)),
      ...names.map((name, i) =>
        html('i', { class: `c${i} s${i}` }, name + ' ', html('b', {}, values[i]))),
    );
    const spoken = names.map((name, i) => `${name} ${values[i]}`).join('; ');
    slider.setAttribute('aria-valuetext', `${reader.head(k)}: ${spoken}`);
  };
  slider.oninput = () => show(Number(slider.value));
  for (const plot of $$('.plot', chart)) {
    plot.onpointermove = event => {
      slider.value = reader.nearest(fraction(event, plot));
      show(Number(slider.value));
    };
  }
  show(Number(slider.value));
}
