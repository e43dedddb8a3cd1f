// What a site says in one language: the words of ways to its forms, of the fields in them, and of the rest of its pages.
// Types only; the languages lie beside.

/** What a field asks for. */
export type FieldKind =
  | 'email'
  | 'username'
  | 'emailOrUsername'
  | 'phone'
  | 'customerNumber'
  | 'password'
  | 'remember'
  | 'firstName'
  | 'lastName'
  | 'fullName'
  | 'confirmEmail'
  | 'confirmPassword'
  | 'company'
  | 'birthDate'
  | 'country'
  | 'accountType'
  | 'terms'
  | 'marketing'
  | 'referral'
  | 'postcode';

export type Words = {
  /** BCP 47. */
  readonly lang: string;
  readonly direction: 'ltr' | 'rtl';
  /** Of links, headings and buttons; each is one way to say it. */
  readonly signIn: readonly string[];
  readonly signUp: readonly string[];
  readonly fields: Readonly<Record<FieldKind, readonly string[]>>;
  /** Day, month, year. */
  readonly birthParts: readonly [string, string, string];
  readonly accountTypes: readonly [string, string];
  readonly countries: readonly string[];
  /** As in "(optional)", without the brackets. */
  readonly optional: string;
  readonly account: string;
  readonly menu: string;
  readonly close: string;
  readonly next: string;
  readonly help: string;
  readonly search: string;
  readonly forgotten: string;
  readonly cookies: { readonly text: string; readonly accept: string; readonly decline: string };
  readonly newsletter: { readonly title: string; readonly email: string; readonly button: string };
  readonly contact: { readonly title: string; readonly message: string; readonly send: string };
  readonly withEmail: string;
  readonly loading: string;
  readonly welcome: string;
  /** Pages that every site has. */
  readonly pages: readonly [string, string, string];
  /** Sentences that say nothing. */
  readonly filler: readonly string[];
};
