// What a page must show for a report (stax-cat --json), computed from the report's numbers alone.
'use strict';
const assert = require('assert');

const PREFIXES = {'': 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15};

// Fields that are zero are left out of protobuf's JSON.
function kernelsOf(report) {
  return (report.kernels || []).map((k, i) => {
    const flops = k.flops || 0;
    const bytes = k.readBytes + k.writeBytes;
    return {...k, number: i + 1, flops, intensity: flops / bytes, rate: flops / k.measuredNs * 1e9,
            bandwidth: bytes / k.measuredNs * 1e9};
  });
}

function sizesText(values = {}) {
  return Object.keys(values).sort().map((name) => `${name}=${values[name]}`).join(' ');
}

// That `text` is `value` rounded to what it shows, which is three significant digits at least.
function assertShows(text, value, what) {
  assert.match(text, /^[\d.]+(e[+-]\d+)?$/, `${what} is '${text}'`);
  if (value === 0) return assert.strictEqual(Number(text), 0, what);
  const error = Math.abs(Number(text) / value - 1);
  assert.ok(error <= 0.00501, `${what} shows ${text} for ${value}`);
  const digits = text.replace(/e.*/, '').replace('.', '').replace(/^0+/, '').length;
  assert.ok(digits >= 3, `${what} shows ${text}: fewer than three digits`);
}

// A time in µs with two decimals.
function assertShowsTime(text, ns, what) {
  assert.match(text, /^\d+\.\d\d$/, `${what} is '${text}'`);
  assert.ok(Math.abs(Number(text) - ns / 1e3) <= 0.00501, `${what} shows ${text} for ${ns} ns`);
}

// 'TEXT UNIT' with a prefix: the number without it.
function parseQuantity(text, unit) {
  const match = text.match(/^(\S+) ([kMGTP]?)(\S+)$/);
  assert.ok(match && match[3] === unit, `'${text}' is no number of ${unit}`);
  return Number(match[1]) * PREFIXES[match[2]];
}

// Logarithmic axis through its ticks [{value, line}]: from a value to pixels and back.
class LogScale {
  constructor(ticks) {
    assert.ok(ticks.length >= 2, 'an axis has fewer than two ticks');
    const first = ticks[0];
    const last = ticks[ticks.length - 1];
    this.slope = (last.line - first.line) / Math.log10(last.value / first.value);
    this.start = first.line - this.slope * Math.log10(first.value);
    this.low = Math.min(first.value, last.value);
    this.high = Math.max(first.value, last.value);
    for (const {value, line} of ticks)
      assert.ok(Math.abs(this.pixel(value) - line) < 0.5, `the tick at ${value} is off the scale`);
  }
  pixel(value) {
    return this.start + this.slope * Math.log10(value);
  }
  value(pixel) {
    return 10 ** ((pixel - this.start) / this.slope);
  }
}

module.exports =
    {kernelsOf, sizesText, assertShows, assertShowsTime, parseQuantity, LogScale};
