// Fields that clients leave out: older ones do not send them, newer ones send null.

export function isGiven<T>(value: T | null | undefined): value is T {
  return value !== undefined && value !== null;
}
