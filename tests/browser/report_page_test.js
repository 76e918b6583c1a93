// The report page of stax-profile in Chromium: what is on it, where, and that it is the report's.
//
//     report_page_test.js FOLDER_OF_FIXTURES WRITE_REPORT MAKE_DEVICE STAX_CAT STAX_COMPILE STAX_PROFILE
'use strict';
const assert = require('assert');
const {execFileSync} = require('child_process');
const fs = require('fs');
const path = require('path');
const {pathToFileURL} = require('url');
const {chromium} = require(process.env.PLAYWRIGHT);
const {kernelsOf, sizesText, assertShows, assertShowsTime, parseQuantity, LogScale} =
    require('./expectations.js');
const read = require('./page_geometry.js');

const [fixtures, writeReport, makeDevice, staxCat, staxCompile, staxProfile] =
    process.argv.slice(2).map((p) => path.resolve(p));
const scratch = process.env.TEST_TMPDIR;
// Bazel keeps it beside the log: for people to look at.
const screenshots = process.env.TEST_UNDECLARED_OUTPUTS_DIR;
const WIDE = {width: 1440, height: 900};
const NARROW = {width: 375, height: 700};

const inScratch = (name) => path.join(scratch, name);
const run = (program, ...args) => execFileSync(program, args, {maxBuffer: 1 << 28}).toString();

// --- Pages ---------------------------------------------------------------------------------------

function describe(name) {
  return {
    name,
    url: pathToFileURL(inScratch(`${name}.html`)).href,
    report: JSON.parse(run(staxCat, inScratch(`${name}.report`), '--json')),
  };
}

function rendered(name, text) {
  fs.writeFileSync(inScratch(`${name}.textproto`), text);
  run(writeReport, inScratch(`${name}.textproto`), inScratch(`${name}.report`),
      inScratch(`${name}.html`));
  return describe(name);
}

// A graph compiled and profiled on this machine's CPU.
function measured() {
  run(makeDevice, inScratch('cpu.device'));
  run(staxCompile, path.join(fixtures, 'graph.textproto'), '--target=cpu', '-o',
      inScratch('graph.stax'));
  run(staxProfile, inScratch('graph.stax'), '--device=cpu', '--quiet',
      `--spec=${inScratch('cpu.device')}`, `--html=${inScratch('measured.html')}`, '-o',
      inScratch('measured.report'));
  return describe('measured');
}

// --- Cases: each gets a loaded page and what it is of --------------------------------------------

async function headSaysWhatWasMeasured({page, report}) {
  assert.strictEqual(await page.title(), `Stax profile: ${report.programName}`);
  assert.strictEqual(await page.textContent('h1'), report.programName);
  const text = await page.textContent('body');
  for (const part of [report.device.name, report.device.date, report.date, report.method])
    assert.ok(text.includes(part), `the page does not say '${part}'`);
  if (report.sizes) assert.ok(text.includes(`Sizes: ${sizesText(report.sizes)}`));
}

async function calibrationIsTheDevices({page, report: {device}}) {
  const shown = Object.fromEntries(await page.$$eval('dl > div', (entries) => entries.map(
      (e) => [e.querySelector('dt').textContent, e.querySelector('dd').textContent])));
  const number = (what, unit) => {
    const [value, ...rest] = shown[what].split(' ');
    assert.strictEqual(rest.join(' '), unit, what);
    return value;
  };
  assertShows(number('DRAM read', 'GB/s'), device.dramReadBytesPerS / 1e9, 'read');
  assertShows(number('DRAM write', 'GB/s'), device.dramWriteBytesPerS / 1e9, 'write');
  assertShows(number('DRAM copy', 'GB/s'), device.dramCopyBytesPerS / 1e9, 'copy');
  assertShows(number('DRAM latency', 'ns'), device.latencyNs, 'latency');
  assertShowsTime(number('Launch', 'µs'), device.launchNs, 'launch');
  const fma = parseQuantity(shown['f32 FMA'], 'flop/s');
  assert.ok(Math.abs(fma / device.f32FlopsPerS - 1) < 0.005, shown['f32 FMA']);
}

