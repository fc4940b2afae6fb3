// Functions that save a figure as SVG or PNG, and its numbers as CSV.

const PROPERTIES = [
  'fill', 'stroke', 'stroke-width', 'stroke-opacity', 'stroke-dasharray', 'stroke-linecap',
  'stroke-linejoin', 'opacity', 'font-size', 'font-weight', 'font-family', 'text-anchor',
];
const ACROSS = ['x', 'x1', 'x2', 'width', 'cx'];
const DOWN = ['y', 'y1', 'y2', 'height', 'cy'];
const DROPPED = ['title', 'desc'];
// Characters that an XML file cannot contain.
const NOT_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

// Scales a path from a box of 1000 by 1000 units to pixels. In the path, every command except H and
// V takes pairs of numbers.
function scaledPath(d, width, height) {
  return d.replace(/([A-Za-z])([^A-Za-z]*)/g, (_, command, rest) => {
    const numbers = rest.match(/-?[\d.]+(?:e-?\d+)?/g) ?? [];
    const isDown = k => /v/i.test(command) || (!/h/i.test(command) && k % 2 === 1);
    const scaled = numbers.map((n, k) => +(n * (isDown(k) ? height : width) / 1000).toFixed(2));
    return command + scaled.join(' ');
  });
}
// Returns a copy of a drawing that other programs can read. The copy has no classes, variables,
// percentages or nested drawings.
function plain(node, width, height) {
  const style = getComputedStyle(node);
  if (style.display === 'none' || DROPPED.includes(node.tagName)) return null;
  const isNested = node.tagName === 'svg';
  const copy = svg(isNested ? 'g' : node.tagName);
  const length = (name, size) => {
    const value = node.getAttribute(name) ?? '0';
    return value.endsWith('%') ? parseFloat(value) / 100 * size : parseFloat(value);
  };
  const rounded = value => +value.toFixed(2);
  if (isNested && node.getAttribute('x') != null) {
    const [x, y] = [rounded(length('x', width)), rounded(length('y', height))];
    copy.setAttribute('transform', `translate(${x} ${y})`);
  }
  if (!isNested) {
    for (const name of [...ACROSS, ...DOWN]) {
      const size = ACROSS.includes(name) ? width : height;
      if (node.hasAttribute(name)) copy.setAttribute(name, rounded(length(name, size)));
    }
    for (const name of ['dx', 'dy', 'rx', 'transform']) {
      if (node.hasAttribute(name)) copy.setAttribute(name, node.getAttribute(name));
    }
    if (node.hasAttribute('d')) {
      const isBox = node.ownerSVGElement.hasAttribute('viewBox');
      const d = node.getAttribute('d');
      copy.setAttribute('d', isBox ? scaledPath(d, width, height) : d);
    }
  }
  for (const name of PROPERTIES) {
    const value = style.getPropertyValue(name);
    if (value) copy.setAttribute(name, value);
  }
  for (const child of node.childNodes) {
    const made = child.nodeType === Node.TEXT_NODE
      ? child.textContent.replace(NOT_XML, '') : child.tagName ? plain(child, width, height) : null;
    if (made) copy.append(made);
  }
  return copy;
}
// Returns the lines of a text node. The lines break where the page breaks them.
function textLines(node, left, top) {
  const style = getComputedStyle(node.parentElement);
  const pen = document.createElement('canvas').getContext('2d');
  pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  const rise = pen.measureText('x').fontBoundingBoxAscent;
  const lines = [];
  for (const word of node.textContent.matchAll(/\S+/g)) {
    const range = document.createRange();
    range.setStart(node, word.index);
    range.setEnd(node, word.index + word[0].length);
    const box = range.getBoundingClientRect();
    const text = word[0].replace(NOT_XML, '');
    const line = lines.at(-1);
    if (!box.width) continue;
    if (line && Math.abs(line.top - box.top) < 2) line.text += ' ' + text;
    else lines.push({ left: box.left, top: box.top, text });
  }
  return lines.map(line => svg('text', {
    x: (line.left - left).toFixed(1), y: (line.top - top + rise).toFixed(1),
    'font-size': style.fontSize, 'font-weight': style.fontWeight,
    'font-family': style.fontFamily, fill: style.color,
  }, line.text));
}
// Returns everything that a figure shows, as drawings. The positions of the drawings are relative
// to (left, top).
function drawings(node, left, top) {
  if (node.nodeType === Node.TEXT_NODE) return textLines(node, left, top);
  if (node.nodeType !== Node.ELEMENT_NODE || node.matches('details, noscript')) return [];
  if (getComputedStyle(node).display === 'none') return [];
  const box = node.getBoundingClientRect();
  const [x, y] = [(box.left - left).toFixed(1), (box.top - top).toFixed(1)];
  if (node.tagName === 'IMG') {
    return [svg('image', {
      href: node.currentSrc, x, y, width: box.width, height: box.height,
      preserveAspectRatio: 'none', 'image-rendering': 'pixelated',
    })];
  }
  if (node.tagName === 'svg') {
    const copy = plain(node, box.width, box.height);
    copy.setAttribute('transform', `translate(${x} ${y})`);
    return [copy];
  }
  return [...node.childNodes].flatMap(child => drawings(child, left, top));
}
function picture(figure) {
  const MARGIN = 12;
  figure.classList.add('saving');
  try {
    const box = figure.getBoundingClientRect();
    const [width, height] = [Math.ceil(box.width) + 2 * MARGIN, Math.ceil(box.height) + 2 * MARGIN];
    const ground = getComputedStyle(figure.closest('section')).backgroundColor;
    const all = svg('svg', { width, height, viewBox: `0 0 ${width} ${height}` },
      svg('rect', { width, height, fill: ground }),
      ...drawings(figure, box.left - MARGIN, box.top - MARGIN));
    return { text: new XMLSerializer().serializeToString(all), width, height };
  } finally {
    figure.classList.remove('saving');
  }
}
// Makes a PNG with twice as many pixels as the page uses, so that it looks good on paper.
async function asPng({ text, width, height }) {
  const SCALE = 2;
  const bytes = new TextEncoder().encode(text);
  const image = new Image();
  const binary = Array.from(bytes, b => String.fromCharCode(b)).join('');
  image.src = 'data:image/svg+xml;base64,' + btoa(binary);
  await image.decode();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [SCALE * width, SCALE * height];
  canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise(resolve => canvas.toBlob(resolve, 'image/png'));
}
const cell = value => {
  const text = String(value ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
const csv = rows => rows.map(row => row.map(cell).join(',') + '\n').join('');
// Returns the colour indices of a map's pixels, row by row. The PNG file of the map has one IDAT
// chunk. In this chunk, the rows are compressed but not filtered.
async function mapIndices(image) {
  const file = bytesOf(image.src.split(',')[1]);
  const start = new TextDecoder('latin1').decode(file).indexOf('IDAT') + 4;
  const length = new DataView(file.buffer).getUint32(start - 8);
  const bytes = new Uint8Array(await inflated(file.subarray(start, start + length)));
  const rows = dose.first_wordlines.length;
  const stride = bytes.length / rows;
  return Array.from({ length: rows }, (_, y) => bytes.subarray(y * stride + 1, (y + 1) * stride));
}
const tables = {
  cdf: () => csv([['percentile', ...names.map(n => n + '_us')],
    ...data.cdf.x.map((nines, k) =>
      [(100 * (1 - 10 ** -nines)).toFixed(6), ...names.map((_, i) => data.cdf.y[i]?.[k])])]),
  time: () => csv([['technique', 's', 'read_p99_9_us', 'reclaim_pages_per_s'],
    ...names.flatMap((name, i) => (data.time.r[i] ?? []).map((rate, k, all) => [
      name, ((k + 0.5) / all.length * data.time.T[i]).toFixed(6), data.time.y[i]?.[k], rate]))]),
  'dose-block': () => {
    const { technique, block } = chosen;
    const rows = block.limit.map((_, w) => numbersOf(block, w));
    return csv([['technique', 'block', ...Object.keys(rows[0])],
      ...rows.map(row => [names[technique], block.block, ...Object.values(row)])]);
  },
  'dose-maps': async () => {
    const rows = [['technique', 'rank', 'block', 'first_wordline', 'share_of_limit', 'state']];
    const { past, levels } = dose.index;
    for (const map of $$('.map')) {
      const t = Number(map.dataset.t);
      for (const [y, line] of (await mapIndices($('img', map))).entries()) {
        for (const [x, index] of line.entries()) {
          if (index > past) continue;
          const share = index === past ? 'above 1' : (index / (levels - 1)).toFixed(3);
          rows.push([names[t], x + 1, dose.techniques[t].ranks[x], dose.first_wordlines[y], share,
            index === past ? 'past' : 'data']);
        }
      }
    }
    return csv(rows);
  },
};
async function numbers(figure) {
  const made = data.csv?.[figure.id] ?? await tables[figure.id]?.();
  return made ?? csv($$('table tr', figure).map(row => [...row.cells].map(c => c.textContent)));
}
function download(blob, name) {
  const link = html('a', { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 5000);
}
async function save(button) {
  const figure = button.closest('.fig, section');
  const name = `vpass-${figure.id}.${button.dataset.save}`;
  if (button.dataset.save === 'csv') {
    download(new Blob([await numbers(figure)], { type: 'text/csv' }), name);
    return;
  }
  const drawn = picture(figure);
  const isPng = button.dataset.save === 'png';
  download(isPng ? await asPng(drawn) : new Blob([drawn.text], { type: 'image/svg+xml' }), name);
}
