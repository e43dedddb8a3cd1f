// The helpdesk's pages: a list of tickets by page and status, a ticket with comments, a new one in a dialog, and rooms
// that are booked in three steps.

import { markup, type Html } from '../html.ts';
import { htmlReply, notFound, redirect, type SiteReply } from '../site.ts';
import { badRequest, routes, type App } from '../kit/app.ts';
import { layout, options, pageLinks, pageNumber, postButton, type PageParts } from '../kit/layout.ts';
import { HOURS, PRIORITIES, ROOMS, STATUSES, type DeskState } from './desk-world.ts';

const ROWS = 9;
const LOOK = {
  site: 'Oakroom Desk',
  accent: '#7a3344',
  links: [
    ['/', 'Tickets'],
    ['/rooms', 'Rooms'],
    ['/bookings', 'My bookings'],
  ],
} as const;

function send(parts: PageParts): SiteReply {
  return htmlReply(layout(LOOK, parts));
}

const NEW_TICKET = `
const dialog = document.querySelector('dialog');
document.querySelector('#new').addEventListener('click', () => dialog.showModal());
document.querySelector('#cancel').addEventListener('click', () => dialog.close());`;

const END_BOOKING = `
for (const form of document.querySelectorAll('main form')) form.addEventListener('submit', (event) => {
  if (!confirm('Cancel this booking?')) event.preventDefault();
});`;

function ticketList({ tickets }: DeskState, query: URLSearchParams): Html {
  const status = query.get('status') ?? 'All';
  const found = tickets.filter((ticket) => status === 'All' || ticket.status === status);
  const pages = Math.max(1, Math.ceil(found.length / ROWS));
  const page = pageNumber(query.get('page'), pages);
  const at = (number: number): string => `/?${new URLSearchParams({ status, page: String(number) }).toString()}`;
  return markup`<p><button id="new">New ticket</button></p>
<form><p><label for="status">Status</label> <select id="status" name="status">${options(['All', ...STATUSES], status)}</select> <button>Show</button></p></form>
<table><thead><tr><th>Ticket</th><th>Subject</th><th>From</th><th>Status</th><th>Priority</th></tr></thead><tbody>
${found.slice((page - 1) * ROWS, page * ROWS).map((one) => markup`<tr><td>${one.id}</td><td><a href="/ticket/${one.id}">${one.subject}</a></td><td>${one.from}</td><td>${one.status}</td><td>${one.priority}</td></tr>\n`)}</tbody></table>
${pages > 1 && pageLinks(page, pages, at)}
<dialog aria-label="New ticket"><form method="post" action="/tickets">
<p><label for="subject">Subject</label> <input id="subject" name="subject" required></p>
<p><label for="priority">Priority</label> <select id="priority" name="priority">${options(PRIORITIES, 'Normal')}</select></p>
<p><button>Create</button> <button type="button" id="cancel">Cancel</button></p></form></dialog>`;
}

