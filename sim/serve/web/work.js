// Slower work, as jobs that run while the page is used: limits, the best plan, a sweep.

import {ask, button, element, field, fragment, problem, select} from './dom.js';
import {groupText} from './cluster.js';
import {duration} from './units.js';

const PAUSE = 300;  // ms between two polls

function table(head, rows, label) {
  return element('div', {class: 'wide', tabindex: 0, role: 'region', 'aria-label': label}, element('table', {},
    element('thead', {}, element('tr', {}, ...head.map((word) => element('th', {scope: 'col'}, word)))),
    element('tbody', {}, ...rows.map((row) => element('tr', {}, ...row.map((cell) => element('td', {}, cell)))))));
}

function explained({explanations}, place) {
  const runs = explanations.filter((one) => one.status === 'ok');
  if (runs.length === 0) return [element('p', {}, 'Nothing runs, so there is nothing to explain.')];
  const rows = runs.map((one) => [one.model, place(one), duration(one.minutes), one.advice]);
  const parts = runs.filter((one) => one.limits.length + one.what_ifs.length > 0).map((one) => element('details', {},
    element('summary', {}, `${one.model}, ${place(one)}`),
    table(['without', 'time saved per iteration'], one.limits.map((limit) => [limit.name, `${limit.given_back_s.toPrecision(3)} s`]), `Limits of ${place(one)}`),
    table(['setting', 'job'], one.what_ifs.map((what) => [what.set.join(', '), duration(what.minutes)]), `Settings for ${place(one)}`)));
  return [table(['model', 'technique', 'job', 'what to change first'], rows, 'What to change first'), ...parts];
}

function planned({models}, place) {
  return models.flatMap((model) => [element('h3', {}, model.model),
    table(['plan', 'options', 'job', 'GPU-hours', 'command'], model.plans.map((p) => [place(p), p.options, duration(p.minutes),
      p.gpu_hours.toPrecision(3), element('code', {}, p.command)]), `Best plans for ${model.model}`),
    element('p', {class: 'note'}, model.proven ? 'Proven: no other plan is better.' : 'Not proven: more effort may find a better one.')]);
}

const swept = ({sections, csv}) => [...sections.flatMap((one) => fragment(one.html)),
  element('a', {href: URL.createObjectURL(new Blob([csv], {type: 'text/csv'})), download: 'sweep.csv'}, 'Download as CSV')];

export class Work {
  // `app` has design; questions are about the design at that time.
  constructor(place, app) {
    this.app = app;
    place.replaceChildren(this.explain(), this.plan(), this.sweep());
  }

  // A kind of work: a form, its progress, its answer.
  part(title, about, verb, fields, body, show) {
    const bar = element('progress', {max: 1, 'aria-label': `${title}: progress`, hidden: true});
    const status = element('p', {class: 'note', role: 'status'});
    const answer = element('div', {class: 'answer'});
    const start = button(title, () => this.run({verb, body, show, start, cancel, bar, status, answer}), {class: 'primary'});
    const cancel = button('Cancel', () => {}, {hidden: true, 'aria-label': `Cancel: ${title}`});
    return element('details', {class: 'model section', open: true}, element('summary', {}, title), element('p', {class: 'note'}, about),
                   element('div', {class: 'form'}, ...fields, start, cancel), bar, status, answer);
  }

  async run({verb, body, show, start, cancel, bar, status, answer}) {
    const {design} = this.app;
    const {ok, answer: begun} = await ask(verb, {scenario: design.text, name: design.name, ...body()});
    if (!ok) {
      status.textContent = problem(begun);
      return;
    }
    start.disabled = true;
    cancel.hidden = bar.hidden = false;
    status.textContent = 'begun';
    const stop = () => ask('job/cancel', {job: begun.job});
    cancel.addEventListener('click', stop, {once: true});
    let state;
    do {
      await new Promise((resolve) => { setTimeout(resolve, PAUSE); });
      state = (await ask('job', {job: begun.job})).answer;
      if (state.share >= 0) bar.value = state.share;
      else bar.removeAttribute('value');
      if (state.state === 'running') status.textContent = state.progress || 'computing';
    } while (state.state === 'running');
    cancel.removeEventListener('click', stop);
    start.disabled = false;
    cancel.hidden = bar.hidden = true;
    status.textContent = {done: 'done', cancelled: 'cancelled'}[state.state] ?? problem(state.answer ?? state);
    const place = (p) => `${p.technique} on ${groupText(design.drawn, p.group)}`;
    if (state.state === 'done') answer.replaceChildren(...show(state.answer, place));
  }

  explain() {
    return this.part('Explain what limits', 'Time of each technique without one limit after the other, and settings that help.',
                     'explain', [], () => ({}), explained);
  }

  plan() {
    const effort = select([['0.05', 'a quick look'], ['0.3', 'a while'], ['1', 'thoroughly']], '0.05', () => {});
    const seconds = element('input', {type: 'number', min: 5, max: 900, value: 60});
    return this.part('Search the best plan', 'Technique, GPUs and settings together, beyond what the scenario lists.', 'plan',
                     [field('Effort', effort), field('At most, seconds', seconds)],
                     () => ({effort: Number(effort.value), seconds: Number(seconds.value)}), planned);
  }

  sweep() {
    const key = element('input', {type: 'text', value: 'training.batch', autocomplete: 'off', list: 'sweep-keys'});
    const from = element('input', {type: 'text', value: '8', autocomplete: 'off'}), to = element('input', {type: 'text', value: '64', autocomplete: 'off'});
    const points = element('input', {type: 'number', min: 2, max: 200, value: 8});
    const scale = select([['log', 'equal ratios'], ['linear', 'equal steps']], 'log', () => {});
    const keys = element('datalist', {id: 'sweep-keys'});
    const whole = () => /batch|steps|epochs|count/.test(key.value);
    key.addEventListener('focus', () => {
      const links = this.app.links().flatMap((name) => ['rtt', 'bandwidth', 'loss'].map((one) => `platform.links.${name}.${one}`));
      keys.replaceChildren(...['training.batch', ...links].map((value) => element('option', {value})));
    });
    key.addEventListener('change', () => {
      const ends = /rtt$/.test(key.value) ? ['1 ms', '200 ms'] : /bandwidth$/.test(key.value) ? ['100 Mbps', '10 Gbps'] : /loss$/.test(key.value) ? ['1e-6', '1e-3'] : null;
      if (ends) [from.value, to.value] = ends;
    });
    return this.part('Sweep', 'One value of the scenario at many points, named by its path, such as platform.links.utah-boston.rtt.', 'sweep',
                     [field('What varies', key), keys, field('From', from),
                      field('To', to), field('Points', points), field('Spread', scale)],
                     () => ({key: key.value.trim(), from: from.value, to: to.value, points: Number(points.value), log: scale.value === 'log', whole: whole()}),
                     swept);
  }
}
