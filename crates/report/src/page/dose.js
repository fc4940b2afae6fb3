// Chosen block of the page: doses of its wordlines, and limits of these doses.

const dose = data.dose;
// Largest number of wordlines with which a block is drawn as a whole. Of a larger block, only the
// number of wordlines in the next constant is in view.
const WIDEST = 192;
const WINDOW = 128;
const TOP = 230;
const BOTTOM = 84;
const chosen = { technique: -1, place: 0, wordline: 0, first: 0, block: null };
const unpacked = [];

const bytesOf = base64 => Uint8Array.from(atob(base64), c => c.charCodeAt(0));
async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Response(stream).arrayBuffer();
}
// Columns of a block, with the number of bytes of each value. A weight is given in 1/256.
const COLUMNS = [['reads', 4], ['dose', 4], ['limit', 4], ['weight', 2],
  ['valid', 1], ['lost', 1], ['group', 1], ['guard', 1]];
// Returns the blocks of a technique. The columns of a block are stored one after the other, in
// little endian.
function blocksOf(technique) {
  const { packed } = dose.techniques[technique];
  return unpacked[technique] ??= inflated(bytesOf(packed)).then(buffer => {
    const view = new DataView(buffer);
    let at = 0;
    const read = bytes => view[`getUint${8 * bytes}`]((at += bytes) - bytes, true);
    return dose.techniques[technique].moments.map(moment => {
      const block = { ...moment };
      for (const [name, bytes] of COLUMNS) {
        block[name] = Array.from({ length: dose.wordlines }, () => read(bytes));
      }
      return block;
    });
  });
}
// Returns the number of blocks of a technique whose wordlines are all stored in the page.
const blockCount = technique => dose.techniques[technique]?.moments.length ?? 0;
const holdsData = (block, w) => block.valid[w] + block.lost[w] > 0;
// Returns the wordline with the largest ratio of dose to limit. Only wordlines with data count.
function worstOf(block) {
  const live = block.limit.map((_, w) => w).filter(w => holdsData(block, w));
  const share = w => block.dose[w] / block.limit[w];
  return live.reduce((worst, w) => share(w) > share(worst) ? w : worst, live[0] ?? 0);
}
const inView = () => dose.wordlines > WIDEST ? WINDOW : dose.wordlines;
// Returns the first wordline that is in view when wordline w is chosen. The thumb of the slider
// then stands below the chosen wordline.
const firstFor = w =>
  Math.round(w * (dose.wordlines - inView()) / Math.max(1, dose.wordlines - 1));

