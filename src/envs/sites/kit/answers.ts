// Whether an answer in words is the one that was asked for. Exact after a normalisation that is written down here and in
// docs/guide/suites.md; an answer that names several candidates is wrong, whether or not the right one is among them.

export type Expected =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'money'; readonly pence: number }
  | { readonly kind: 'text'; readonly value: string }
  /** `YYYY-MM-DD`. */
  | { readonly kind: 'date'; readonly value: string }
  /** `HH:MM`, of 24 hours. */
  | { readonly kind: 'time'; readonly value: string }
  /** In any order, each once. */
  | { readonly kind: 'list'; readonly values: readonly string[] };

/** Longer answers are no answers to a question for one value. */
const MAX_CHARACTERS = 400;

/** Words of the question may stand around a number; without it only those that say nothing. */
export function answerIs(expected: Expected, given: string | undefined, question = ''): boolean {
  if (given === undefined || given.length > MAX_CHARACTERS) return false;
  switch (expected.kind) {
    case 'number':
      return onlyNumber(given, question) === expected.value;
    case 'money': {
      if (/[$€]|\b(?:usd|eur|dollars?|euros?)\b/i.test(given)) return false;
      const amount = onlyNumber(given, question);
      return amount !== undefined && Math.abs(amount * 100 - expected.pence) < 1e-6;
    }
    case 'text':
      return normalText(given) === normalText(expected.value);
    case 'date':
      return readDate(given) === expected.value;
    case 'time':
      return readTime(given) === expected.value;
    case 'list': {
      const values = readList(given);
      const wanted = new Set(expected.values.map(normalText));
      return (
        values.length === wanted.size && new Set(values).size === wanted.size && values.every((one) => wanted.has(one))
      );
    }
    default:
      return expected satisfies never;
  }
}

/** As a person would write it. */
export function expectedText(expected: Expected): string {
  switch (expected.kind) {
    case 'number':
      return String(expected.value);
    case 'money':
      return `£${(expected.pence / 100).toFixed(2)}`;
    case 'text':
    case 'date':
    case 'time':
      return expected.value;
    case 'list':
      return expected.values.join(', ');
    default:
      return expected satisfies never;
  }
}

/** Width, case, quotes and white space do not count, nor does a full stop at the end. */
export function normalText(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[‘’]/g, "'")
    .replace(/[“”]/g, '"')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/\.$/, '')
    .replace(/^["'`*]+|["'`*]+$/g, '')
    .replace(/\.$/, '')
    .trim();
}

/** May stand around a number: they change nothing about it. */
const SAYS_NOTHING = new Set(
  `the a an it its it's is are was there of them in at for to on and i you your they this that answer total sum number
   amount price cost costs costed paid pay gave has have all altogether exactly gbp pound pounds sterling`.split(/\s+/),
);
/** Change what a number says, so they may not stand there, not even where the question has them. */
const SAYS_OTHERWISE = new Set(
  `not no or nor but never neither than more less fewer least most under over above below about around almost nearly
   roughly up maybe except without minus plus half double twice dozen hundred thousand million billion k m
   zero one two three four five six seven eight nine ten`.split(/\s+/),
);

/** Undefined unless it is exactly one number among words that leave it as it is; commas may part thousands. */
function onlyNumber(text: string, question: string): number | undefined {
  const plainText = text.normalize('NFKC').replace(/’/g, "'");
  const found = plainText.match(/[-−]?\d+(?:[.,]\d+)*/g) ?? [];
  if (found.length !== 1) return undefined;
  const around = plainText.replace(found[0], ' ');
  if (/[^\p{L}\p{M}\s.,:;!'"“”*_`()£-]|(?<!\p{L})-|-(?!\p{L})/u.test(around)) return undefined;
  const known = new Set([...SAYS_NOTHING, ...wordsOf(question).filter((word) => !SAYS_OTHERWISE.has(word))]);
  if (!wordsOf(around).every((word) => known.has(word) || known.has(`${word}s`))) return undefined;
  const plain = found[0].replace('−', '-').replace(/,(?=\d{3}(?:\D|$))/g, '');
  return /^-?\d+(?:\.\d+)?$/.test(plain) ? Number(plain) : undefined;
}

function wordsOf(text: string): readonly string[] {
  return (
    text
      .normalize('NFKC')
      .replace(/’/g, "'")
      .toLowerCase()
      .match(/\p{L}[\p{L}\p{M}']*/gu) ?? []
  );
}

const MONTHS = 'january february march april may june july august september october november december'.split(' ');
const WORDY = String.raw`(?<month>[a-z]{3,9})\.?`;
const DATES: readonly RegExp[] = [
  /^(?<year>\d{4})-(?<number>\d{2})-(?<day>\d{2})$/,
  new RegExp(String.raw`^(?<day>\d{1,2})(?:st|nd|rd|th)? (?:of )?${WORDY},? (?<year>\d{4})$`),
  new RegExp(String.raw`^${WORDY} (?<day>\d{1,2})(?:st|nd|rd|th)?,? (?<year>\d{4})$`),
];

/** ISO, `3 March 2027` or `March 3, 2027`, with or without the weekday; 03/04/2027 means two days and counts as none. */
function readDate(text: string): string | undefined {
  const plain = normalText(text).replace(/^(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,? /, '');
  for (const form of DATES) {
    const parts = form.exec(plain)?.groups;
    if (parts === undefined) continue;
    const { year, month, number, day } = parts;
    const index = month === undefined ? Number(number) : MONTHS.findIndex((name) => name.startsWith(month)) + 1;
    if (index > 0) return `${year}-${String(index).padStart(2, '0')}-${day.padStart(2, '0')}`;
  }
  return undefined;
}

/** `14:30`, `14.30`, `2:30 pm`, `2 pm`; undefined unless that is all there is. */
function readTime(text: string): string | undefined {
  const parts = /^(?:at )?(\d{1,2})(?:[:.](\d{2}))?\s*(am|pm|a\.m|p\.m|h)?$/.exec(normalText(text));
  if (parts === null || (parts[2] === undefined && parts[3] === undefined)) return undefined;
  const half = parts[3]?.[0];
  const hour = Number(parts[1]);
  if (hour > 23 || ((half === 'a' || half === 'p') && (hour === 0 || hour > 12))) return undefined;
  const full = half === 'p' ? (hour % 12) + 12 : half === 'a' ? hour % 12 : hour;
  return `${String(full).padStart(2, '0')}:${parts[2] ?? '00'}`;
}

/** Parted by commas, semicolons, lines or `and`; bullets do not count. */
function readList(text: string): readonly string[] {
  return text
    .split(/[,;\n]|\band\b/i)
    .map((part) => normalText(part.replace(/^\s*(?:[-*•]|\d+[.)])\s+/, '')))
    .filter((part) => part !== '');
}
