// Quantities in a scenario's format ("28 ms", "1 Gbps"), and numbers on sliders.

const TIME = {ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600};
const RATE = {bps: 1 / 8, kbps: 1e3 / 8, Mbps: 1e6 / 8, Gbps: 1e9 / 8, Tbps: 1e12 / 8, 'B/s': 1, 'kB/s': 1e3, 'MB/s': 1e6,
              'GB/s': 1e9, 'KiB/s': 1024, 'MiB/s': 1024 ** 2, 'GiB/s': 1024 ** 3};

function quantity(text, units) {
  const match = /^\s*([0-9.eE+-]+)\s*([A-Za-z/]*)\s*$/.exec(text ?? '');
  if (!match) return NaN;
  const unit = units[match[2]];
  return unit === undefined ? NaN : Number(match[1]) * unit;
}

const digits = (value) => String(Number(value.toPrecision(3)));

function written(value, units, names) {
  let best = names[0];
  for (const name of names) if (value >= units[name] * 0.9995) best = name;
  return `${digits(value / units[best])} ${best}`;
}

// Kinds of sliders: how a value is read from a scenario's text and written there, and the slider's ends. Sliders are
// logarithmic except for counts, which take round steps.
export const kinds = {
  time: {read: (text) => quantity(text, TIME), write: (v) => written(v, TIME, ['us', 'ms', 's']), low: 1e-4, high: 0.3, unit: 'ms'},
  rate: {read: (text) => quantity(text, RATE), write: (v) => written(v, RATE, ['Mbps', 'Gbps']), low: 1.25e6, high: 5e10, unit: 'Gbps'},
  loss: {read: Number, write: (v) => (v <= 1.01e-8 ? '0' : Number(v.toPrecision(2)).toExponential().replace('e-', 'e-')),
         low: 1e-8, high: 0.01},
  count: {read: Number, write: (v) => String(Math.round(v)), low: 1, high: 1024},
};

// A value typed without a unit gets the unit of the text before, or the usual one where that is not a quantity.
export function withUnit(kind, typed, before) {
  const {unit, read} = kinds[kind];
  if (!unit || !/^[0-9]+([.,][0-9]+)?$/.test(typed)) return typed;
  return `${typed.replace(',', '.')} ${Number.isFinite(read(before)) ? /[A-Za-z/]+$/.exec(before)?.[0] ?? unit : unit}`;
}

// Converts between the slider's 0 to 1000 and the value.
export function toSlider(kind, value) {
  const {low, high} = kinds[kind];
  const at = Math.log(Math.min(Math.max(value, low), high) / low) / Math.log(high / low);
  return Math.round(1000 * at);
}

export function fromSlider(kind, at) {
  const {low, high} = kinds[kind];
  const value = low * (high / low) ** (at / 1000);
  return kind === 'count' ? Math.max(1, Math.round(value)) : value;
}

// Long and short counts: "355 M".
export function count(value) {
  if (value >= 1e9) return `${(value / 1e9).toPrecision(3)} B`;
  return value >= 1e6 ? `${Math.round(value / 1e6)} M` : String(Math.round(value));
}

// Minutes in readable units.
export function duration(minutes) {
  if (minutes < 1) return `${(60 * minutes).toPrecision(3)} s`;
  if (minutes < 120) return `${minutes.toPrecision(3)} min`;
  if (minutes < 2880) return `${(minutes / 60).toPrecision(3)} h`;
  return `${(minutes / 1440).toPrecision(3)} d`;
}