async function tableHasTheReportsNumbers({page, report}) {
  const kernels = kernelsOf(report);
  const {head, rows, ids} = await page.evaluate(read.readTable);
  assert.deepStrictEqual(head, ['#', 'kernel', 'predicted µs', 'measured µs', '95 % interval µs',
    'measured / predicted', 'GB/s', 'Gflop/s', 'flop/byte', 'verdict']);
  assert.strictEqual(rows.length, kernels.length);
  kernels.forEach((k, i) => {
    const [number, name, config, predicted, median, interval, ratio, bandwidth, rate, intensity,
      verdict] = rows[i];
    assert.strictEqual(number, String(k.number));
    assert.strictEqual(ids[i], `kernel-${k.number}`);
    assert.strictEqual(name, k.name);
    assert.strictEqual(config, sizesText(k.config.values));
    assertShowsTime(predicted, k.predictedNs, `${name}: prediction`);
    assertShowsTime(median, k.measuredNs, `${name}: median`);
    const [low, high] = interval.split(' to ');
    assertShowsTime(low, k.intervalLowNs, `${name}: low end`);
    assertShowsTime(high, k.intervalHighNs, `${name}: high end`);
    assertShows(ratio, k.measuredNs / k.predictedNs, `${name}: ratio`);
    assertShows(bandwidth, k.bandwidth / 1e9, `${name}: bandwidth`);
    assertShows(rate, k.rate / 1e9, `${name}: rate`);
    assertShows(intensity, k.intensity, `${name}: intensity`);
    assert.strictEqual(verdict, k.verdict);
  });
}

async function scales(page) {
  const ticks = await page.evaluate(read.readTicks);
  for (const tick of ticks.x) tick.value = Number(tick.text);
  for (const tick of ticks.y) tick.value = parseQuantity(tick.text, 'flop/s');
  for (const tick of ticks.x) assert.ok(Math.abs(tick.line - tick.label) < 1, `tick ${tick.text}`);
  for (const tick of ticks.y) assert.ok(Math.abs(tick.line - tick.label) < 3, `tick ${tick.text}`);
  return {x: new LogScale(ticks.x), y: new LogScale(ticks.y)};
}

async function pointsLieWhereTheAxesSay({page, report}) {
  const {x, y} = await scales(page);
  const points = await page.evaluate(read.readPoints);
  const kernels = kernelsOf(report).filter((k) => k.flops > 0);
  assert.strictEqual(points.length, kernels.length);
  for (const k of kernels) {
    const point = points.find((p) => p.id === `point-${k.number}`);
    assert.ok(point, `${k.name} has no point`);
    const [dx, dy] = [point.x - x.pixel(k.intensity), point.y - y.pixel(k.rate)];
    assert.ok(Math.hypot(dx, dy) < 1, `${k.name} is off by ${dx}, ${dy} pixels`);
    assert.ok(k.intensity >= x.low && k.intensity <= x.high, `${k.name} is beside the plot`);
    assert.ok(k.rate >= y.low && k.rate <= y.high, `${k.name} is above or below the plot`);
    assert.ok(point.title.startsWith(`${k.number} ${k.name}: `), point.title);
    assert.ok(point.title.endsWith(`; ${k.verdict}`), point.title);
  }
}

async function roofIsTheDevices({page, report: {device}}) {
  const {x, y} = await scales(page);
  const roof = await page.evaluate(read.readRoof);
  for (const point of roof) {
    const bound = Math.min(device.f32FlopsPerS, x.value(point.x) * device.dramCopyBytesPerS);
    const error = Math.abs(point.y - y.pixel(bound));
    assert.ok(error < 1, `the roof is off by ${error} pixels at ${x.value(point.x)} flop/byte`);
  }
  assert.ok(Math.abs(roof[0].x - x.pixel(x.low)) < 1, 'the roof starts at the left');
  assert.ok(Math.abs(roof[100].x - x.pixel(x.high)) < 1, 'the roof ends at the right');
  const ridge = device.f32FlopsPerS / device.dramCopyBytesPerS;
  assert.ok(ridge > x.low && ridge < x.high, 'the ridge is in the plot');
}

const overlap = (a, b) =>
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

