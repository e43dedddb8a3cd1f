// One oracle a task: code that reads the page's truth and acts through the agent's tools alone.

import { CLICKING } from './clicking.ts';
import { DATES } from './dates.ts';
import { DRAGGING } from './dragging.ts';
import { DRAWING } from './drawing.ts';
import { GAMES } from './games.ts';
import type { Oracle } from './hand.ts';
import { MAIL_AND_MEDIA } from './mail-and-media.ts';
import { TYPING } from './typing.ts';

export { playOracle, type Oracle, type OracleHand, type PlayedByOracle } from './hand.ts';

/** By the name of the task. */
export const MINIWOB_ORACLES: Readonly<Record<string, Oracle>> = {
  ...CLICKING,
  ...DATES,
  ...DRAGGING,
  ...DRAWING,
  ...GAMES,
  ...MAIL_AND_MEDIA,
  ...TYPING,
};
