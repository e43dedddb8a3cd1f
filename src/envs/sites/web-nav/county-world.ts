// A county's figures, schools, libraries and departures: what there is to read in tables, tabs and frames. Nothing in it
// changes, so a task here is a question.

import type { Rng } from '../../../util/index.ts';
import { code, distinct, people, towns } from '../kit/words.ts';

export const YEARS = [2022, 2023, 2024, 2025, 2026];
export const SCHOOL_TYPES = ['Primary', 'Secondary', 'Special'];
export const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

export type District = {
  readonly id: string;
  readonly name: string;
  /** By year, as in `YEARS`. */
  readonly population: readonly number[];
  readonly areaKm2: number;
  readonly parks: number;
  readonly rainfallMm: number;
};

export type Library = {
  readonly id: string;
  readonly name: string;
  readonly phone: string;
  readonly manager: string;
  /** By day, as in `DAYS`. */
  readonly closes: readonly string[];
};

export type CountyState = {
  readonly districts: readonly District[];
  readonly schools: readonly {
    readonly id: string;
    readonly name: string;
    readonly district: string;
    readonly type: string;
    readonly pupils: number;
  }[];
  readonly libraries: readonly Library[];
  readonly departures: readonly {
    readonly id: string;
    readonly time: string;
    readonly to: string;
    readonly platform: number;
    readonly note: string;
  }[];
  readonly records: readonly { readonly id: string; readonly title: string; readonly reference: string }[];
};

const SAINTS =
  'St Anne,St Bride,St Columba,Holy Cross,Riverside,Hilltop,Greenway,Meadowbank,Oakfield,Parkgate,Kingsmead,Northgate'.split(
    ',',
  );
const RECORDS =
  'Bridge inspection,Flood plan,School census,Road survey,Air quality report,Museum inventory,Bus contract,Tree register'.split(
    ',',
  );

export function countyWorld(rng: Rng): CountyState {
  const names = towns(rng, 14);
  const areas = distinct(rng, 14, [22, 190]);
  const parks = distinct(rng, 14, [1, 40]);
  const rain = distinct(rng, 14, [540, 1_250]);
  const districts = names.map((name, i): District => {
    let people = rng.integer(9_000, 90_000);
    const population = YEARS.map(() => (people += rng.integer(-900, 1_400)));
    return { id: `d${i}`, name, population, areaKm2: areas[i], parks: parks[i], rainfallMm: rain[i] };
  });
  const schools = Array.from({ length: 46 }, (_, i) => ({
    id: `s${i}`,
    name: `${SAINTS[i % SAINTS.length]} ${names[Math.floor(i / SAINTS.length)]}`,
    district: rng.pick(names.slice(0, 6)),
    type: rng.pick(SCHOOL_TYPES),
    pupils: rng.integer(60, 1_400),
  }));
  const managers = people(rng, 6);
  const libraries = names.slice(0, 6).map((town, i) => ({
    id: `l${i}`,
    name: `${town} Library`,
    phone: `0${rng.integer(1200, 1999)} ${rng.integer(100_000, 999_999)}`,
    manager: managers[i],
    closes: DAYS.map(() => `${rng.integer(15, 21)}:${rng.pick(['00', '15', '30', '45'])}`),
  }));
  const minutes = [...distinct(rng, 12, [360, 1_320])].sort((a, b) => a - b);
  const departures = minutes.map((minute, i) => ({
    id: `t${i}`,
    time: `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`,
    to: rng.pick(names.slice(6)),
    platform: rng.integer(1, 10),
    note: rng.pick(['On time', 'On time', 'Delayed', 'Replacement bus']),
  }));
  const records = RECORDS.map((title, i) => ({
    id: `r${i}`,
    title,
    reference: `${code(rng, 3)}-${rng.integer(1000, 9999)}`,
  }));
  return { districts, schools, libraries, departures, records };
}