async function textsOfThePlotAreApart({page, report}) {
  const {plot, texts, circles} = await page.evaluate(read.readTexts);
  assert.ok(plot.right - plot.left > 600 && plot.bottom - plot.top > 300, 'the plot is small');
  texts.forEach((t, i) => {
    assert.ok(t.left >= plot.left && t.right <= plot.right && t.top >= plot.top &&
              t.bottom <= plot.bottom, `'${t.text}' leaves the plot`);
    for (const other of texts.slice(i + 1))
      assert.ok(!overlap(t, other), `'${t.text}' is over '${other.text}'`);
    // A text's box is higher than its digits: two pixels.
    const ink = {...t, top: t.top + 2, bottom: t.bottom - 2};
    for (const c of circles) assert.ok(!overlap(ink, c), `'${t.text}' is over a point`);
  });
  const labels = texts.filter((t) => t.style === 'roof-label').map((t) => t.text);
  assert.strictEqual(labels.length, 2, 'both parts of the roof are labelled');
}

async function everyPointHasItsNumberBesideIt({page, report}) {
  const {texts, circles} = await page.evaluate(read.readTexts);
  const numbers = texts.filter((t) => t.style === 'number');
  const kernels = kernelsOf(report).filter((k) => k.flops > 0);
  assert.deepStrictEqual(numbers.map((t) => t.text), kernels.map((k) => String(k.number)));
  numbers.forEach((t, i) => {
    const [dx, dy] = [t.left + t.right - circles[i].left - circles[i].right,
      t.top + t.bottom - circles[i].top - circles[i].bottom];
    assert.ok(Math.hypot(dx, dy) / 2 < 60, `${t.text} is far from its point`);
  });
}

async function pointsAndRowsLeadToEachOther({page, report}) {
  const kernels = kernelsOf(report);
  const points = await page.evaluate(read.readPoints);
  const {links} = await page.evaluate(read.readTable);
  for (const p of points) assert.strictEqual(p.link, p.id.replace('point', '#kernel'));
  assert.deepStrictEqual(links, kernels.map((k) => k.flops ? `#point-${k.number}` : undefined));
  const color = (selector, property) =>
      page.$eval(selector, (e, property) => getComputedStyle(e)[property], property);
  const [point, row] = [`#${points[points.length - 1].id}`, points[points.length - 1].link];
  const plain = [await color(point, 'fill'), await color(row, 'backgroundColor')];
  await page.hover(point);
  assert.notStrictEqual(await color(point, 'fill'), plain[0], 'a point under the mouse stands out');
  await page.click(point);
  assert.notStrictEqual(await color(row, 'backgroundColor'), plain[1], 'its row stands out');
  await page.click(`${row} a`);
  await page.mouse.move(0, 0);
  assert.notStrictEqual(await color(point, 'fill'), plain[0], 'the point stands out');
}

async function widePageShowsAll({page}) {
  const widths = await page.$$eval('html, .scroll', (all) => all.map(
      (e) => [e.scrollWidth, e.clientWidth]));
  for (const [content, room] of widths) assert.ok(content <= room, `${content} in ${room} pixels`);
}

async function narrowPageScrollsInsideItself({page}) {
  assert.strictEqual(await page.evaluate(() => innerWidth), NARROW.width);
  const [content, room] = await page.$eval('html', (e) => [e.scrollWidth, e.clientWidth]);
  assert.ok(content <= room, `the page is ${content} pixels wide in ${room}`);
  for (const selector of ['svg', 'thead th:last-child']) {
    const right = await page.$eval(selector, (e) => {
      e.closest('.scroll').scrollLeft = 1e6;
      return e.getBoundingClientRect().right;
    });
    assert.ok(right <= NARROW.width, `${selector} can be scrolled into view`);
  }
  const size = await page.$eval('svg .tick text', (e) => e.getBoundingClientRect().height);
  assert.ok(size >= 10, `labels of the plot are ${size} pixels high`);
}

async function isLegible({page, scheme}) {
  const {text, marks, background} = await page.evaluate(read.readContrast);
  assert.ok(text.value >= 4.5, `contrast of '${text.what}' is ${text.value}`);
  assert.ok(marks.value >= 3, `contrast of '${marks.what}' is ${marks.value}`);
  assert.ok(scheme === 'dark' ? background < 0.05 : background > 0.9, `background ${background}`);
}