async function choose(technique, place) {
  const blocks = await blocksOf(technique);
  chosen.technique = technique;
  chosen.place = limited(place, 0, blocks.length - 1);
  chosen.block = blocks[chosen.place];
  chosen.wordline = worstOf(chosen.block);
  chosen.first = firstFor(chosen.wordline);
  showChoice();
  drawBlock();
}
// Updates the heading, the select boxes and the maps for the chosen block.
function showChoice() {
  const { technique, place, block } = chosen;
  const { moments } = dose.techniques[technique];
  const hours = block.at_s == null ? '' : `${significant(block.at_s)}${NBSP}s, `;
  $('#dt').textContent = `${names[technique]}, block ${block.block} at its worst moment (after ` +
    `${hours}${whole(block.reads_before)} page reads of the host, P/E ${whole(block.cycles)})`;
  $('#pt').value = technique;
  const select = $('#pb');
  if (select.dataset.t !== String(technique)) {
    select.dataset.t = technique;
    select.replaceChildren(...moments.map((m, i) =>
      html('option', { value: i }, `${m.block} (worst at ${percent(m.worst)})`)));
  }
  select.value = place;
  for (const map of $$('.map')) {
    const t = Number(map.dataset.t);
    if (!blockCount(t)) continue;
    const isChosen = t === technique;
    const width = 100 / dose.show;
    const frame = svg('rect', { x: place * width + '%', width: width + '%', height: '100%' });
    $('.sel', map).replaceChildren(...(isChosen ? [frame] : []));
    const now = isChosen ? place : 0;
    const of = dose.techniques[t].moments[now];
    const box = $('.box', map);
    const text = `block ${of.block}, worst wordline at ${percent(of.worst)}`;
    set(box, { 'aria-valuenow': now + 1, 'aria-valuetext': text });
  }
}
function drawBlock() {
  const { block, first } = chosen;
  const count = inView();
  const last = first + count - 1;
  const live = block.limit.map((_, w) => holdsData(block, w));
  // The scale ignores the limits of wordlines without data, which guard levels can raise tenfold.
  const highest = Math.max(1, ...block.limit.filter((_, w) => live[w]));
  const most = Math.max(...block.dose.filter((_, w) => live[w]), 0);
  const top = Math.max(highest * 1.12, Math.min(most * 1.06, highest * 1.5));
  const down = value => 100 * (1 - Math.min(1, value / top));
  const across = (w, inset) => ({
    x: (100 * (w - first + inset) / count).toFixed(3) + '%',
    width: (100 * (1 - 2 * inset) / count).toFixed(3) + '%',
  });
  const mostReads = Math.max(1, ...block.reads);
  const bars = [], beyond = [], reads = [];
  let line = '';
  for (let w = first; w <= last; w += 1) {
    const [d, limit] = [block.dose[w], block.limit[w]];
    const step = d > limit ? 'x' : Math.min(9, Math.floor(10 * d / limit));
    const y = down(d);
    bars.push(svg('rect', {
      ...(live[w] ? { fill: `var(--h${step})` } : { class: 'gone' }),
      'data-w': w, ...across(w, 0.08),
      y: y.toFixed(2) + '%', height: (100 - y).toFixed(2) + '%',
    }));
    if (live[w] && d > top) {
      const x = (100 * (w - first + 0.5) / count).toFixed(2) + '%';
      beyond.push(svg('text', { class: 'mid lab', x, y: -3 }, '▲'));
    }
    reads.push(svg('rect', {
      class: 'rd', 'data-w': w, ...across(w, 0.08), y: 0,
      height: (100 * block.reads[w] / mostReads).toFixed(2) + '%',
    }));
    const height = (1000 * (1 - Math.min(1.02, limit / top))).toFixed(1);
    line += w === first ? `M0 ${height}` : `V${height}`;
    line += `H${(1000 * (w - first + 1) / count).toFixed(1)}`;
  }
  const above = svg('svg', {
    class: 'plot', id: 'dtop', height: TOP, role: 'img',
    'aria-label': 'Dose of each wordline and its limit; the numbers are in the table below',
  },
  column(), ...ticks(top, 4).flatMap(v => horizontal(v, down(v))),
  svg('g', { class: 'bars' }, ...bars), ...beyond,
  svg('svg', {
    class: 'in', viewBox: '0 0 1000 1000', preserveAspectRatio: 'none',
    width: '100%', height: '100%',
  }, svg('path', { class: 'lim', d: line })),
  ...groupLabels(block, top, down),
  svg('line', { class: 'ax', x2: '100%', y1: '100%', y2: '100%' }));
  const below = svg('svg', {
    class: 'plot', id: 'dbot', height: BOTTOM, role: 'img', 'aria-label': 'Reads of each wordline',
  },
  column(), ...reads,
  svg('text', { class: 'end', x: -8, y: 10 }, '0'),
  svg('text', { class: 'end', x: -8, y: '100%' }, short(mostReads)),
  ...ticks(Math.max(1, count - 1), 8, 1).map(v => svg('text', {
    class: 'mid', x: (100 * (v + 0.5) / count).toFixed(2) + '%', y: '100%', dy: 16,
  }, String(Math.round(v) + first))));
  for (const plot of [above, below]) {
    plot.onpointermove = event =>
      point(first + Math.min(count - 1, Math.floor(fraction(event, plot) * count)));
  }
  const part = count < dose.wordlines ? `, ${first} to ${last} of ${whole(dose.wordlines)}` : '';
  $('#dplot').replaceChildren(
    html('p', { class: 'unit' }, 'Dose since the wordline was programmed, and its limit (line)'),
    above, below,
    html('p', { class: 'unit xlab2' }, `Reads of the wordline, downwards; x: wordline${part}`),
  );
  point(chosen.wordline);
  fillTable();
}
// Returns the numbers of a wordline, by the names of their columns.
const numbersOf = (block, w) => ({
  wordline: w, group: dose.groups[block.group[w]] ?? '', guard_levels: block.guard[w],
  reads: block.reads[w], dose: block.dose[w], limit: block.limit[w],
  valid_pages: block.valid[w], lost_pages: block.lost[w],
});
// Fills the table of the wordlines in view, but only if the reader has opened the table.
function fillTable() {
  const place = $('#dnum');
  const fold = place.closest('details');
  fold.ontoggle = fillTable;
  if (!fold.open) return;
  const { block, first } = chosen;
  const rows = Array.from({ length: inView() }, (_, k) => numbersOf(block, first + k));
  const text = value => typeof value === 'number' ? whole(value) : value;
  const line = cells => html('tr', {}, ...cells);
  const heads = Object.keys(rows[0]).map(key =>
    html('th', { scope: 'col' }, key.replace('_', ' ')));
  const body = rows.map(row => line(Object.values(row).map((value, i) =>
    i === 0 ? html('th', { scope: 'row' }, text(value)) : html('td', {}, text(value)))));
  place.replaceChildren(html('div', { class: 'scroll', tabindex: 0 }, html('table', {},
    html('caption', {}, $('#dt').textContent), html('thead', {}, line(heads)),
    html('tbody', {}, ...body))));
}
const column = () => svg('rect', { class: 'col', height: '100%' });
const horizontal = (value, y) => [
  svg('line', { class: 'g', x2: '100%', y1: y.toFixed(2) + '%', y2: y.toFixed(2) + '%' }),
  svg('text', { class: 'end', x: -8, y: y.toFixed(2) + '%', dy: 4 }, short(value)),
];
// Returns labels with the names of the groups at the right edge of the chart. Each label stands at
// the lowest limit that its group has without guard levels.
function groupLabels(block, top, down) {
  const isPlain = (w, g) => block.group[w] === g && block.guard[w] === 0 && block.limit[w] > 0;
  const lowest = dose.groups.map((_, g) =>
    Math.min(...block.limit.filter((_limit, w) => isPlain(w, g))));
  const shown = lowest.map((limit, g) => ({ limit, g })).filter(({ limit }) => limit <= top)
    .sort((a, b) => b.limit - a.limit);
  let free = -Infinity;
  return shown.map(({ limit, g }) => {
    // Labels stand at least 14 pixels apart.
    const y = Math.max(down(limit) * TOP / 100, free);
    free = y + 14;
    return svg('text', { class: 'opt', x: '100%', dx: 8, y: y.toFixed(1), dy: 4 },
      `${dose.groups[g]} ${short(limit)}`);
  });
}
// Marks wordline w in the chart, and describes its reads and its dose.
function point(w) {
  const { block, first } = chosen;
  chosen.wordline = limited(w, 0, dose.wordlines - 1);
  const at = chosen.wordline;
  const slider = $('#dw');
  slider.value = at;
  const [x, width] = [at - first, 1].map(n => 100 * n / inView() + '%');
  for (const mark of $$('#dplot .col')) set(mark, { x, width });
  for (const bar of $$('#dbot [data-w]')) {
    bar.classList.toggle('hot', Math.abs(Number(bar.dataset.w) - at) === dose.stride);
  }
  const beside = [at - dose.stride, at + dose.stride].filter(k => k >= 0 && k < dose.wordlines);
  const pages = count => `${count} page${count === 1 ? '' : 's'} of data`;
  const state = block.lost[at] ? `${pages(block.lost[at])} lost`
    : block.valid[at] ? pages(block.valid[at]) : 'without data';
  const parts = block.limit[at] === 0 ? [`wordline ${at}`, 'not programmed'] : [
    `wordline ${at}`,
    `group ${dose.groups[block.group[at]]}${block.guard[at] ? ', guard levels' : ''}`,
    state,
    `dose ${whole(block.dose[at])} of ${whole(block.limit[at])}: ` +
      percent(block.dose[at] / block.limit[at]),
    `itself read ${whole(block.reads[at])} times, its neighbours ` +
      `${beside.map(k => whole(block.reads[k])).join(' and ')} times`,
    `a read of a neighbour adds ${significant(block.weight[at] / 256, 2)}, a read elsewhere 1`,
  ];
  $('#dread').replaceChildren(...parts.map((part, i) =>
    html(i === 0 || part.startsWith('dose') ? 'b' : 'span', {}, part)));
  slider.setAttribute('aria-valuetext', parts.join('; '));
}
// Connects the maps and the controls of the block with their functions.
function wireDoses() {
  // The address of the page names the chosen block, so that a link can point to this block.
  const pick = async (technique, place) => {
    await choose(technique, place);
    const { block } = chosen.block;
    history.replaceState(null, '', `#dose=${encodeURIComponent(names[technique])},${block}`);
  };
  $('#pt').onchange = event => pick(Number(event.target.value), 0);
  $('#pb').onchange = event => pick(chosen.technique, Number(event.target.value));
  $('#pp').onclick = () => pick(chosen.technique, chosen.place - 1);
  $('#pn').onclick = () => pick(chosen.technique, chosen.place + 1);
  const slider = $('#dw');
  slider.max = dose.wordlines - 1;
  slider.oninput = () => {
    chosen.wordline = Number(slider.value);
    const first = firstFor(chosen.wordline);
    if (first === chosen.first) return point(chosen.wordline);
    chosen.first = first;
    return drawBlock();
  };
  for (const map of $$('.map')) {
    const t = Number(map.dataset.t);
    if (!blockCount(t)) continue;
    const box = $('.box', map);
    set(box, {
      role: 'slider', tabindex: 0, 'aria-valuemin': 1, 'aria-valuemax': blockCount(t),
      'aria-label': `Block of ${names[t]}, most disturbed first`,
    });
    box.onclick = event => pick(t, Math.floor(fraction(event, $('img', box)) * dose.show));
    box.onkeydown = event => {
      const here = chosen.technique === t ? chosen.place : 0;
      const to = {
        ArrowRight: here + 1, ArrowUp: here + 1, ArrowLeft: here - 1, ArrowDown: here - 1,
        PageUp: here + 10, PageDown: here - 10, Home: 0, End: blockCount(t) - 1,
      }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      pick(t, to);
    };
  }
  // Chooses the block that the address of the page names. Returns whether the address names a
  // block.
  const fromAddress = () => {
    const named = new URLSearchParams(location.hash.slice(1)).get('dose') ?? '';
    const [, name, number] = /^(.*),(\d+)$/s.exec(named) ?? [];
    const t = names.indexOf(name);
    const moments = dose.techniques[t]?.moments ?? [];
    const place = moments.findIndex(m => m.block === Number(number));
    if (place < 0) return false;
    choose(t, place);
    $('.detail').scrollIntoView();
    return true;
  };
  addEventListener('hashchange', fromAddress);
  if (!fromAddress()) choose(...dose.first);
}
