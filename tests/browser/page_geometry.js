// What is read from the page, in pixels of the viewport. Each function runs inside the browser, so it
// uses nothing outside itself.
'use strict';

// Ticks of both axes: the text, where the line of the grid is, and where the text is.
function readTicks() {
  const center = (e) => {
    const box = e.getBoundingClientRect();
    return {x: box.x + box.width / 2, y: box.y + box.height / 2};
  };
  const read = (axis) => [...document.querySelectorAll(`svg .tick.${axis}`)].map((tick) => ({
    text: tick.querySelector('text').textContent,
    line: center(tick.querySelector('path'))[axis],
    label: center(tick.querySelector('text'))[axis],
  }));
  return {x: read('x'), y: read('y')};
}

function readPoints() {
  return [...document.querySelectorAll('svg circle')].map((circle) => {
    const box = circle.getBoundingClientRect();
    return {
      id: circle.id,
      x: box.x + box.width / 2,
      y: box.y + box.height / 2,
      title: circle.querySelector('title').textContent,
      link: circle.closest('a').getAttribute('href'),
    };
  });
}

// The roof at 101 places along it.
function readRoof() {
  const path = document.querySelector('svg .roof');
  const toScreen = path.getScreenCTM();
  return Array.from({length: 101}, (_, i) => {
    const p = path.getPointAtLength(path.getTotalLength() * i / 100).matrixTransform(toScreen);
    return {x: p.x, y: p.y};
  });
}

// Every text of the plot, and the plot itself.
function readTexts() {
  const edges = (e) => {
    const {left, top, right, bottom} = e.getBoundingClientRect();
    return {left, top, right, bottom, text: e.textContent, style: e.getAttribute('class') || ''};
  };
  return {
    plot: edges(document.querySelector('svg')),
    texts: [...document.querySelectorAll('svg text')].map(edges),
    circles: [...document.querySelectorAll('svg circle')].map(edges),
  };
}

// Rows of the table as texts of their cells; of the name's cell, name and configuration.
function readTable() {
  const cells = (row) => [...row.cells].flatMap(
      (cell) => cell.querySelector('code') ?
          [cell.querySelector('code').textContent, cell.querySelector('small').textContent] :
          [cell.textContent]);
  return {
    head: [...document.querySelectorAll('thead th')].map((cell) => cell.textContent),
    rows: [...document.querySelectorAll('tbody tr')].map(cells),
    ids: [...document.querySelectorAll('tbody tr')].map((row) => row.id),
    links: [...document.querySelectorAll('tbody tr')].map(
        (row) => row.querySelector('a')?.getAttribute('href')),
  };
}

// The lowest ratio of contrast of any text (4.5 is WCAG's AA) and of the marks of the plot (3), and the
// background's luminance.
function readContrast() {
  const luminance = (color) => {
    const [r, g, b] = color.match(/[\d.]+/g).map((c) => c / 255).map(
        (c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const back = (e) => {
    for (; e; e = e.parentElement) {
      const color = getComputedStyle(e).backgroundColor;
      if (color !== 'rgba(0, 0, 0, 0)') return luminance(color);
    }
    return 1;
  };
  const ratio = (e, property) => {
    const [low, high] = [luminance(getComputedStyle(e)[property]), back(e)].sort((a, b) => a - b);
    return {value: (high + 0.05) / (low + 0.05), what: e.textContent.trim() || e.outerHTML};
  };
  const least = (ratios) => ratios.reduce((a, b) => a.value < b.value ? a : b);
  const holdsText = (e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
  const shown = [...document.body.querySelectorAll('*')].filter((e) => !e.closest('title'));
  return {
    text: least(shown.filter(holdsText).map((e) => ratio(e, e.closest('svg') ? 'fill' : 'color'))),
    marks: least([ratio(document.querySelector('svg .roof'), 'stroke'),
                  ...[...document.querySelectorAll('svg circle')].map((e) => ratio(e, 'fill'))]),
    background: back(document.body),
  };
}

module.exports = {readTicks, readPoints, readRoof, readTexts, readTable, readContrast};
