// A small helpdesk: tickets over several pages, people who work on them, rooms that can be booked. Drawn by seed.

import type { Rng } from '../../../util/index.ts';
import { code, people, some } from '../kit/words.ts';

export const STATUSES = ['Open', 'Waiting', 'Closed'];
export const PRIORITIES = ['Low', 'Normal', 'High'];
export const ROOMS = ['Birch', 'Cedar', 'Maple', 'Rowan'];
export const HOURS = ['09:00', '10:00', '11:00', '13:00', '14:00', '15:00', '16:00'];

export type DeskState = {
  readonly staff: readonly string[];
  tickets: {
    id: string;
    subject: string;
    from: string;
    status: string;
    priority: string;
    assignee: string;
    comments: { id: string; text: string }[];
  }[];
  bookings: { id: string; room: string; day: string; hour: string; purpose: string }[];
};

const THINGS = 'Printer,Projector,Door lock,Coffee machine,Wi-Fi,Heating,Telephone,Lift,Badge reader,Monitor'.split(
  ',',
);
const TROUBLES = 'does not start,is too slow,makes a noise,shows an error,needs a new part,was moved'.split(',');

export function deskWorld(rng: Rng): DeskState {
  const names = people(rng, 12);
  const staff = names.slice(0, 4);
  const subjects = some(
    rng,
    THINGS.flatMap((thing) => TROUBLES.map((trouble) => `${thing} ${trouble}`)),
    25,
  );
  const tickets = subjects.map((subject, i) => ({
    id: `T-${2040 + i}`,
    subject,
    from: rng.pick(names.slice(4)),
    status: rng.pick(['Open', 'Open', 'Waiting', 'Closed']),
    priority: rng.pick(PRIORITIES),
    assignee: rng.pick(staff),
    comments: rng.next() < 0.4 ? [{ id: 'c1', text: `Seen on site. Part ${code(rng, 5)} is on order.` }] : [],
  }));
  const bookings = some(rng, ROOMS, 3).map((room, i) => ({
    id: `B${i + 1}`,
    room,
    day: `2027-02-${String(rng.integer(10, 25))}`,
    hour: rng.pick(HOURS),
    purpose: rng.pick(['Interview', 'Team meeting', 'Training']),
  }));
  return { staff, tickets, bookings };
}
