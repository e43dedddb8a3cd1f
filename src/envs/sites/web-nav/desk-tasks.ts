// Work at a helpdesk: tickets that must be found first, comments, a booking in three steps.

import { quoted } from '../kit/oracle-cell.ts';
import { inTurn, pickFitting, template, type Template } from '../kit/template.ts';
import { deskApp } from './desk-app.ts';
import { deskWorld, HOURS, PRIORITIES, ROOMS, STATUSES } from './desk-world.ts';

const FIND = (subject: string): string => `
  while (!(await accessibilitySnapshot()).nodes.some(({ role, name }) => role === 'link' && name === ${quoted(subject)})) await open('Next');
  await open(${quoted(subject)});`;

export const DESK_TASKS: readonly Template[] = [
  template(deskApp, 'ticket-close', 'train', (rng) => {
    const state = deskWorld(rng);
    const { id, subject } = pickFitting(rng, state.tickets, ({ status }) => status !== 'Closed');
    return {
      state,
      start: '/',
      instruction: `The ticket “${subject}” is done. Set its status to Closed and change nothing else.`,
      params: { subject },
      goal: (after) => void (after.tickets.find((one) => one.id === id)!.status = 'Closed'),
      oracle: `${FIND(subject)} await set('status', 'Closed'); await submit('Update');`,
    };
  }),
  template(deskApp, 'ticket-assign', 'train', (rng) => {
    const state = deskWorld(rng);
    const { id, subject, assignee, priority } = rng.pick(state.tickets);
    const person = pickFitting(rng, state.staff, (one) => one !== assignee);
    const next = pickFitting(rng, PRIORITIES, (one) => one !== priority);
    return {
      state,
      start: '/',
      instruction: `Assign the ticket ${id} (“${subject}”) to ${person} and give it ${next.toLowerCase()} priority.`,
      params: { id, person, priority: next },
      goal: (after) =>
        void Object.assign(
          after.tickets.find((one) => one.id === id)!,
          { assignee: person, priority: next },
        ),
      oracle: `${FIND(subject)} await set('assignee', ${quoted(person)}); await set('priority', '${next}'); await submit('Update');`,
    };
  }),
  template(deskApp, 'ticket-comment', 'test', (rng) => {
    const state = deskWorld(rng);
    const ticket = rng.pick(state.tickets);
    const text = `The technician comes on ${rng.pick(['Tuesday', 'Thursday', 'Friday'])} at ${rng.pick(HOURS)}.`;
    return {
      state,
      start: '/',
      instruction: `Add this comment to the ticket “${ticket.subject}”: ${text}`,
      params: { subject: ticket.subject, text },
      goal: (after) => {
        const { comments } = after.tickets.find((one) => one.id === ticket.id)!;
        comments.push({ id: `c${comments.length + 1}`, text });
      },
      oracle: `${FIND(ticket.subject)} await fill('text', ${quoted(text)}); await submit('Add comment');`,
    };
  }),
  template(deskApp, 'ticket-new', 'train', (rng) => {
    const state = deskWorld(rng);
    const subject = `${rng.pick(['Window', 'Chair', 'Lamp', 'Blind'])} in room ${rng.integer(100, 400)} is broken`;
    const priority = rng.pick(['Low', 'High']);
    return {
      state,
      start: '/',
      instruction: `Open a new ticket with the subject “${subject}” and ${priority.toLowerCase()} priority.`,
      params: { subject, priority },
      goal: (after) =>
        void after.tickets.push({
          id: `T-${2040 + after.tickets.length}`,
          subject,
          from: 'Me',
          status: 'Open',
          priority,
          assignee: after.staff[0],
          comments: [],
        }),
      oracle: `await press('button', 'New ticket'); await fill('subject', ${quoted(subject)}); await set('priority', '${priority}'); await submit('Create');`,
    };
  }),
  template(deskApp, 'ticket-count', 'test', (rng) => {
    const state = deskWorld(rng);
    const [status, priority] = [rng.pick(STATUSES), rng.pick(PRIORITIES)];
    const value = state.tickets.filter((one) => one.status === status && one.priority === priority).length;
    return {
      state,
      start: '/',
      instruction: `How many tickets with the status ${status} have ${priority.toLowerCase()} priority? Answer with the number only.`,
      params: { status, priority },
      answer: { kind: 'number', value },
      oracle: `await set('status', '${status}'); await submit('Show'); let count = 0;
        for (;;) {
          count += (await rows()).filter((row) => row[4] === '${priority}').length;
          if (!(await accessibilitySnapshot()).nodes.some(({ role, name }) => role === 'link' && name === 'Next')) break;
          await open('Next');
        }
        repl.write(count);`,
    };
  }),
  template(deskApp, 'room-book', 'train', (rng, seed) => {
    const state = deskWorld(rng);
    const room = rng.pick(ROOMS);
    const purpose = rng.pick(['Budget review', 'Book club', 'First aid course']);
    const day = `2027-0${rng.integer(3, 10)}-${rng.integer(10, 28)}`;
    const at = rng.integer(0, HOURS.length - 2);
    const way = inTurn(seed, ['free', 'taken', 'both taken']);
    const taken = HOURS.slice(at, at + ['free', 'taken', 'both taken'].indexOf(way));
    state.bookings.push(...taken.map((hour, i) => ({ id: `B${i + 4}`, room, day, hour, purpose: 'Interview' })));
    const hour = HOURS[at + taken.length];
    return {
      state,
      start: '/rooms',
      instruction: `Book the room ${room} for ${day} at ${HOURS[at]}, or at the next hour that is free if that one is taken. It is for “${purpose}”.`,
      way,
      params: { room, day, hour: HOURS[at], purpose },
      goal: (after) => void after.bookings.push({ id: `B${4 + taken.length}`, room, day, hour, purpose }),
      oracle: `await click('[value=${room}]'); await set('day', '${day}'); await submit('Next');
        await click('[value="' + (await js((from) => [...document.querySelectorAll('[name=hour]')].map(({ value }) => value).find((value) => value >= from), { arg: '${HOURS[at]}' })) + '"]'); await submit('Next'); await fill('purpose', ${quoted(purpose)}); await submit('Book');`,
    };
  }),
  template(deskApp, 'room-cancel', 'test', (rng) => {
    const state = deskWorld(rng);
    const { id, room, day } = rng.pick(state.bookings);
    return {
      state,
      start: '/',
      instruction: `Cancel my booking of the room ${room} on ${day}.`,
      params: { room, day },
      goal: (after) => void (after.bookings = after.bookings.filter((one) => one.id !== id)),
      oracle: `await open('My bookings'); await leave(async () => { await press('button', 'Cancel ${room} on ${day}'); await answerDialog(true); });`,
    };
  }),
];
