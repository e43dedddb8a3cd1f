// Settings of one account, its devices, keys and files: drawn by seed, without pages.

import type { Rng } from '../../../util/index.ts';
import { code, people, some } from '../kit/words.ts';

export const LANGUAGES = ['English', 'Cymraeg', 'Deutsch', 'Español', 'Français', 'Polski'];
export const ZONES = ['UTC', 'Europe/London', 'Europe/Warsaw', 'Asia/Tokyo', 'America/Chicago', 'Africa/Nairobi'];
export const NOTICES = {
  digest: 'Weekly digest',
  mentions: 'When somebody mentions me',
  invoices: 'New invoices',
  logins: 'Sign-ins from new devices',
  offers: 'Offers from partners',
} as const;
export const AUDIENCES = { everyone: 'Everyone', members: 'Members only', nobody: 'Nobody' } as const;

export type AccountState = {
  profile: { name: string; language: string; zone: string };
  notices: { [name: string]: boolean };
  audience: string;
  devices: { id: string; name: string; place: string }[];
  keys: { id: string; name: string; hint: string }[];
};

const DEVICES = [
  'Kitchen tablet',
  'Old laptop',
  'Work phone',
  'Living room television',
  'Desk computer',
  'Travel phone',
];
const KEYS = ['backup-job', 'billing-export', 'ci-runner', 'mobile-app', 'reporting', 'webhook-test'];
const PLACES = ['Leeds', 'Porto', 'Lyon', 'Kraków', 'Bergen', 'Ghent'];

export function accountWorld(rng: Rng): AccountState {
  return {
    profile: { name: people(rng, 1)[0], language: rng.pick(LANGUAGES), zone: rng.pick(ZONES) },
    notices: Object.fromEntries(Object.keys(NOTICES).map((name) => [name, rng.next() < 0.5])),
    audience: rng.pick(Object.keys(AUDIENCES)),
    devices: some(rng, DEVICES, 4).map((name, i) => ({ id: `v${i + 1}`, name, place: rng.pick(PLACES) })),
    keys: some(rng, KEYS, 4).map((name, i) => ({ id: `k${i + 1}`, name, hint: code(rng, 4) })),
  };
}