async function namesStayText({page, name}) {
  const foreign = 'body :is(script, img, b, i, u, s, em, n, x, style), [onmouseover], [onerror]';
  assert.deepStrictEqual(await page.$$eval(foreign, (all) => all.map((e) => e.outerHTML)), []);
  // The names themselves must be harmless, not only kept from running by the page's policy.
  const html = fs.readFileSync(inScratch(`${name}.html`), 'utf8');
  const bare = html.replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, '');
  assert.notStrictEqual(bare, html, 'the page has a policy');
  const title = await page.title();
  await page.setContent(bare);
  for (const circle of await page.$$('circle')) await circle.hover({force: true});
  assert.strictEqual(await page.title(), title, 'a name ran as a script');
}

async function emptyReportSaysSo({page}) {
  assert.match(await page.textContent('body'), /The program has no kernels/);
  assert.strictEqual(await page.$$eval('svg, table', (all) => all.length), 0);
}

// --- Running them --------------------------------------------------------------------------------

class Runner {
  constructor(browser) {
    this.browser = browser;
    this.passed = this.failed = 0;
  }

  async check(test, subject, where) {
    try {
      await test(subject);
      this.passed++;
    } catch (error) {
      this.failed++;
      console.log(`FAILED  ${test.name} (${where})\n        ${error.message}`);
    }
  }

  // Loads the page once for all tests; whatever they look for, it loads nothing else and logs nothing.
  async visit(subject, tests, {viewport = WIDE, scheme = 'light'} = {}) {
    const where = `${subject.name}-${viewport.width}-${scheme}`;
    const context = await this.browser.newContext(
        {viewport, colorScheme: scheme, isMobile: viewport === NARROW});
    const page = await context.newPage();
    const requests = [];
    const complaints = [];
    page.on('request', (request) => requests.push(request.url()));
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.goto(subject.url);
    if (screenshots)
      await page.screenshot({fullPage: true, path: path.join(screenshots, `${where}.png`)});
    for (const test of tests) await this.check(test, {page, scheme, ...subject}, where);
    const keepsToItself = async () => {
      assert.deepStrictEqual([...new Set(requests.map((url) => url.split('#')[0]))], [subject.url]);
      assert.deepStrictEqual(complaints, []);
    };
    await this.check(keepsToItself, subject, where);
    await context.close();
  }
}

const EVERY_PAGE = [headSaysWhatWasMeasured, calibrationIsTheDevices, widePageShowsAll];
const WITH_KERNELS = [...EVERY_PAGE, roofIsTheDevices, textsOfThePlotAreApart, isLegible,
  tableHasTheReportsNumbers, pointsLieWhereTheAxesSay, pointsAndRowsLeadToEachOther];

async function checkAll(runner) {
  const fixture = (name) => fs.readFileSync(path.join(fixtures, `${name}.textproto`), 'utf8');
  const given = fixture('h200');
  const [head, kernel] = given.split('kernels {', 2);
  const h200 = rendered('h200', given);
  const hostile = rendered('hostile', fixture('hostile'));
  const crowded = rendered('crowded', head + `kernels {${kernel}`.repeat(60));
  const empty = rendered('empty', head);
  const onCpu = measured();
  assert.strictEqual(onCpu.report.kernels.length, 3, 'the graph makes three kernels');
  for (const subject of [h200, hostile, onCpu]) {
    await runner.visit(subject, [everyPointHasItsNumberBesideIt, ...WITH_KERNELS]);
    await runner.visit(subject, [narrowPageScrollsInsideItself], {viewport: NARROW});
    await runner.visit(subject, [isLegible], {scheme: 'dark'});
  }
  // Sixty kernels in one place: there is no room for all their numbers.
  await runner.visit(crowded, WITH_KERNELS);
  await runner.visit(empty, [emptyReportSaysSo, ...EVERY_PAGE]);
  await runner.visit(hostile, [namesStayText]);
  await runner.visit(onCpu, [namesStayText]);
}

async function main() {
  // Playwright gives each start a fresh profile in the temporary folder.
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync',
      '--disable-background-networking', '--disable-component-update', '--disable-dev-shm-usage'],
  });
  const runner = new Runner(browser);
  try {
    await checkAll(runner);
  } finally {
    await browser.close();
  }
  console.log(`${runner.passed} passed, ${runner.failed} failed, 0 skipped`);
  process.exitCode = runner.failed || !runner.passed ? 1 : 0;
}

main().catch((error) => {
  console.log(error.stderr ? `${error.message}\n${error.stderr}` : error.stack);
  process.exitCode = 1;
});