export const deskApp: App<DeskState> = {
  host: 'desk.oakroom.test',
  respond: routes<DeskState>({
    'GET /': (state, { query }) => send({ title: 'Tickets', body: ticketList(state, query), script: NEW_TICKET }),
    'POST /tickets': ({ tickets, staff }, { form }) => {
      const [subject, priority] = [(form.get('subject') ?? '').trim(), form.get('priority') ?? ''];
      if (subject === '' || !PRIORITIES.includes(priority))
        return badRequest('A ticket needs a subject and a priority.');
      const id = `T-${2040 + tickets.length}`;
      tickets.push({ id, subject, from: 'Me', status: 'Open', priority, assignee: staff[0], comments: [] });
      return redirect(`/ticket/${id}`);
    },
    'GET /ticket/:id': ({ tickets, staff }, { at }) => {
      const ticket = tickets.find(({ id }) => id === at.id);
      if (ticket === undefined) return notFound();
      return send({
        title: `${ticket.id}: ${ticket.subject}`,
        body: markup`<p>From ${ticket.from}</p>
<form method="post" action="/ticket/${ticket.id}">
<p><label for="status">Status</label> <select id="status" name="status">${options(STATUSES, ticket.status)}</select></p>
<p><label for="priority">Priority</label> <select id="priority" name="priority">${options(PRIORITIES, ticket.priority)}</select></p>
<p><label for="assignee">Assigned to</label> <select id="assignee" name="assignee">${options(staff, ticket.assignee)}</select></p>
<button>Update</button></form>
<h2>Comments</h2><ul>${ticket.comments.map(({ text }) => markup`<li>${text}</li>`)}</ul>
<form method="post" action="/ticket/${ticket.id}/comments"><p><label for="text">Comment</label><br><textarea id="text" name="text" rows="3" cols="50" required></textarea></p>
<button>Add comment</button></form>`,
      });
    },
    'POST /ticket/:id': ({ tickets, staff }, { at, form }) => {
      const ticket = tickets.find(({ id }) => id === at.id);
      if (ticket === undefined) return notFound();
      const [status, priority, assignee] = ['status', 'priority', 'assignee'].map((name) => form.get(name) ?? '');
      if (!STATUSES.includes(status) || !PRIORITIES.includes(priority) || !staff.includes(assignee))
        return badRequest('Choose from the lists.');
      Object.assign(ticket, { status, priority, assignee });
      return redirect(`/ticket/${ticket.id}`);
    },
    'POST /ticket/:id/comments': ({ tickets }, { at, form }) => {
      const ticket = tickets.find(({ id }) => id === at.id);
      const text = (form.get('text') ?? '').trim();
      if (ticket === undefined) return notFound();
      if (text === '') return badRequest('The comment is empty.');
      ticket.comments.push({ id: `c${ticket.comments.length + 1}`, text });
      return redirect(`/ticket/${ticket.id}`);
    },
    'GET /rooms': () =>
      send({
        title: 'Book a room, step 1 of 3',
        body: markup`<form action="/rooms/hour"><fieldset><legend>Room</legend>
${ROOMS.map((room) => markup`<p><label class="tick"><input type="radio" name="room" value="${room}" required> ${room}</label></p>`)}</fieldset>
<p><label for="day">Day</label> <input id="day" name="day" type="date" min="2027-01-01" max="2027-12-31" required></p><button>Next</button></form>`,
      }),
    'GET /rooms/hour': ({ bookings }, { query }) => {
      const [room, day] = [query.get('room') ?? '', query.get('day') ?? ''];
      if (!ROOMS.includes(room) || !/^2027-\d\d-\d\d$/.test(day)) return badRequest('Choose a room and a day first.');
      const free = HOURS.filter(
        (hour) => !bookings.some((one) => one.room === room && one.day === day && one.hour === hour),
      );
      return send({
        title: 'Book a room, step 2 of 3',
        body: markup`<p>${room} on ${day}</p><form action="/rooms/purpose"><input type="hidden" name="room" value="${room}"><input type="hidden" name="day" value="${day}">
<fieldset><legend>Free hours</legend>${free.map((hour) => markup`<label class="tick"><input type="radio" name="hour" value="${hour}" required> ${hour}</label> `)}</fieldset><button>Next</button></form>`,
      });
    },
    'GET /rooms/purpose': (_state, { query }) => {
      const [room, day, hour] = ['room', 'day', 'hour'].map((name) => query.get(name) ?? '');
      return send({
        title: 'Book a room, step 3 of 3',
        body: markup`<p>${room} on ${day} at ${hour}</p><form method="post" action="/bookings">
<input type="hidden" name="room" value="${room}"><input type="hidden" name="day" value="${day}"><input type="hidden" name="hour" value="${hour}">
<p><label for="purpose">What for</label> <input id="purpose" name="purpose" required></p><button>Book</button></form>`,
      });
    },
    'POST /bookings': ({ bookings }, { form }) => {
      const [room, day, hour, purpose] = ['room', 'day', 'hour', 'purpose'].map((name) =>
        (form.get(name) ?? '').trim(),
      );
      const taken = bookings.some((one) => one.room === room && one.day === day && one.hour === hour);
      if (!ROOMS.includes(room) || !/^2027-\d\d-\d\d$/.test(day) || !HOURS.includes(hour) || purpose === '' || taken)
        return badRequest('This cannot be booked.');
      const next = Math.max(0, ...bookings.map(({ id }) => Number(id.slice(1)))) + 1;
      bookings.push({ id: `B${next}`, room, day, hour, purpose });
      return redirect('/bookings');
    },
    'GET /bookings': ({ bookings }) =>
      send({
        title: 'My bookings',
        body: markup`<table><thead><tr><th>Room</th><th>Day</th><th>Hour</th><th>What for</th><th></th></tr></thead><tbody>
${bookings.map(({ id, room, day, hour, purpose }) => markup`<tr><td>${room}</td><td>${day}</td><td>${hour}</td><td>${purpose}</td><td>${postButton(`/bookings/${id}/cancel`, 'Cancel', `Cancel ${room} on ${day}`)}</td></tr>\n`)}</tbody></table>`,
        script: END_BOOKING,
      }),
    'POST /bookings/:id/cancel': (state, { at }) => {
      state.bookings = state.bookings.filter(({ id }) => id !== at.id);
      return redirect('/bookings');
    },
  }),
};
