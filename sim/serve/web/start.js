// The form of an empty page: the number of sites, their GPUs and their distance. The answer is drawn, and all of it can be
// changed there.

import {button, element, field, select} from './dom.js';

const USUAL_GPU = 'rtx3090', MOST_SITES = 8;
const DISTANCES = [['1 ms', 'in one city: 1 ms'], ['10 ms', 'a few hundred km apart: 10 ms'], ['30 ms', 'in one country: 30 ms'],
                   ['100 ms', 'across an ocean: 100 ms']];

const number = (value, most) => element('input', {type: 'number', min: 1, max: most, value});
const whole = (input) => Math.min(Number(input.max), Math.max(1, Math.round(Number(input.value)) || 1));

// By name, with details that distinguish similar names.
export const gpuChoices = (catalog) => catalog.gpus.map((one) => [one.name, gpuText(one)])
  .sort((a, b) => a[1].localeCompare(b[1], 'en', {numeric: true}));

function gpuText({name, title, memory_bytes: memory, architecture}) {
  const called = (title || name).replace(/^NVIDIA /, '').replace(/ [0-9]+GB\b/, '');
  return `${called}, ${Math.round(memory / 2 ** 30)} GiB (${architecture})`;
}

// The usual machine type for this number of a GPU.
export const usualVm = (catalog, gpu, count) => catalog.gpus.find((one) => one.name === gpu)?.usual_vms[count > 1 ? 1 : 0] ?? 'workstation';

// `act` has draw({count, gpu, gpus, type, rtt}), addSite() and example().
export function startForm(catalog, act) {
  const sites = number(3, MOST_SITES), gpus = number(2, 64), gpu = select(gpuChoices(catalog), USUAL_GPU, () => {});
  const far = select(DISTANCES, '30 ms', () => {});
  sites.addEventListener('input', () => { far.disabled = whole(sites) < 2; });
  const form = element('form', {class: 'start', id: 'begin'},
    element('p', {}, 'Where are your GPUs? An estimate is enough; every site and distance can be changed on the drawing.'),
    element('div', {class: 'form'}, field('Sites', sites), field('GPUs at each', gpus), field('Kind of GPU', gpu), field('Round trip between sites', far),
            element('button', {type: 'submit', class: 'primary'}, 'Draw them')),
    element('div', {class: 'tools'}, element('span', {}, 'Or'), button('Add the first site', () => act.addSite()),
            button('See an example of three sites', () => act.example())));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    act.draw({count: whole(sites), gpu: gpu.value, gpus: whole(gpus), type: usualVm(catalog, gpu.value, whole(gpus)), rtt: far.value});
  });
  return form;
}
