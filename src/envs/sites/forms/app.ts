// The town office as a site: a list of forms, each on a page of its own, and a page that says thank you.

import { markup } from '../html.ts';
import { htmlReply, notFound, redirect } from '../site.ts';
import { routes, type App, type Handler } from '../kit/app.ts';
import { layout } from '../kit/layout.ts';
import { asKept, readForm, showForm, type FormSpec } from './form.ts';
import { specialRoutes, type OfficePage } from './special-pages.ts';
import { PLAIN_FORMS, RECORD, SIGN_UP } from './specs.ts';
import { handIn, type OfficeState } from './world.ts';

const SPECIAL = [
  ['/form/animal', 'Register an animal'],
  ['/form/expenses', 'Claim expenses'],
  ['/form/parcel', 'Send a parcel abroad'],
  ['/form/bin', 'Order a refuse bin'],
  ['/form/job', 'Apply for a job'],
  ['/record', 'Your record'],
  ['/feedback', 'Tell us how we do'],
] as const;
const LINKS = [...PLAIN_FORMS.map(({ id, title }) => [`/form/${id}`, title] as const), ...SPECIAL];

const page: OfficePage = (_state, title, body, script) =>
  htmlReply(
    layout(
      { site: 'Kelbrook Town Office', accent: '#6b4a12', links: [['/', 'All forms']] },
      { title, body, ...(script === undefined ? {} : { script }) },
    ),
  );

/** What only the server can tell. */
function serverErrors(state: OfficeState, spec: FormSpec, name: unknown): Readonly<Record<string, string>> {
  return spec === SIGN_UP && typeof name === 'string' && state.takenNames.includes(name)
    ? { username: 'This user name is taken.' }
    : {};
}

function plainRoutes(spec: FormSpec): readonly (readonly [string, Handler<OfficeState>])[] {
  const action = `/form/${spec.id}`;
  const show: Handler<OfficeState> = (state) => page(state, spec.title, showForm({ spec, action }));
  const receive: Handler<OfficeState> = (state, { form }) => {
    const { values, errors } = readForm(spec, form);
    const all = { ...errors, ...serverErrors(state, spec, values['username']) };
    if (Object.keys(all).length > 0) {
      // Browsers never fill in passwords that a server sends back, and neither does this one.
      const kept = Object.fromEntries(Object.entries(values).filter(([name]) => !/password|repeat/.test(name)));
      return { ...page(state, spec.title, showForm({ spec, action, values: kept, errors: all })), status: 422 };
    }
    return redirect(`/thanks/${handIn(state, spec.id, asKept(values)).id}`);
  };
  return [
    [`GET ${action}`, show],
    [`POST ${action}`, receive],
  ];
}

export const officeApp: App<OfficeState> = {
  host: 'www.kelbrook-forms.test',
  respond: routes<OfficeState>({
    'GET /': (state) =>
      page(
        state,
        'Forms',
        markup`<ul>${LINKS.map(([path, title]) => markup`<li><a href="${path}">${title}</a></li>\n`)}</ul>`,
      ),
    ...Object.fromEntries(PLAIN_FORMS.flatMap(plainRoutes)),
    'GET /record': (state, { query }) =>
      page(
        state,
        RECORD.title,
        markup`${query.has('saved') && markup`<p role="status" class="ok">Saved.</p>`}${showForm({ spec: RECORD, action: '/record', values: state.record })}`,
      ),
    'POST /record': (state, { form }) => {
      const { values, errors } = readForm(RECORD, form);
      if (Object.keys(errors).length > 0)
        return {
          ...page(state, RECORD.title, showForm({ spec: RECORD, action: '/record', values, errors })),
          status: 422,
        };
      Object.assign(state.record, values);
      return redirect('/record?saved=1');
    },
    ...specialRoutes(page),
    'GET /thanks/:id': (state, { at }) =>
      state.submissions.some(({ id }) => id === at.id)
        ? page(
            state,
            'Thank you',
            markup`<p role="status" class="ok">We have received your form. Its number is <b>${at.id}</b>.</p><p><a href="/">All forms</a></p>`,
          )
        : notFound(),
  }),
};
