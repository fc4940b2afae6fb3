// Crosshairs of charts. A slider or the pointer chooses a position, and a line of text shows the
// values at this position.

// Returns the horizontal position of the pointer in a plot: 0 at the left edge, and 1 at the right
// edge.
function fraction(event, plot) {
  const box = plot.getBoundingClientRect();
  return limited((event.clientX - box.left) / box.width, 0, 1);
}
const latencyOf = us => us == null ? '' : latency(us);
// Formats a rate. A small rate has three significant digits.
const rateOf = rate => rate >= 100 ? whole(rate)
  : rate.toLocaleString('en', { maximumSignificantDigits: 3 });
const percentile = nines => {
  const decimals = Math.max(0, Math.ceil(nines) - 1);
  return 'p' + Number((100 * (1 - 10 ** -nines)).toFixed(decimals));
};
// Functions for each kind of chart. The functions convert a fraction of the width to a position and
// back. They also return the texts for a position.
const charts = {
  cdf: cdf => ({
    nearest: f => cdf.f.reduce((best, v, k) =>
      Math.abs(v - f) < Math.abs(cdf.f[best] - f) ? k : best, 0),
    at: k => cdf.f[k],
    head: k => percentile(cdf.x[k]),
    // Null means that the technique has no reads, or that the percentile lies beyond its slowest
    // read.
    value: (i, k) => latencyOf(cdf.y[i]?.[k]) || '–',
  }),
  time: (time, count) => ({
    nearest: f => Math.min(count - 1, Math.floor(f * count)),
    at: k => (k + 0.5) / count,
    head: k => significant((k + 0.5) / count * time.max) + NBSP + 's',
    // If a run ended earlier than others, its time windows are shorter.
    value: (i, k) => {
      if (time.T[i] == null) return '–';
      const own = Math.floor((k + 0.5) / count * time.max / time.T[i] * time.r[i].length);
      if (own >= time.r[i].length) return 'ended';
      const rate = `${rateOf(time.r[i][own])} pages/s`;
      return [latencyOf(time.y[i]?.[own]), rate].filter(Boolean).join(', ');
    },
  }),
};
function crosshair(chart) {
  const kind = chart.dataset.k;
  const slider = $('.scrub', chart);
  if (!data[kind] || !charts[kind] || !slider) return;
  const reader = charts[kind](data[kind], Number(slider.max) + 1);
  const show = k => {
    const x = 100 * reader.at(k) + '%';
    for (const line of $$('.cross', chart)) set(line, { x1: x, x2: x });
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
