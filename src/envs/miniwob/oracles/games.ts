// Oracles of the tasks in which the page answers back: games, a terminal, a market, an editor.

import { found, one, type Oracle } from './hand.ts';

const generate: Oracle = async (hand) => {
  const below = /less than (\d+)/.exec(hand.utterance)?.[1];
  const above = /greater than (\d+)/.exec(hand.utterance)?.[1];
  const isWanted = (number: number): boolean => {
    if (below !== undefined) return number < Number(below);
    if (above !== undefined) return number > Number(above);
    return hand.utterance.includes('odd') ? number % 2 === 1 : number % 2 === 0;
  };
  for (let tries = 0; tries < 25; tries++) {
    await hand.click(one('#generate'));
    if (isWanted(await hand.read<number>(`Number(document.querySelector('#display-number').textContent)`))) break;
  }
  await hand.click(one('#submit'));
};

/** Halves what is left, by what the page says to each guess. */
const guess: Oracle = async (hand) => {
  for (let low = 0, high = 9; low <= high;) {
    const middle = (low + high) >> 1;
    await hand.fill(one('#tt'), String(middle));
    await hand.click(one('#subbtn'));
    if (await hand.sees(one('#higher'))) low = middle + 1;
    else high = middle - 1;
  }
};

const hotCold: Oracle = async (hand) => {
  const [x, y] = await hand.replay<readonly [number, number]>(
    'return [core.randi(5, X_DIM - 5), core.randi(5, Y_DIM - 5)];',
  );
  // The area is a little smaller than where the hot spot may be; anywhere within 5 pixels of it is hot.
  const inside = await hand.read<readonly [number, number]>(`(() => {
    const area = document.querySelector('#touch-area').getBoundingClientRect();
    return [Math.min(Math.max(${x}, area.left + 1), area.right - 2), Math.min(Math.max(${y + 50}, area.top + 1), area.bottom - 2)];
  })()`);
  await hand.clickAt(...inside);
};

/**
 * The page's opponent draws from the generator that the seed began, so games can be played ahead: the first line of play
 * that wins is found by search. The page's own rules and generator are used, and put back in the same turn.
 */
const TIC_TAC_TOE = `
  const play = (moves) => {
    Math.seedrandom(SEED);
    gameState = INITIAL_GAME_STATE.slice();
    freeSpaces = EMPTY_SPACES.slice();
    const answer = () => {
      let space;
      if (core.randi(0, 100) < RANDOM_CHANCE || freeSpaces.length === 9) space = core.sample(freeSpaces);
      else {
        space = determineSpace(-1, 1);
        if (space === undefined || space === false) space = core.sample(freeSpaces);
      }
      gameState[space] = -1;
      freeSpaces.splice(freeSpaces.indexOf(space), 1);
    };
    if (core.randi(0, 100) > 50) answer();
    for (const move of moves) {
      if (gameState[move] !== 0) return 'illegal';
      gameState[move] = 1;
      freeSpaces.splice(freeSpaces.indexOf(move), 1);
      if (checkWinner(1)) return 'won';
      if (freeSpaces.length === 0) return 'drawn';
      answer();
      if (checkWinner(-1)) return 'lost';
      if (freeSpaces.length === 0) return 'drawn';
    }
    return 'open';
  };
  const search = (moves) => {
    for (let move = 0; move < 9; move++) {
      const result = play([...moves, move]);
      if (result === 'won') return [...moves, move];
      const deeper = result === 'open' ? search([...moves, move]) : null;
      if (deeper) return deeper;
    }
    return null;
  };
  const [state, free] = [gameState, freeSpaces];
  try { return search([]) ?? []; } finally { gameState = state; freeSpaces = free; }
`;

const ticTacToe: Oracle = async (hand) => {
  const moves = await hand.replay<number[]>(TIC_TAC_TOE.replace('SEED', String(hand.seed)));
  for (const move of moves) await hand.click(one(`#ttt-${move}`));
};

const terminal: Oracle = async (hand) => {
  const files = await hand.read<string[]>('currentFiles');
  const extension = /extension \.(\S+)/.exec(hand.utterance)?.[1];
  const file = files.find((name) =>
    extension === undefined ? !name.includes('.') : name.indexOf(extension) + extension.length === name.length,
  );
  if (file === undefined) throw new RangeError(`none of ${files.join(' ')} fits`);
  await hand.click(one('#terminal'));
  await hand.call('type', { text: `rm ${file}` });
  await hand.press('Enter');
};

/** Buys early in the first time that the price stays low for four ticks of 100 ms, else in the longest such time. */
const market: Oracle = async (hand) => {
  const at = await hand.replay<number>(`
    nasdaqSymbol();
    const prices = generatePrices();
    const low = (i) => i < 98 && prices[i] <= prices[75];
    for (let run = 4; run > 0; run--) for (let i = 3; i < 98; i++) {
      if ([...Array(run).keys()].every((k) => low(i + k))) return i;
    }
    return 75;
  `);
  const target = await hand.reference(one('#buy'));
  await hand.read(`new Promise((resolve) => {
    const look = () => (priceIndex > ${at} ? resolve(true) : setTimeout(look, 5));
    look();
  })`);
  await hand.call('click', { target });
};

const editor: Oracle = async (hand) => {
  const style = found(/the (?:style|color) (\w+)/, hand.utterance);
  const word = /give the text (.*) the (?:style|color)/.exec(hand.utterance)?.[1];
  await hand.click(one('.ql-editor p'));
  if (word === undefined) await hand.press('Control+A');
  else {
    const start = await hand.read<number>(
      `(' ' + document.querySelector('.ql-editor').textContent + ' ').indexOf(${JSON.stringify(` ${word} `)})`,
    );
    await hand.press('Home');
    if (start > 0) await hand.press('ArrowRight', start);
    await hand.press('Shift+ArrowRight', word.length);
  }
  const buttons: Readonly<Record<string, string>> = { bold: 'bold', italics: 'italic', underlined: 'underline' };
  const button = buttons[style];
  if (button !== undefined) await hand.click(one(`.ql-${button}`));
  else {
    await hand.click(one('.ql-color .ql-picker-label'));
    const colour = await hand.read<string>(`COLOR_MAP[${JSON.stringify(style)}][0]`);
    await hand.click(one(`.ql-color .ql-picker-item[data-value="${colour}"]`));
  }
  await hand.click(one('#subbtn'));
};

export const GAMES: Readonly<Record<string, Oracle>> = {
  'generate-number': generate,
  'guess-number': guess,
  'hot-cold': hotCold,
  'stock-market': market,
  terminal,
  'text-editor': editor,
  'tic-tac-toe': ticTacToe,
};
